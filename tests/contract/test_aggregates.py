"""Aggregates: the same groups and the same exact numbers."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from crmclient import Platform, Reference
from crmclient.conventions import Ability
from crmclient.query.ast import (
    Aggregate,
    Column,
    Condition,
    DateGrouping,
    Filter,
    Operator,
    Order,
    Query,
)
from tests.contract.making import family

pytestmark = pytest.mark.needs(Ability.AGGREGATES)


def test_aggregates_over_groups(platform: Platform, wool: str) -> None:
    columns = (
        Column("new_customersince", "year", group_by=True, date_grouping=DateGrouping.YEAR),
        Column("accountid", "number", Aggregate.COUNT),
        Column("numberofemployees", "filled", Aggregate.COUNT_COLUMN),
        Column("revenue", "total", Aggregate.SUM),
        Column("revenue", "mean", Aggregate.AVG),
        Column("numberofemployees", "most", Aggregate.MAX),
        Column("new_customersince", "first", Aggregate.MIN),
    )
    query = Query(
        "account",
        columns,
        Filter((Condition("sic", Operator.EQ, (wool,)),)),
        orders=(Order(alias="year", descending=True),),
    )

    assert platform.query(query).rows == [
        {
            "year": 2021,
            "number": 3,
            "filled": 3,
            "total": Decimal(9),
            "mean": Decimal(3),
            "most": 5,
            "first": dt.date(2021, 1, 2),
        },
        {
            "year": 2020,
            "number": 3,
            "filled": 2,
            "total": Decimal(6),
            "mean": Decimal(2),
            "most": 4,
            "first": dt.date(2020, 1, 1),
        },
    ]


def test_a_group_of_a_lookup_is_the_record_it_points_at(platform: Platform) -> None:
    name, id, _ = family(platform)
    columns = (
        Column("parentcustomerid", "parent", group_by=True),
        Column("contactid", "number", Aggregate.COUNT),
    )
    query = Query("contact", columns, Filter((Condition("parentcustomerid", Operator.EQ, (id,)),)))

    assert platform.query(query).rows == [{"parent": Reference("account", id, name), "number": 2}]
