"""Walking a cursor over ten thousand rows while others come and go gives each old row exactly once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from crmclient.platform import Create, Delete
from crmclient.values import Values
from designer.platform import get_platform
from tests.callers import Caller
from tests.runtime.queries import a_query, accounts, pages, where

ROWS = 10_000
ORDERS = [
    {"name": "text", "by": ["name"]},
    {"name": "money", "by": ["revenue"]},
    {"name": "choice", "by": ["industrycode", "-revenue"]},
    {"name": "whole", "by": ["numberofemployees", "name"]},
]


def values(at: random.Random) -> Values:
    """Few different values, many of them none: every order has long runs of equal keys."""
    return {
        "name": f"Walked {at.choice('aAbcÄz')}{at.choice(['', ' 1'])}",
        "revenue": at.choice([None, Decimal(0), Decimal("0.0001"), Decimal(10), Decimal(922337203685)]),
        "industrycode": at.choice([None, 1, 2, 6]),
        "numberofemployees": at.choice([None, 0, 1, 2]),
        "telephone1": "walked",
    }


@pytest.fixture(scope="module")
def old(_demo: None, django_db_blocker: DjangoDbBlocker) -> Iterator[frozenset[str]]:
    """The ids of the rows that are there from the beginning."""
    at = random.Random(1)
    with django_db_blocker.unblock(), transaction.atomic():
        stored = get_platform().batch([Create("account", values(at)) for _ in range(ROWS)])
        yield frozenset(row.id for row in stored if row is not None)
        transaction.set_rollback(True)


@pytest.mark.parametrize("order", [f"{sign}{offered['name']}" for offered in ORDERS for sign in ("", "-")])
def test_each_old_row_comes_exactly_once(old: frozenset[str], rita: Caller, order: str) -> None:
    at, platform = random.Random(order), get_platform()
    columns = "".join(
        f'<attribute name="{name}"/>'
        for name in ("accountid", "name", "revenue", "industrycode", "numberofemployees")
    )
    path = a_query(
        "paginated",
        accounts(where('attribute="telephone1" operator="eq" value="walked"'), columns=columns),
        max_page_size=1000,
        orders=ORDERS,
    )
    seen: Counter[str] = Counter()
    late: list[str] = []
    for page in pages(rita, f"{path}?pageSize={at.randint(700, 1000)}&order={order}"):
        seen.update(row["accountid"] for row in page["data"])
        stored = platform.batch([Create("account", values(at)) for _ in range(20)])
        late += [row.id for row in stored if row is not None]
        gone = [late.pop(at.randrange(len(late))) for _ in range(5)]
        platform.batch([Delete("account", id) for id in gone])
    assert len(old) == ROWS
    assert {id: seen[id] for id in old if seen[id] != 1} == {}
    assert max(seen.values()) == 1
