"""Dates (text, `2026-01-31`) and instants. Days are those of the moment's time zone.

Where a day is added to an instant, the time on the clock stays, also over a change to summer time.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable
from typing import Any, TypeVar

from crmclient.query.calendar import Moment
from designer.expressions.functions.arguments import is_number, shown, whole
from designer.sentences import Sentence as _

T = TypeVar("T")

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_MOST_DAYS = 1_000_000
_MOST_YEARS = 2_000


def today(moment: Moment) -> str:
    return moment.today.isoformat()


def date_of(moment: Moment, when: Any) -> str:
    """The day of an instant."""
    return _day("dateOf", moment, when).isoformat()


def start_of_day(moment: Moment, when: Any) -> dt.datetime:
    """The instant at which the day of a date or an instant begins."""
    day = _day("startOfDay", moment, when)
    return _within(lambda: moment.calendar.start_of(day).astimezone(dt.UTC))


def add_hours(moment: Moment, when: Any, hours: Any) -> dt.datetime:
    instant = read("addHours", when)
    if not isinstance(instant, dt.datetime):
        raise TypeError(_("addHours takes a date and time: startOfDay gives that of a date"))
    if not is_number(hours):
        raise TypeError(_("addHours takes a number of hours, not %(given)s", given=shown(hours)))
    return _within(lambda: instant + dt.timedelta(hours=hours))


def add_days(moment: Moment, when: Any, days: Any) -> Any:
    number = whole("addDays", _("days"), days, -_MOST_DAYS, _MOST_DAYS)
    return _moved("addDays", moment, when, lambda day: day + dt.timedelta(days=number))


def add_months(moment: Moment, when: Any, months: Any) -> Any:
    """The same day of another month; its last where it has no such day."""
    number = whole("addMonths", _("months"), months, -12 * _MOST_YEARS, 12 * _MOST_YEARS)
    return _moved("addMonths", moment, when, lambda day: _later(day, number))


def add_years(moment: Moment, when: Any, years: Any) -> Any:
    number = whole("addYears", _("years"), years, -_MOST_YEARS, _MOST_YEARS)
    return _moved("addYears", moment, when, lambda day: _later(day, 12 * number))


def days_between(moment: Moment, start: Any, end: Any) -> int:
    """Days from the day of `start` to that of `end`; negative where it is earlier."""
    return (_day("daysBetween", moment, end) - _day("daysBetween", moment, start)).days


def years_between(moment: Moment, start: Any, end: Any) -> int:
    """Whole years from the day of `start` to that of `end`, as an age is counted."""
    first, last = _day("yearsBetween", moment, start), _day("yearsBetween", moment, end)
    if last < first:
        return -years_between(moment, last.isoformat(), first.isoformat())
    return last.year - first.year - ((last.month, last.day) < (first.month, first.day))


def read(function: str, when: Any) -> dt.date:
    """A date or an instant (a `datetime`), from either form."""
    try:
        if isinstance(when, dt.datetime):
            return when
        if isinstance(when, str) and _DATE.fullmatch(when):
            return dt.date.fromisoformat(when)
        if isinstance(when, str) and _INSTANT.fullmatch(when):
            return dt.datetime.fromisoformat(when.upper())
    except ValueError:
        raise ValueError(
            _("%(function)s: there is no date %(given)s", function=function, given=shown(when))
        ) from None
    raise TypeError(
        _(
            "%(function)s takes a date (2026-01-31) or a date and time, not %(given)s",
            function=function,
            given=shown(when),
        )
    )


def local(moment: Moment, when: dt.date) -> dt.date:
    """A date as it is, an instant as the clocks of the time zone show it."""
    if not isinstance(when, dt.datetime):
        return when
    return _within(lambda: when.astimezone(moment.calendar.zone))


def _day(function: str, moment: Moment, when: Any) -> dt.date:
    found = local(moment, read(function, when))
    return found.date() if isinstance(found, dt.datetime) else found


def _moved(function: str, moment: Moment, when: Any, move: Callable[[dt.date], dt.date]) -> Any:
    found = local(moment, read(function, when))
    if not isinstance(found, dt.datetime):
        return _within(lambda: move(found)).isoformat()
    day = _within(lambda: move(found.date()))
    return _within(lambda: dt.datetime.combine(day, found.timetz()).astimezone(dt.UTC))


def _later(day: dt.date, months: int) -> dt.date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        raise OverflowError
    return day.replace(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _within(reckon: Callable[[], T]) -> T:
    try:
        return reckon()
    except (OverflowError, ValueError):
        raise ValueError(_("the date would be out of the calendar")) from None
