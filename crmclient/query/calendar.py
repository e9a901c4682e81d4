"""Relative dates as bounds: what `last-x-days` and its kin mean at a moment, in a time zone.

Weeks run from Sunday to Saturday; months and years are the calendar's. *Last x* reaches from the start of the
day x units ago until now, *next x* from now until the end of the day x units ahead, *older than* is all
before the start of the day x units ago; with hours and minutes they are counted from now to the instant.
"""

from __future__ import annotations

import calendar as months
import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from crmclient.query.ast import Operator
from crmclient.query.designed import DateOperator
from crmclient.sentences import Sentence

_OUT_OF_RANGE: Final = Sentence("the date is out of range")


@dataclass(frozen=True, slots=True)
class Calendar:
    """Where days begin, and on which month and day fiscal years do."""

    zone: dt.tzinfo = dt.UTC
    fiscal_start: tuple[int, int] = (1, 1)

    def start_of(self, day: dt.date) -> dt.datetime:
        return dt.datetime.combine(day, dt.time.min, self.zone)


Bound: TypeAlias = tuple[Operator, dt.datetime]
"""An operator that compares with an instant, which is aware and in the calendar's zone."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The present, as a calendar has it."""

    now: dt.datetime
    calendar: Calendar

    @property
    def today(self) -> dt.date:
        return self.now.astimezone(self.calendar.zone).date()

    def bounds(self, operator: DateOperator, number: int) -> tuple[Bound, ...]:
        """The bounds of an operator, with its `number` where it takes one.

        Raises ValueError for a number that leads out of the calendar, or is not positive.
        """
        if number < 1:
            raise ValueError(Sentence("the number must be at least 1"))
        try:
            return _BOUNDS[operator](self, number)
        except OverflowError as error:
            raise ValueError(_OUT_OF_RANGE) from error

    def on(self, operator: DateOperator, day: dt.date) -> tuple[Bound, ...]:
        """The bounds of an operator that compares with a whole day."""
        try:
            start, end = self._from(day), self._until(day + dt.timedelta(days=1))
        except OverflowError as error:
            raise ValueError(_OUT_OF_RANGE) from error
        match operator:
            case DateOperator.ON_OR_AFTER:
                return (start,)
            case DateOperator.ON_OR_BEFORE:
                return (end,)
        return (start, end)

    def period(self, first: dt.date, after: dt.date) -> tuple[Bound, ...]:
        return (self._from(first), self._until(after))

    def since(self, day: dt.date) -> tuple[Bound, ...]:
        return (self._from(day), (Operator.LE, self._here(self.now)))

    def through(self, day: dt.date) -> tuple[Bound, ...]:
        return ((Operator.GE, self._here(self.now)), self._until(day + dt.timedelta(days=1)))

    def before(self, day: dt.date) -> tuple[Bound, ...]:
        return (self._until(day),)

    def around(self, first: dt.timedelta, last: dt.timedelta) -> tuple[Bound, ...]:
        now = self.now.astimezone(dt.UTC)
        return ((Operator.GE, self._here(now + first)), (Operator.LE, self._here(now + last)))

    def ago(self, distance: dt.timedelta) -> tuple[Bound, ...]:
        return ((Operator.LT, self._here(self.now.astimezone(dt.UTC) - distance)),)

    def day(self, offset: int) -> dt.date:
        return self.today + dt.timedelta(days=offset)

    def week(self, offset: int) -> dt.date:
        return self.today + dt.timedelta(days=7 * offset - self.today.isoweekday() % 7)

    def month(self, offset: int) -> dt.date:
        return later_by_months(self.today.replace(day=1), offset)

    def year(self, offset: int) -> dt.date:
        return dt.date(self.today.year + offset, 1, 1)

    def fiscal_year(self, offset: int) -> dt.date:
        start = dt.date(self.today.year, *self.calendar.fiscal_start)
        return start.replace(year=start.year + offset - (self.today < start))

    def named_fiscal_year(self, year: int) -> tuple[Bound, ...]:
        if self.calendar.fiscal_start != (1, 1):
            # The platform names such a year after its first or its last day, as the organisation chose.
            raise ValueError(
                Sentence("fiscal years do not begin on 1 January here; compare with their first days")
            )
        return self.period(dt.date(year, 1, 1), dt.date(year + 1, 1, 1))

    def _here(self, instant: dt.datetime) -> dt.datetime:
        return instant.astimezone(self.calendar.zone)

    def _from(self, day: dt.date) -> Bound:
        return (Operator.GE, self.calendar.start_of(day))

    def _until(self, day: dt.date) -> Bound:
        return (Operator.LT, self.calendar.start_of(day))


