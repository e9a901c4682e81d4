"""The fiscal calendar of an organisation: when its years begin, how they are named, and their periods."""

from __future__ import annotations

import calendar as months
import datetime as dt
from dataclasses import dataclass
from enum import Enum
from typing import Final

from crmclient.sentences import Sentence

OUT_OF_RANGE: Final = Sentence("the date is out of range")
_FOUR_WEEKS: Final = dt.timedelta(weeks=4)


class FiscalPeriods(str, Enum):
    """The periods that fiscal years are divided into. The names are those of the platform's own settings, in
    lower case.
    """

    ANNUALLY = "annually"
    SEMIANNUALLY = "semiannually"
    QUARTERLY = "quarterly"
    MONTHLY = "monthly"
    FOUR_WEEKS = "four-weeks"

    @property
    def of_year(self) -> int:
        """The number of periods in a year. The thirteenth period of four weeks takes the rest of the year."""
        return _OF_YEAR[self]


_OF_YEAR: Final = {
    FiscalPeriods.ANNUALLY: 1,
    FiscalPeriods.SEMIANNUALLY: 2,
    FiscalPeriods.QUARTERLY: 4,
    FiscalPeriods.MONTHLY: 12,
    FiscalPeriods.FOUR_WEEKS: 13,
}


class FiscalYearName(str, Enum):
    """The day of a fiscal year whose calendar year names it."""

    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True)
class FiscalCalendar:
    """A fiscal calendar, whose years begin on the month and day of `start`.

    `named_by` is None where it is not known how fiscal years are named.
    """

    start: tuple[int, int] = (1, 1)
    periods: FiscalPeriods = FiscalPeriods.QUARTERLY
    named_by: FiscalYearName | None = None

    def year_of(self, day: dt.date) -> int:
        """Return the calendar year in which the fiscal year of a day begins."""
        # A day before this calendar year's first fiscal day is in the fiscal year before: True is 1.
        return day.year - (day < self.first_of_year(day.year))

    def period_of(self, day: dt.date) -> int:
        """Return the number of a day's period, counted over all years, as `first_day` takes it."""
        first = self.year_of(day) * self.periods.of_year
        return next(
            period
            for period in reversed(range(first, first + self.periods.of_year))
            if self.first_day(period) <= day
        )

    def first_of_year(self, year: int) -> dt.date:
        """Return the first day of the fiscal year that begins in the calendar year `year`. Raises
        OverflowError.
        """
        if not dt.MINYEAR <= year <= dt.MAXYEAR:
            raise OverflowError(OUT_OF_RANGE)
        month, day = self.start
        # A year that begins on 29 February begins on the 28th where there is no such day.
        return dt.date(year, month, min(day, months.monthrange(year, month)[1]))

    def first_day(self, period: int) -> dt.date:
        """Return the first day of a period, counted over all years. Raises OverflowError."""
        year, place = divmod(period, self.periods.of_year)
        first = self.first_of_year(year)
        if self.periods is FiscalPeriods.FOUR_WEEKS:
            return first + place * _FOUR_WEEKS
        return later_by_months(first, place * 12 // self.periods.of_year)

    def named_year(self, year: int) -> int:
        """Return the calendar year in which the fiscal year called `year` begins.

        Raises ValueError where it is not known how fiscal years are named.
        """
        return year - self.name_offset

    @property
    def name_offset(self) -> int:
        """Return what is added to the calendar year in which a fiscal year begins, to have its name.

        Raises ValueError where it is not known how fiscal years are named.
        """
        if self.start == (1, 1):
            return 0
        if self.named_by is None:
            raise ValueError(
                Sentence(
                    "fiscal years do not begin on 1 January, and CRM_FISCAL_YEAR_NAME does not say whether "
                    "their first or their last day names them"
                )
            )
        return int(self.named_by is FiscalYearName.END)


def later_by_months(day: dt.date, count: int) -> dt.date:
    """Return the day `count` months later, or the last day of a shorter month. Raises OverflowError."""
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        raise OverflowError(OUT_OF_RANGE)
    return dt.date(year, month + 1, min(day.day, months.monthrange(year, month + 1)[1]))
