"""Fiscal years and periods of dates as SQL, by whole numbers alone: both databases compute them alike.

A division of whole numbers drops the remainder. The operator `%` is not used, because the drivers read it as
the beginning of a parameter.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from crmclient.query.ast import DateGrouping, FiscalPart
from crmclient.query.fiscal import FiscalCalendar, FiscalPeriods

_LEAP_DAY: Final = (2, 29)
"""The month and the day of a fiscal year that begins on the last day of February."""

_FOUR_WEEKS: Final = 28


class CivilDate(NamedTuple):
    """A date as the SQL of its three numbers."""

    year: str
    month: str
    day: str


def fiscal_part(grouping: FiscalPart, date: CivilDate, fiscal: FiscalCalendar) -> str:
    """Return the SQL of the fiscal year of a date, by its name, or of the number of its period in that year.

    Raises ValueError where it is not known how fiscal years are named.
    """
    if grouping is DateGrouping.FISCAL_YEAR:
        return f"({_begin_year(date, fiscal)} + {fiscal.name_offset})"
    if fiscal.periods is FiscalPeriods.FOUR_WEEKS:
        number = f"({_days_since_begin(date, fiscal)} / {_FOUR_WEEKS} + 1)"
    else:
        number = f"({_months_since_begin(date, fiscal)} / {12 // fiscal.periods.of_year} + 1)"
    # The thirteenth period of four weeks takes the rest of the year, and so does the last one of a year that
    # begins on 28 February and ends on that of a leap year.
    most = fiscal.periods.of_year
    return f"CASE WHEN {number} > {most} THEN {most} ELSE {number} END"


def _begin_year(date: CivilDate, fiscal: FiscalCalendar) -> str:
    """Return the calendar year in which the fiscal year of a date begins."""
    month, _ = fiscal.start
    first = _first_day(date.year, fiscal)
    is_before = f"{date.month} < {month} OR ({date.month} = {month} AND {date.day} < {first})"
    return f"({date.year} - CASE WHEN {is_before} THEN 1 ELSE 0 END)"


def _first_day(year: str, fiscal: FiscalCalendar) -> str:
    """Return the day of the month on which the fiscal year begins that begins in a calendar year."""
    return f"(28 + {_is_leap_year(year)})" if fiscal.start == _LEAP_DAY else str(fiscal.start[1])


def _months_since_begin(date: CivilDate, fiscal: FiscalCalendar) -> str:
    """Return the months since the fiscal year began.

    Each begins on the day of the month on which the year began, or on the last day of a month without it.
    """
    begin_year = _begin_year(date, fiscal)
    first_day = _first_day(begin_year, fiscal)
    length = _month_length(date)
    is_of_month_before = f"{date.day} < {first_day} AND {date.day} < {length}"
    months = f"({date.year} - {begin_year}) * 12 + {date.month} - {fiscal.start[0]}"
    return f"({months} - CASE WHEN {is_of_month_before} THEN 1 ELSE 0 END)"


def _days_since_begin(date: CivilDate, fiscal: FiscalCalendar) -> str:
    """Return the days since the fiscal year began."""
    begin_year = _begin_year(date, fiscal)
    first = CivilDate(begin_year, str(fiscal.start[0]), _first_day(begin_year, fiscal))
    return f"({_day_number(date)} - {_day_number(first)})"


def _month_length(date: CivilDate) -> str:
    """Return the number of days of the month of a date."""
    february = f"{date.month} = 2 THEN 28 + {_is_leap_year(date.year)}"
    return f"(CASE WHEN {february} WHEN {date.month} IN (4, 6, 9, 11) THEN 30 ELSE 31 END)"


def _is_leap_year(year: str) -> str:
    """Return the SQL of 1 for a leap year, and of 0 for another."""
    by_4, by_100, by_400 = (f"{year} / {number} * {number} = {year}" for number in (4, 100, 400))
    return f"(CASE WHEN ({by_4} AND NOT {by_100}) OR {by_400} THEN 1 ELSE 0 END)"


def _day_number(date: CivilDate) -> str:
    """Return a number of the day, for differences of days: the Julian day number without its constant.

    Years begin in March here, so that leap days come last: `(153 * month + 2) / 5` are the days of the months
    since March. 4800 is a multiple of 400 that keeps every year positive, so that divisions round down.
    """
    is_early = f"(CASE WHEN {date.month} < 3 THEN 1 ELSE 0 END)"
    year = f"({date.year} + 4800 - {is_early})"
    month = f"({date.month} + 12 * {is_early} - 3)"
    days = f"{date.day} + (153 * {month} + 2) / 5 + 365 * {year}"
    return f"({days} + {year} / 4 - {year} / 100 + {year} / 400)"