def later_by_months(day: dt.date, count: int) -> dt.date:
    """The same day `count` months later, or the last one of a month that is too short for it."""
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    if not dt.MINYEAR <= year < dt.MAXYEAR:
        raise OverflowError(_OUT_OF_RANGE)
    return dt.date(year, month + 1, min(day.day, months.monthrange(year, month + 1)[1]))


_Bounds: TypeAlias = Callable[[Moment, int], tuple[Bound, ...]]
_Start: TypeAlias = Callable[[Moment, int], dt.date]
"""The first day of the period that lies an offset from the present one."""


def _period(start: _Start, offset: int) -> _Bounds:
    return lambda moment, _: moment.period(start(moment, offset), start(moment, offset + 1))


def _weeks(moment: Moment, count: int) -> dt.date:
    return moment.day(7 * count)


def _months(moment: Moment, count: int) -> dt.date:
    return later_by_months(moment.today, count)


def _years(moment: Moment, count: int) -> dt.date:
    return later_by_months(moment.today, 12 * count)


def _hours(count: int) -> dt.timedelta:
    return dt.timedelta(hours=count)


_NONE: Final = dt.timedelta()
_BOUNDS: Final[dict[DateOperator, _Bounds]] = {
    DateOperator.TODAY: _period(Moment.day, 0),
    DateOperator.YESTERDAY: _period(Moment.day, -1),
    DateOperator.TOMORROW: _period(Moment.day, 1),
    DateOperator.THIS_WEEK: _period(Moment.week, 0),
    DateOperator.LAST_WEEK: _period(Moment.week, -1),
    DateOperator.NEXT_WEEK: _period(Moment.week, 1),
    DateOperator.THIS_MONTH: _period(Moment.month, 0),
    DateOperator.LAST_MONTH: _period(Moment.month, -1),
    DateOperator.NEXT_MONTH: _period(Moment.month, 1),
    DateOperator.THIS_YEAR: _period(Moment.year, 0),
    DateOperator.LAST_YEAR: _period(Moment.year, -1),
    DateOperator.NEXT_YEAR: _period(Moment.year, 1),
    DateOperator.THIS_FISCAL_YEAR: _period(Moment.fiscal_year, 0),
    DateOperator.LAST_FISCAL_YEAR: _period(Moment.fiscal_year, -1),
    DateOperator.NEXT_FISCAL_YEAR: _period(Moment.fiscal_year, 1),
    DateOperator.IN_FISCAL_YEAR: Moment.named_fiscal_year,
    DateOperator.LAST_SEVEN_DAYS: lambda moment, _: moment.since(moment.day(-7)),
    DateOperator.NEXT_SEVEN_DAYS: lambda moment, _: moment.through(moment.day(7)),
    DateOperator.LAST_X_HOURS: lambda moment, count: moment.around(-_hours(count), _NONE),
    DateOperator.NEXT_X_HOURS: lambda moment, count: moment.around(_NONE, _hours(count)),
    DateOperator.LAST_X_DAYS: lambda moment, count: moment.since(moment.day(-count)),
    DateOperator.NEXT_X_DAYS: lambda moment, count: moment.through(moment.day(count)),
    DateOperator.LAST_X_WEEKS: lambda moment, count: moment.since(_weeks(moment, -count)),
    DateOperator.NEXT_X_WEEKS: lambda moment, count: moment.through(_weeks(moment, count)),
    DateOperator.LAST_X_MONTHS: lambda moment, count: moment.since(_months(moment, -count)),
    DateOperator.NEXT_X_MONTHS: lambda moment, count: moment.through(_months(moment, count)),
    DateOperator.LAST_X_YEARS: lambda moment, count: moment.since(_years(moment, -count)),
    DateOperator.NEXT_X_YEARS: lambda moment, count: moment.through(_years(moment, count)),
    DateOperator.OLDER_THAN_X_MINUTES: lambda moment, count: moment.ago(dt.timedelta(minutes=count)),
    DateOperator.OLDER_THAN_X_HOURS: lambda moment, count: moment.ago(_hours(count)),
    DateOperator.OLDER_THAN_X_DAYS: lambda moment, count: moment.before(moment.day(-count)),
    DateOperator.OLDER_THAN_X_WEEKS: lambda moment, count: moment.before(_weeks(moment, -count)),
    DateOperator.OLDER_THAN_X_MONTHS: lambda moment, count: moment.before(_months(moment, -count)),
    DateOperator.OLDER_THAN_X_YEARS: lambda moment, count: moment.before(_years(moment, -count)),
}

COUNTED_FROM_NOW: Final = frozenset(
    {
        DateOperator.LAST_X_HOURS,
        DateOperator.NEXT_X_HOURS,
        DateOperator.OLDER_THAN_X_HOURS,
        DateOperator.OLDER_THAN_X_MINUTES,
    }
)
"""The operators that tell times of one day apart, which attributes without a time cannot."""
