"""Relative dates as bounds: what `last-x-days` and its kin mean at a moment, in a time zone.

Weeks run from Sunday to Saturday; months and years are the calendar's. *Last x* reaches from the start of the
day x units ago until now, *next x* from now until the end of the day x units ahead, *older than* is all
before the start of the day x units ago; with hours and minutes they are counted from now to the instant.
Fiscal years and periods are whole: *last x* begins with the one that is x before the present one.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

from crmclient.query.ast import Operator
from crmclient.query.designed import DateOperator
from crmclient.query.fiscal import (
    OUT_OF_RANGE,
    FiscalCalendar,
    FiscalPeriods,
    FiscalYearName,
    later_by_months,
)
from crmclient.sentences import Sentence

SPANNED: Final = range(1900, 2100)
"""The years that a fiscal period of any year is looked for in."""

_JANUARY: Final = FiscalCalendar()


@dataclass(frozen=True, slots=True)
class Calendar:
    """The time zone in which days begin, and the fiscal calendar."""

    zone: dt.tzinfo = dt.UTC
    fiscal: FiscalCalendar = _JANUARY

    def start_of(self, day: dt.date) -> dt.datetime:
        return dt.datetime.combine(day, dt.time.min, self.zone)

    def spans_of_period(self, number: int) -> list[tuple[dt.datetime, dt.datetime]]:
        """Return begin and end of a fiscal period in every year of SPANNED; empty if years have no such
        period.
        """
        periods_in_year = self.fiscal.periods.of_year
        if not 1 <= number <= periods_in_year:
            return []
        # Counted over all years, as `first_day` takes them.
        periods = (year * periods_in_year + number - 1 for year in SPANNED)
        days = ((self.fiscal.first_day(period), self.fiscal.first_day(period + 1)) for period in periods)
        return [(self.start_of(first), self.start_of(after)) for first, after in days]


def calendar_of(settings: Mapping[str, Any]) -> Calendar:
    """Return the calendar that CRM_TIME_ZONE and the CRM_FISCAL_… settings describe."""
    return _calendar_of_texts(
        settings["CRM_TIME_ZONE"],
        settings["CRM_FISCAL_YEAR_START"],
        settings["CRM_FISCAL_PERIODS"],
        settings["CRM_FISCAL_YEAR_NAME"],
    )


@cache
def _calendar_of_texts(zone: str, start: str, periods: str, named_by: str) -> Calendar:
    """Return the calendar that the texts of the settings describe.

    `start` is the month and day on which fiscal years begin, such as 07-01. An empty `named_by` means that
    the name of a fiscal year is not known.
    """
    month, day = start.split("-")
    name = FiscalYearName(named_by) if named_by else None
    return Calendar(ZoneInfo(zone), FiscalCalendar((int(month), int(day)), FiscalPeriods(periods), name))


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
        """Return the bounds of an operator. `number` is its number, if it takes one.

        Raises ValueError for a number below 1, or one that leads out of the calendar.
        """
        if number < 1:
            raise ValueError(Sentence("the number must be at least 1"))
        try:
            return _BOUNDS[operator](self, number)
        except OverflowError as error:
            raise ValueError(OUT_OF_RANGE) from error

    def in_period(self, operator: DateOperator, number: int, year: int) -> tuple[Bound, ...] | None:
        """Return the bounds of an operator that takes the number of a fiscal period and a fiscal year.

        Return None if years have no such period. Raises ValueError where fiscal years have no known names,
        and for a day out of range.
        """
        fiscal = self.calendar.fiscal
        first_year = fiscal.named_year(year)
        if not 1 <= number <= fiscal.periods.of_year:
            return None
        # Counted over all years, as `first_day` takes it.
        period = first_year * fiscal.periods.of_year + number - 1
        try:
            if operator is DateOperator.IN_OR_AFTER_FISCAL_PERIOD_AND_YEAR:
                return (self._from(fiscal.first_day(period)),)
            until = self._until(fiscal.first_day(period + 1))
            if operator is DateOperator.IN_OR_BEFORE_FISCAL_PERIOD_AND_YEAR:
                return (until,)
            return (self._from(fiscal.first_day(period)), until)
        except OverflowError as error:
            raise ValueError(OUT_OF_RANGE) from error

    def on(self, operator: DateOperator, day: dt.date) -> tuple[Bound, ...]:
        """Return the bounds of an operator that compares with a whole day. Raises ValueError for the last day
        of the calendar, which no day follows.
        """
        try:
            start, end = self._from(day), self._until(day + dt.timedelta(days=1))
        except OverflowError as error:
            raise ValueError(OUT_OF_RANGE) from error
        match operator:
            case DateOperator.ON_OR_AFTER:
                return (start,)
            case DateOperator.ON_OR_BEFORE:
                return (end,)
        return (start, end)

    def period(self, first: dt.date, after: dt.date) -> tuple[Bound, ...]:
        """Return the bounds from the day `first` until the day before `after`."""
        return (self._from(first), self._until(after))

    def since(self, day: dt.date) -> tuple[Bound, ...]:
        """Return the bounds from the beginning of a day until now."""
        return (self._from(day), (Operator.LE, self._in_zone(self.now)))

    def through(self, day: dt.date) -> tuple[Bound, ...]:
        """Return the bounds from now until the end of a day."""
        return ((Operator.GE, self._in_zone(self.now)), self._until(day + dt.timedelta(days=1)))

    def before(self, day: dt.date) -> tuple[Bound, ...]:
        """Return the bound of what is before the beginning of a day."""
        return (self._until(day),)

    def between_distances(self, first: dt.timedelta, last: dt.timedelta) -> tuple[Bound, ...]:
        """Return the bounds from one distance from now to another. A distance into the past is negative."""
        # Added in UTC: in a zone with summer time, Python would add to what the clock shows.
        now = self.now.astimezone(dt.UTC)
        return ((Operator.GE, self._in_zone(now + first)), (Operator.LE, self._in_zone(now + last)))

    def ago(self, distance: dt.timedelta) -> tuple[Bound, ...]:
        """Return the bound of what is longer ago than `distance`."""
        return ((Operator.LT, self._in_zone(self.now.astimezone(dt.UTC) - distance)),)

    # From `day` to `fiscal_period`, each returns the first day of the period that lies `offset` periods from
    # the present one.

    def day(self, offset: int) -> dt.date:
        return self.today + dt.timedelta(days=offset)

    def week(self, offset: int) -> dt.date:
        # Weeks begin on Sunday, which is day 7 of ISO's week: 0 days have passed since then.
        return self.today + dt.timedelta(days=7 * offset - self.today.isoweekday() % 7)

    def month(self, offset: int) -> dt.date:
        return later_by_months(self.today.replace(day=1), offset)

    def year(self, offset: int) -> dt.date:
        return dt.date(self.today.year + offset, 1, 1)

    def fiscal_year(self, offset: int) -> dt.date:
        fiscal = self.calendar.fiscal
        return fiscal.first_of_year(fiscal.year_of(self.today) + offset)

    def fiscal_period(self, offset: int) -> dt.date:
        fiscal = self.calendar.fiscal
        return fiscal.first_day(fiscal.period_of(self.today) + offset)

    def named_fiscal_year(self, year: int) -> tuple[Bound, ...]:
        """Return the bounds of the fiscal year that is called `year`."""
        fiscal = self.calendar.fiscal
        first_year = fiscal.named_year(year)
        return self.period(fiscal.first_of_year(first_year), fiscal.first_of_year(first_year + 1))

    def up_to(self, start: dt.date) -> tuple[Bound, ...]:
        """Return the bounds from now until the day before `start`."""
        return ((Operator.GE, self._in_zone(self.now)), self._until(start))

    def _in_zone(self, instant: dt.datetime) -> dt.datetime:
        return instant.astimezone(self.calendar.zone)

    def _from(self, day: dt.date) -> Bound:
        """Return the lower bound: at or after the beginning of `day`."""
        return (Operator.GE, self.calendar.start_of(day))

    def _until(self, day: dt.date) -> Bound:
        """Return the upper bound: before the beginning of `day`."""
        return (Operator.LT, self.calendar.start_of(day))


_Bounds: TypeAlias = Callable[[Moment, int], tuple[Bound, ...]]
"""Returns the bounds of an operator at a moment, by the operator's number."""
_Start: TypeAlias = Callable[[Moment, int], dt.date]
"""Returns the first day of the period that lies an offset from the present one."""


