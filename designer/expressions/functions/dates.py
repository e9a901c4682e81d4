"""Dates (text, `2026-01-31`) and instants. Days are those of the moment's time zone.

Where a day is added to an instant, the time on the clock stays, also over a change to summer time.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any, TypeVar

from crmclient.query.calendar import Moment
from crmclient.query.fiscal import later_by_months
from designer.expressions.functions.arguments import argument_in_words, is_number, whole
from designer.sentences import Sentence as _

T = TypeVar("T")

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_MOST_DAYS = 1_000_000
_MOST_YEARS = 2_000


def today(moment: Moment) -> str:
    """Return the present day in the time zone of `moment`, as text."""
    return moment.today.isoformat()


def date_of(moment: Moment, when: Any) -> str:
    """Return the day of an instant, as text."""
    return _local_day("dateOf", moment, when).isoformat()


def start_of_day(moment: Moment, when: Any) -> dt.datetime:
    """Return the instant at which the day of a date or an instant begins, in UTC."""
    day = _local_day("startOfDay", moment, when)
    return _in_calendar(lambda: moment.calendar.start_of(day).astimezone(dt.UTC))


def add_hours(moment: Moment, when: Any, hours: Any) -> dt.datetime:
    """Return the instant so many hours later; a negative number goes back. Raises TypeError for a date."""
    instant = read("addHours", when)
    if not isinstance(instant, dt.datetime):
        raise TypeError(_("addHours takes a date and time: startOfDay gives that of a date"))
    if not is_number(hours):
        raise TypeError(_("addHours takes a number of hours, not %(given)s", given=argument_in_words(hours)))
    return _in_calendar(lambda: instant + dt.timedelta(hours=hours))


def add_days(moment: Moment, when: Any, days: Any) -> Any:
    """Return a date, or an instant at the same time on the clock, so many days later."""
    number = whole("addDays", _("days"), days, -_MOST_DAYS, _MOST_DAYS)
    return _move_day("addDays", moment, when, lambda day: day + dt.timedelta(days=number))


def add_months(moment: Moment, when: Any, months: Any) -> Any:
    """Return the same day of another month, or its last day where it has no such day."""
    number = whole("addMonths", _("months"), months, -12 * _MOST_YEARS, 12 * _MOST_YEARS)
    return _move_day("addMonths", moment, when, lambda day: later_by_months(day, number))


def add_years(moment: Moment, when: Any, years: Any) -> Any:
    """Return the same day of another year; 28 February where that has no 29."""
    number = whole("addYears", _("years"), years, -_MOST_YEARS, _MOST_YEARS)
    return _move_day("addYears", moment, when, lambda day: later_by_months(day, 12 * number))


def days_between(moment: Moment, start: Any, end: Any) -> int:
    """Return the number of days from the day of `start` to that of `end`; negative where `end` is earlier."""
    return (_local_day("daysBetween", moment, end) - _local_day("daysBetween", moment, start)).days


def years_between(moment: Moment, start: Any, end: Any) -> int:
    """Return the whole years from the day of `start` to that of `end`, as an age is counted."""
    first, last = _local_day("yearsBetween", moment, start), _local_day("yearsBetween", moment, end)
    if last < first:
        return -years_between(moment, last.isoformat(), first.isoformat())
    return last.year - first.year - ((last.month, last.day) < (first.month, first.day))


def read(function: str, when: Any) -> dt.date:
    """Return a date, or an instant as a `datetime`, from its value or from its text, which for an instant has
    an offset from UTC. Raises TypeError or ValueError.
    """
    try:
        if isinstance(when, dt.datetime):
            return when
        if isinstance(when, str) and _DATE.fullmatch(when):
            return dt.date.fromisoformat(when)
        if isinstance(when, str) and _INSTANT.fullmatch(when):
            # `fromisoformat` refuses a small z.
            return dt.datetime.fromisoformat(when.upper())
    except ValueError:
        raise ValueError(
            _("%(function)s: there is no date %(given)s", function=function, given=argument_in_words(when))
        ) from None
    raise TypeError(
        _(
            "%(function)s takes a date (2026-01-31) or a date and time, not %(given)s",
            function=function,
            given=argument_in_words(when),
        )
    )


def local(moment: Moment, when: dt.date) -> dt.date:
    """Return a date as it is, and an instant in the moment's time zone."""
    if not isinstance(when, dt.datetime):
        return when
    return _in_calendar(lambda: when.astimezone(moment.calendar.zone))


def _local_day(function: str, moment: Moment, when: Any) -> dt.date:
    """Return the day of a date or, in the time zone of `moment`, of an instant. Raises TypeError and
    ValueError.
    """
    local_time = local(moment, read(function, when))
    return local_time.date() if isinstance(local_time, dt.datetime) else local_time


def _move_day(function: str, moment: Moment, when: Any, move: Callable[[dt.date], dt.date]) -> Any:
    """Move a date, or the day of a date and time in local time, by `move`. Return it as text, or in UTC."""
    local_time = local(moment, read(function, when))
    if not isinstance(local_time, dt.datetime):
        return _in_calendar(lambda: move(local_time)).isoformat()
    day = _in_calendar(lambda: move(local_time.date()))
    return _in_calendar(lambda: dt.datetime.combine(day, local_time.timetz()).astimezone(dt.UTC))


def _in_calendar(calculate: Callable[[], T]) -> T:
    """Return what `calculate` gives. Raises ValueError when that is no date of the calendar."""
    try:
        return calculate()
    except (OverflowError, ValueError):
        raise ValueError(_("the date would be outside the calendar")) from None
