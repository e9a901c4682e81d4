"""`$apply`: groups and aggregates."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from tests.webapi.crm import ANNOTATED, Crm


@pytest.fixture(scope="module")
def accounts(crm: Crm) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = crm.get("accounts?$select=industrycode,revenue,statecode")["value"]
    return rows


def test_groups_are_counted_and_sorted_by_what_they_count(crm: Crm, accounts: list[dict[str, Any]]) -> None:
    rows = crm.get(
        "accounts?$apply=groupby((industrycode),aggregate($count as n))&$orderby=n desc,industrycode"
    )["value"]
    assert {row["industrycode"]: row["n"] for row in rows} == Counter(row["industrycode"] for row in accounts)
    counted = [row["n"] for row in rows]
    assert counted == sorted(counted, reverse=True)


def test_aggregates_are_of_the_rows_that_a_filter_keeps(crm: Crm, accounts: list[dict[str, Any]]) -> None:
    [row] = crm.get(
        "accounts?$apply=filter(statecode eq 0 and revenue lt 1000000000)"
        "/aggregate(revenue with sum as total,revenue with max as most,"
        "industrycode with countdistinct as kinds)"
    )["value"]
    kept = [row for row in accounts if row["statecode"] == 0 and (row["revenue"] or math.inf) < 1_000_000_000]
    revenues = [Decimal(str(row["revenue"])) for row in kept]
    assert Decimal(str(row["total"])) == sum(revenues)
    assert Decimal(str(row["most"])) == max(revenues)
    assert row["kinds"] == len({row["industrycode"] for row in kept} - {None})


def test_groups_carry_annotations_and_reach_through_lookups(crm: Crm) -> None:
    rows = crm.get(
        "contacts?$apply=groupby((_ownerid_value,parentcustomerid_account/name))&$top=3", headers=ANNOTATED
    )["value"]
    assert len(rows) == 3
    assert rows[0]["_ownerid_value@OData.Community.Display.V1.FormattedValue"]
    assert "name" in rows[0]["parentcustomerid_account"]


@pytest.mark.parametrize(
    ("apply", "status"),
    [
        ("groupby((nonsense))", 400),
        ("groupby(industrycode)", 400),
        ("aggregate(revenue sum total)", 400),
        ("aggregate(name with sum as total)", 400),
        ("aggregate(revenue with median as m)", 501),
        ("groupby((year(createdon)))", 501),
        ("compute(revenue mul 2 as twice)", 501),
        ("orderby(name)/groupby((name))", 501),
        ("groupby((industrycode),aggregate($count as n))&$select=n", 501),
        ("groupby((industrycode))&$orderby=revenue", 400),
    ],
)
def test_what_is_wrong_or_unknown_in_apply_is_refused(crm: Crm, apply: str, status: int) -> None:
    assert crm.error("GET", f"accounts?$apply={apply}")[0] == status
