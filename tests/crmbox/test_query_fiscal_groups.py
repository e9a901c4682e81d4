"""Groups by fiscal year and period, against Python's own calendar."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Iterator

import pytest
from django.conf import settings as service
from django.db import transaction
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoDbBlocker

from crmbox.metadata import change
from crmbox.platform import EmbeddedPlatform
from crmclient.errors import InvalidQuery
from crmclient.metadata import AttributeType, DateTimeBehavior
from crmclient.platform import Create
from crmclient.query.ast import Aggregate, Column, DateGrouping, Query
from crmclient.query.fiscal import FiscalCalendar, FiscalPeriods, FiscalYearName
from tests.crmbox.asking import run
from tests.crmbox.shop import attribute, entity

pytestmark = pytest.mark.django_db

COUNT = Column("fiscal_dayid", "days", Aggregate.COUNT)
# The days before and after the first of each month, around leap years and years that are none.
EDGES = [
    dt.date(year, month, 1) + dt.timedelta(days=days)
    for year in (1900, 1999, 2000, 2023, 2024, 2100)
    for month in range(1, 13)
    for days in (-2, -1, 0, 27, 28)
]


@pytest.fixture(scope="module")
def days(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[list[dt.date]]:
    """Days that are kept, each with a time and without one. One record has neither."""
    chance = random.Random(3)
    kept = EDGES + [dt.date(1950, 1, 1) + dt.timedelta(days=chance.randrange(40_000)) for _ in range(300)]
    with django_db_blocker.unblock(), transaction.atomic():
        with change() as metadata:
            metadata.create_entity(
                entity("fiscal_day"),
                [
                    attribute("name", AttributeType.STRING, is_primary_name=True),
                    attribute("day", AttributeType.DATETIME, behavior=DateTimeBehavior.DATE_ONLY),
                    attribute("moment", AttributeType.DATETIME),
                ],
            )
        records = [Create("fiscal_day", {"day": day, "moment": _sometime(day, chance)}) for day in kept]
        EmbeddedPlatform().batch([*records, Create("fiscal_day", {})])
        yield kept
        transaction.set_rollback(True)


def _sometime(day: dt.date, chance: random.Random) -> dt.datetime:
    seconds = chance.choice((0, 86_399, chance.randrange(86_400)))
    return dt.datetime.combine(day, dt.time.min, dt.UTC) + dt.timedelta(seconds=seconds)


def grouped(of: str, *parts: DateGrouping) -> Query:
    columns = (Column(of, part.name, group_by=True, date_grouping=part) for part in parts)
    return Query("fiscal_day", (*columns, COUNT))


def configured(calendar: FiscalCalendar) -> override_settings:
    return override_settings(
        PORTICO={
            **service.PORTICO,
            "CRM_FISCAL_YEAR_START": "{:02}-{:02}".format(*calendar.start),
            "CRM_FISCAL_PERIODS": calendar.periods.value,
            "CRM_FISCAL_YEAR_NAME": calendar.named_by.value if calendar.named_by else "",
        }
    )


STARTS = st.dates(dt.date(2024, 1, 1), dt.date(2024, 12, 31)).map(lambda day: (day.month, day.day))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    STARTS | st.sampled_from([(1, 1), (1, 31), (2, 28), (2, 29), (3, 1), (12, 31)]),
    st.sampled_from(FiscalPeriods),
    st.sampled_from(FiscalYearName),
    st.sampled_from(["day", "moment"]),
)
def test_every_day_is_counted_in_its_period_and_year(
    days: list[dt.date], start: tuple[int, int], periods: FiscalPeriods, named_by: FiscalYearName, of: str
) -> None:
    calendar = FiscalCalendar(start, periods, named_by)
    expected = Counter(
        (
            calendar.year_of(day) + (named_by is FiscalYearName.END and start != (1, 1)),
            calendar.period_of(day) % periods.of_year + 1,
        )
        for day in days
    )

    with configured(calendar):
        rows = run(grouped(of, DateGrouping.FISCAL_YEAR, DateGrouping.FISCAL_PERIOD)).rows

    counts = {(row["FISCAL_YEAR"], row["FISCAL_PERIOD"]): row["days"] for row in rows}
    assert counts.pop((None, None)) == 1
    assert counts == expected


def test_a_year_whose_name_is_not_known_is_no_group(days: list[dt.date]) -> None:
    with configured(FiscalCalendar((4, 1))):
        periods = run(grouped("day", DateGrouping.FISCAL_PERIOD)).rows
        assert [row["FISCAL_PERIOD"] for row in periods] == [None, 1, 2, 3, 4]
        with pytest.raises(InvalidQuery, match="CRM_FISCAL_YEAR_NAME"):
            run(grouped("day", DateGrouping.FISCAL_YEAR))