def _period(start: _Start, offset: int) -> _Bounds:
    """Return the function for an operator that takes no number.

    It returns the bounds of one whole period, which lies `offset` periods from the present one.
    """
    return lambda moment, _: moment.period(start(moment, offset), start(moment, offset + 1))


# Unlike the periods of the calendar, these are counted from today. A negative count leads into the past.


def _weeks_from_today(moment: Moment, count: int) -> dt.date:
    return moment.day(7 * count)


def _months_from_today(moment: Moment, count: int) -> dt.date:
    return later_by_months(moment.today, count)


def _years_from_today(moment: Moment, count: int) -> dt.date:
    return later_by_months(moment.today, 12 * count)


def _hours(count: int) -> dt.timedelta:
    return dt.timedelta(hours=count)


_NO_DISTANCE: Final = dt.timedelta()
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
    DateOperator.THIS_FISCAL_PERIOD: _period(Moment.fiscal_period, 0),
    DateOperator.LAST_FISCAL_PERIOD: _period(Moment.fiscal_period, -1),
    DateOperator.NEXT_FISCAL_PERIOD: _period(Moment.fiscal_period, 1),
    DateOperator.LAST_X_FISCAL_YEARS: lambda moment, count: moment.since(moment.fiscal_year(-count)),
    DateOperator.NEXT_X_FISCAL_YEARS: lambda moment, count: moment.up_to(moment.fiscal_year(count + 1)),
    DateOperator.LAST_X_FISCAL_PERIODS: lambda moment, count: moment.since(moment.fiscal_period(-count)),
    DateOperator.NEXT_X_FISCAL_PERIODS: lambda moment, count: moment.up_to(moment.fiscal_period(count + 1)),
    DateOperator.LAST_SEVEN_DAYS: lambda moment, _: moment.since(moment.day(-7)),
    DateOperator.NEXT_SEVEN_DAYS: lambda moment, _: moment.through(moment.day(7)),
    DateOperator.LAST_X_HOURS: lambda moment, count: moment.between_distances(-_hours(count), _NO_DISTANCE),
    DateOperator.NEXT_X_HOURS: lambda moment, count: moment.between_distances(_NO_DISTANCE, _hours(count)),
    DateOperator.LAST_X_DAYS: lambda moment, count: moment.since(moment.day(-count)),
    DateOperator.NEXT_X_DAYS: lambda moment, count: moment.through(moment.day(count)),
    DateOperator.LAST_X_WEEKS: lambda moment, count: moment.since(_weeks_from_today(moment, -count)),
    DateOperator.NEXT_X_WEEKS: lambda moment, count: moment.through(_weeks_from_today(moment, count)),
    DateOperator.LAST_X_MONTHS: lambda moment, count: moment.since(_months_from_today(moment, -count)),
    DateOperator.NEXT_X_MONTHS: lambda moment, count: moment.through(_months_from_today(moment, count)),
    DateOperator.LAST_X_YEARS: lambda moment, count: moment.since(_years_from_today(moment, -count)),
    DateOperator.NEXT_X_YEARS: lambda moment, count: moment.through(_years_from_today(moment, count)),
    DateOperator.OLDER_THAN_X_MINUTES: lambda moment, count: moment.ago(dt.timedelta(minutes=count)),
    DateOperator.OLDER_THAN_X_HOURS: lambda moment, count: moment.ago(_hours(count)),
    DateOperator.OLDER_THAN_X_DAYS: lambda moment, count: moment.before(moment.day(-count)),
    DateOperator.OLDER_THAN_X_WEEKS: lambda moment, count: moment.before(_weeks_from_today(moment, -count)),
    DateOperator.OLDER_THAN_X_MONTHS: lambda moment, count: moment.before(_months_from_today(moment, -count)),
    DateOperator.OLDER_THAN_X_YEARS: lambda moment, count: moment.before(_years_from_today(moment, -count)),
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
