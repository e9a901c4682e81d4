"""Relative dates: their bounds in a zone, and the demo's rows that lie within."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior
from crmclient.query.ast import Condition, Filter, Operator
from crmclient.query.calendar import Calendar
from crmclient.query.designed import DesignedCondition, DesignedFilter, Literal
from crmclient.query.fetchxml import parse
from crmclient.query.fiscal import FiscalCalendar, FiscalPeriods, FiscalYearName
from crmclient.query.problems import QueryProblems
from crmclient.query.resolving import Circumstances, prepare, prepare_filter
from tests.query.conftest import NOW, Demo, Fetch

BERLIN = Calendar(ZoneInfo("Europe/Berlin"))
# A Saturday, half past midnight on Sunday in Berlin, where summer time ends that night.
SATURDAY = dt.datetime(2026, 10, 24, 22, 30, tzinfo=dt.UTC)

ATTRIBUTES = {
    "whenid": Attribute("whenid", AttributeType.UNIQUEIDENTIFIER, is_primary_id=True),
    "local": Attribute("local", AttributeType.DATETIME),
    "day": Attribute("day", AttributeType.DATETIME, behavior=DateTimeBehavior.DATE_ONLY),
    "clock": Attribute("clock", AttributeType.DATETIME, behavior=DateTimeBehavior.TIME_ZONE_INDEPENDENT),
    "name": Attribute("name", AttributeType.STRING),
}


def resolved(
    attribute: str, operator: str, *values: str, calendar: Calendar = BERLIN
) -> list[tuple[str, Any]]:
    """The operators and values of the one condition of a text, on that Saturday."""
    listed = "".join(f"<value>{value}</value>" for value in values)
    query = parse(
        f'<fetch><entity name="when"><filter><condition attribute="{attribute}" operator="{operator}">'
        f"{listed}</condition></filter></entity></fetch>"
    )
    prepared = prepare(query, lambda _: ATTRIBUTES, calendar)
    group = prepared.resolve(Circumstances(SATURDAY)).filter
    assert group is not None
    [item] = group.items
    conditions = item.items if isinstance(item, Filter) else (item,)
    assert all(isinstance(condition, Condition) for condition in conditions)
    return [(each.operator.value, *each.values) for each in conditions if isinstance(each, Condition)]  # type: ignore[misc]


def utc(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> dt.datetime:
    return dt.datetime(year, month, day, hour, minute, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("operator", "values", "start", "end"),
    [
        ("today", (), utc(2026, 10, 24, 22), utc(2026, 10, 25, 23)),
        ("yesterday", (), utc(2026, 10, 23, 22), utc(2026, 10, 24, 22)),
        ("tomorrow", (), utc(2026, 10, 25, 23), utc(2026, 10, 26, 23)),
        ("this-week", (), utc(2026, 10, 24, 22), utc(2026, 10, 31, 23)),
        ("last-week", (), utc(2026, 10, 17, 22), utc(2026, 10, 24, 22)),
        ("next-week", (), utc(2026, 10, 31, 23), utc(2026, 11, 7, 23)),
        ("this-month", (), utc(2026, 9, 30, 22), utc(2026, 10, 31, 23)),
        ("last-month", (), utc(2026, 8, 31, 22), utc(2026, 9, 30, 22)),
        ("next-month", (), utc(2026, 10, 31, 23), utc(2026, 11, 30, 23)),
        ("this-year", (), utc(2025, 12, 31, 23), utc(2026, 12, 31, 23)),
        ("last-year", (), utc(2024, 12, 31, 23), utc(2025, 12, 31, 23)),
        ("next-year", (), utc(2026, 12, 31, 23), utc(2027, 12, 31, 23)),
        ("in-fiscal-year", ("2025",), utc(2024, 12, 31, 23), utc(2025, 12, 31, 23)),
        ("on", ("2026-03-29",), utc(2026, 3, 28, 23), utc(2026, 3, 29, 22)),
        ("on", ("2026-03-28T23:30:00Z",), utc(2026, 3, 28, 23), utc(2026, 3, 29, 22)),
    ],
)
def test_periods_are_half_open_in_the_calendars_zone(
    operator: str, values: tuple[str, ...], start: dt.datetime, end: dt.datetime
) -> None:
    assert resolved("local", operator, *values) == [("ge", start), ("lt", end)]


@pytest.mark.parametrize(
    ("operator", "count", "start"),
    [
        ("last-x-days", "3", utc(2026, 10, 21, 22)),
        ("last-seven-days", None, utc(2026, 10, 17, 22)),
        ("last-x-weeks", "1", utc(2026, 10, 17, 22)),
        ("last-x-months", "8", utc(2026, 2, 24, 23)),
        ("last-x-years", "1", utc(2025, 10, 24, 22)),
        ("last-x-hours", "5", utc(2026, 10, 24, 17, 30)),
    ],
)
def test_the_last_x_reach_until_now(operator: str, count: str | None, start: dt.datetime) -> None:
    assert resolved("local", operator, *([count] if count else [])) == [("ge", start), ("le", SATURDAY)]


@pytest.mark.parametrize(
    ("operator", "count", "after"),
    [
        ("next-x-days", "1", utc(2026, 10, 26, 23)),
        ("next-seven-days", None, utc(2026, 11, 1, 23)),
        ("next-x-weeks", "1", utc(2026, 11, 1, 23)),
        ("next-x-months", "4", utc(2027, 2, 25, 23)),
        ("next-x-years", "1", utc(2027, 10, 25, 22)),
    ],
)
def test_the_next_x_reach_until_the_end_of_that_day(
    operator: str, count: str | None, after: dt.datetime
) -> None:
    assert resolved("local", operator, *([count] if count else [])) == [("ge", SATURDAY), ("lt", after)]


def test_hours_are_counted_over_the_end_of_summer_time() -> None:
    assert resolved("local", "next-x-hours", "4") == [("ge", SATURDAY), ("le", utc(2026, 10, 25, 2, 30))]


@pytest.mark.parametrize(
    ("operator", "count", "before"),
    [
        ("olderthan-x-minutes", "45", utc(2026, 10, 24, 21, 45)),
        ("olderthan-x-hours", "2", utc(2026, 10, 24, 20, 30)),
        ("olderthan-x-days", "1", utc(2026, 10, 23, 22)),
        ("olderthan-x-weeks", "2", utc(2026, 10, 10, 22)),
        ("olderthan-x-months", "1", utc(2026, 9, 24, 22)),
        ("olderthan-x-years", "1", utc(2025, 10, 24, 22)),
    ],
)
def test_older_than_x(operator: str, count: str, before: dt.datetime) -> None:
    assert resolved("local", operator, count) == [("lt", before)]


def test_a_month_too_short_ends_with_its_last_day() -> None:
    query = parse(
        '<entity name="when"><filter><condition attribute="day" operator="olderthan-x-months" value="1"/>'
        "</filter></entity>"
    )
    prepared = prepare(query, lambda _: ATTRIBUTES)
    group = prepared.resolve(Circumstances(dt.datetime(2026, 3, 31, 12, tzinfo=dt.UTC))).filter
    assert group == Filter((Condition("day", Operator.LT, (dt.date(2026, 2, 28),)),))


def test_days_compare_as_days() -> None:
    sunday = dt.date(2026, 10, 25)
    day = dt.timedelta(days=1)
    assert resolved("day", "today") == [("ge", sunday), ("lt", sunday + day)]
    assert resolved("day", "last-x-days", "2") == [("ge", sunday - 2 * day), ("le", sunday)]
    assert resolved("day", "next-x-days", "2") == [("ge", sunday), ("lt", sunday + 3 * day)]
    assert resolved("day", "olderthan-x-days", "2") == [("lt", sunday - 2 * day)]
    assert resolved("day", "on-or-before", "2026-10-25") == [("lt", sunday + day)]
    assert resolved("day", "eq", "2026-10-25T00:00:00") == [("eq", sunday)]


def test_attributes_without_a_time_zone_are_not_shifted() -> None:
    assert resolved("clock", "today") == [("ge", utc(2026, 10, 25)), ("lt", utc(2026, 10, 26))]
    assert resolved("clock", "last-x-hours", "1") == [
        ("ge", utc(2026, 10, 24, 23, 30)),
        ("le", utc(2026, 10, 25, 0, 30)),
    ]
    assert resolved("clock", "ge", "2026-10-25T08:00:00") == [("ge", utc(2026, 10, 25, 8))]


def test_times_without_an_offset_are_the_calendars() -> None:
    assert resolved("local", "ge", "2026-07-01 08:00") == [("ge", utc(2026, 7, 1, 6))]
    assert resolved("local", "ge", "2026-07-01T08:00:00+00:00") == [("ge", utc(2026, 7, 1, 8))]
    assert resolved("local", "lt", "2026-07-01") == [("lt", utc(2026, 6, 30, 22))]
    assert resolved("local", "on-or-after", "2026-07-01") == [("ge", utc(2026, 6, 30, 22))]
    assert resolved("local", "on-or-before", "2026-07-01") == [("lt", utc(2026, 7, 1, 22))]


@pytest.mark.parametrize(
    ("operator", "start", "end"),
    [
        ("this-fiscal-year", utc(2026, 3, 31, 22), utc(2027, 3, 31, 22)),
        ("last-fiscal-year", utc(2025, 3, 31, 22), utc(2026, 3, 31, 22)),
        ("next-fiscal-year", utc(2027, 3, 31, 22), utc(2028, 3, 31, 22)),
    ],
)
def test_fiscal_years_begin_where_the_calendar_says(
    operator: str, start: dt.datetime, end: dt.datetime
) -> None:
    calendar = Calendar(BERLIN.zone, FiscalCalendar((4, 1)))
    assert resolved("local", operator, calendar=calendar) == [("ge", start), ("lt", end)]


def test_a_fiscal_year_begins_before_its_first_day_comes() -> None:
    calendar = Calendar(dt.UTC, FiscalCalendar((11, 1)))
    assert resolved("local", "this-fiscal-year", calendar=calendar) == [
        ("ge", utc(2025, 11, 1)),
        ("lt", utc(2026, 11, 1)),
    ]


QUARTERS = Calendar(dt.UTC, FiscalCalendar((4, 1), FiscalPeriods.QUARTERLY, FiscalYearName.START))


@pytest.mark.parametrize(
    ("operator", "values", "bounds"),
    [
        ("this-fiscal-period", (), [("ge", utc(2026, 10, 1)), ("lt", utc(2027, 1, 1))]),
        ("last-fiscal-period", (), [("ge", utc(2026, 7, 1)), ("lt", utc(2026, 10, 1))]),
        ("next-fiscal-period", (), [("ge", utc(2027, 1, 1)), ("lt", utc(2027, 4, 1))]),
        ("last-x-fiscal-periods", ("2",), [("ge", utc(2026, 4, 1)), ("le", SATURDAY)]),
        ("next-x-fiscal-periods", ("2",), [("ge", SATURDAY), ("lt", utc(2027, 7, 1))]),
        ("last-x-fiscal-years", ("1",), [("ge", utc(2025, 4, 1)), ("le", SATURDAY)]),
        ("next-x-fiscal-years", ("1",), [("ge", SATURDAY), ("lt", utc(2028, 4, 1))]),
        ("in-fiscal-year", ("2025",), [("ge", utc(2025, 4, 1)), ("lt", utc(2026, 4, 1))]),
        ("in-fiscal-period-and-year", ("4", "2025"), [("ge", utc(2026, 1, 1)), ("lt", utc(2026, 4, 1))]),
        ("in-or-before-fiscal-period-and-year", ("1", "2025"), [("lt", utc(2025, 7, 1))]),
        ("in-or-after-fiscal-period-and-year", ("1", "2025"), [("ge", utc(2025, 4, 1))]),
        ("in-fiscal-period-and-year", ("5", "2025"), [("null",), ("not-null",)]),
    ],
)
def test_fiscal_periods_are_those_of_the_calendar(
    operator: str, values: tuple[str, ...], bounds: list[tuple[object, ...]]
) -> None:
    assert resolved("local", operator, *values, calendar=QUARTERS) == bounds


@pytest.mark.parametrize(
    ("periods", "number", "first", "after"),
    [
        (FiscalPeriods.ANNUALLY, 1, utc(2025, 4, 1), utc(2026, 4, 1)),
        (FiscalPeriods.SEMIANNUALLY, 2, utc(2025, 10, 1), utc(2026, 4, 1)),
        (FiscalPeriods.MONTHLY, 12, utc(2026, 3, 1), utc(2026, 4, 1)),
        (FiscalPeriods.FOUR_WEEKS, 1, utc(2025, 4, 1), utc(2025, 4, 29)),
        (FiscalPeriods.FOUR_WEEKS, 13, utc(2026, 3, 3), utc(2026, 4, 1)),
    ],
)
def test_a_fiscal_year_named_by_its_end_has_periods_of_each_kind(
    periods: FiscalPeriods, number: int, first: dt.datetime, after: dt.datetime
) -> None:
    calendar = Calendar(dt.UTC, FiscalCalendar((4, 1), periods, FiscalYearName.END))
    conditions = resolved("local", "in-fiscal-period-and-year", str(number), "2026", calendar=calendar)
    assert conditions == [("ge", first), ("lt", after)]


@given(
    st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    st.sampled_from(FiscalPeriods),
    st.dates(dt.date(2001, 1, 1), dt.date(2001, 12, 31)),
)
def test_every_day_is_in_one_fiscal_period(day: dt.date, periods: FiscalPeriods, start: dt.date) -> None:
    calendar = FiscalCalendar((start.month, start.day), periods)
    period = calendar.period_of(day)
    assert calendar.first_day(period) <= day < calendar.first_day(period + 1)
    assert calendar.first_of_year(calendar.year_of(day)) <= day


@pytest.mark.parametrize(
    ("attribute", "operator", "values", "message"),
    [
        ("local", "eq", ("2026-01-31",), "use on for the whole day"),
        ("local", "in", ("2026-01-31",), "use on for the whole day"),
        ("local", "ge", ("31/01/2026",), "is not a date"),
        ("local", "on", ("soon",), "is not a date"),
        ("local", "last-x-days", ("0",), "at least 1"),
        ("local", "last-x-days", ("1.5",), "not a whole number"),
        ("local", "last-x-days", ("9999999999",), "out of range"),
        ("local", "next-x-years", ("999999",), "out of range"),
        ("day", "last-x-hours", ("1",), "days without a time"),
        ("day", "eq", ("2026-10-25T08:00:00",), "has a time of day"),
        ("clock", "ge", ("2026-10-25T08:00:00+02:00",), "knows no time zone"),
        ("name", "today", (), "compares dates"),
    ],
)
def test_dates_that_cannot_be_meant(
    attribute: str, operator: str, values: tuple[str, ...], message: str
) -> None:
    with pytest.raises(QueryProblems, match=message) as caught:
        resolved(attribute, operator, *values)
    assert f"condition {attribute} {operator}" in str(caught.value)


def test_a_named_fiscal_year_that_begins_elsewhere_is_refused() -> None:
    with pytest.raises(QueryProblems, match="do not begin on 1 January"):
        resolved("local", "in-fiscal-year", "2025", calendar=Calendar(dt.UTC, FiscalCalendar((7, 1))))


def test_a_filter_alone_is_prepared_for_an_entity() -> None:
    rule = DesignedFilter((DesignedCondition("name", Operator.EQ, (Literal("x"),)),))
    assert prepare_filter(rule, "when", lambda _: ATTRIBUTES).resolve(Circumstances(SATURDAY)) == Filter(
        (Condition("name", Operator.EQ, ("x",)),)
    )


TODAY = NOW.date()
DAY = dt.timedelta(days=1)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("operator", "value", "holds"),
    [
        ("last-x-days", 'value="90"', lambda at: at.date() >= TODAY - 90 * DAY and at <= NOW),
        ("olderthan-x-months", 'value="3"', lambda at: at.date() < _months_ago(3)),
        ("last-x-hours", 'value="400"', lambda at: NOW - dt.timedelta(hours=400) <= at <= NOW),
        ("this-year", "", lambda at: at.year == TODAY.year),
        ("this-fiscal-year", "", lambda at: at.year == TODAY.year),
        ("last-month", "", lambda at: (at.year, at.month) == _last_month()),
        ("last-week", "", lambda at: _sunday() - 7 * DAY <= at.date() < _sunday()),
        ("last-year", "", lambda at: at.year == TODAY.year - 1),
    ],
)
def test_records_by_when_they_were_made(
    fetch: Fetch, demo: Demo, operator: str, value: str, holds: Callable[[dt.datetime], bool]
) -> None:
    rows = fetch(f"""<fetch version="1.0" output-format="xml-platform" mapping="logical">
      <entity name="contact"><attribute name="contactid"/><filter type="and">
      <condition attribute="createdon" operator="{operator}" {value}/></filter></entity></fetch>""")
    expected = {row["contactid"] for row in demo["contact"] if holds(row["createdon"])}
    assert {row["contactid"] for row in rows} == expected


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("conditions", "holds"),
    [
        (
            '<condition attribute="estimatedclosedate" operator="next-x-days" value="60"/>',
            lambda day: TODAY <= day <= TODAY + 60 * DAY,
        ),
        (
            '<condition attribute="estimatedclosedate" operator="on-or-after" value="{0}"/>'
            '<condition attribute="estimatedclosedate" operator="on-or-before" value="{1}"/>',
            lambda day: TODAY - 200 * DAY <= day <= TODAY,
        ),
        (
            '<condition attribute="estimatedclosedate" operator="between">'
            "<value>{0}</value><value>{1}</value></condition>",
            lambda day: TODAY - 200 * DAY <= day <= TODAY,
        ),
    ],
)
def test_opportunities_by_the_day_they_should_close(
    fetch: Fetch, demo: Demo, conditions: str, holds: Callable[[dt.date], bool]
) -> None:
    filled = conditions.format(TODAY - 200 * DAY, TODAY)
    rows = fetch(f"""<fetch><entity name="opportunity"><attribute name="opportunityid"/>
      <filter>{filled}</filter></entity></fetch>""")
    expected = {row["opportunityid"] for row in demo["opportunity"] if holds(row["estimatedclosedate"])}
    assert {row["opportunityid"] for row in rows} == expected
    assert expected


def _months_ago(count: int) -> dt.date:
    year, month = divmod(TODAY.year * 12 + TODAY.month - 1 - count, 12)
    last = (dt.date(year, month + 1, 28) + 4 * DAY).replace(day=1) - DAY
    return last.replace(day=min(TODAY.day, last.day))


def _last_month() -> tuple[int, int]:
    end = TODAY.replace(day=1) - DAY
    return end.year, end.month


def _sunday() -> dt.date:
    return TODAY - (TODAY.isoweekday() % 7) * DAY
