"""The shape of a query: what is left of it when its values are taken out."""

from __future__ import annotations

import re
import subprocess
import sys
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmclient.errors import InvalidQuery
from crmclient.query.ast import Aggregate, Column, Condition, Filter, Link, LinkType, Operator, Order, Query
from crmclient.query.shape import DEEPEST, digest, shape_of
from crmclient.values import Value

ASK = """
from crmclient.query.ast import *
from crmclient.query.shape import digest, shape_of
print(digest(shape_of({query})[0]))
"""


def equals(attribute: str, value: Value) -> Condition:
    return Condition(attribute, Operator.EQ, (value,))


def test_values_come_filter_first_then_link_by_link_then_top() -> None:
    inner = Link("contact", "contactid", "x", "c", filter=Filter((equals("d", 4),)))
    query = Query(
        "account",
        filter=Filter((equals("a", 1), Filter((equals("b", 2),), any=True))),
        links=(
            Link("lead", "leadid", "y", "l", filter=Filter((equals("c", 3),)), links=(inner,)),
            Link("task", "taskid", "z", "t", filter=Filter((equals("e", 5),))),
        ),
        top=6,
    )
    assert shape_of(query)[1] == [1, 2, 3, 4, 5, 6]


def test_a_list_is_one_value_however_long() -> None:
    short, long = (
        Query("account", filter=Filter((Condition("a", Operator.IN, values),)))
        for values in ((1,), (1, 2, 3))
    )
    assert shape_of(short)[0] == shape_of(long)[0]
    assert shape_of(long)[1] == [(1, 2, 3)]


@given(st.one_of(st.text(), st.integers(), st.booleans(), st.decimals(), st.none()))
def test_no_value_shows_in_a_shape(value: Value) -> None:
    query = Query("account", filter=Filter((equals("a", value),)))
    assert shape_of(query)[0] == shape_of(Query("account", filter=Filter((equals("a", 0),))))[0]


@pytest.mark.parametrize(
    "other",
    [
        Query("contact", (Column("a"),)),
        Query("account", (Column("b"),)),
        Query("account", (Column("a", "alias"),)),
        Query("account", (Column("a", aggregate=Aggregate.MAX),)),
        Query("account", (Column("a"),), distinct=True),
        Query("account", (Column("a"),), top=1),
        Query("account", (Column("a"),), orders=(Order("a"),)),
        Query("account", (Column("a"),), filter=Filter((equals("a", 1),))),
        Query("account", (Column("a"),), links=(Link("lead", "a", "b", "l"),)),
        Query("account", (Column("a"),), links=(Link("lead", "a", "b", "l", type=LinkType.OUTER),)),
    ],
)
def test_everything_but_values_shows_in_a_shape(other: Query) -> None:
    shape = shape_of(Query("account", (Column("a"),)))[0]
    assert shape_of(other)[0] != shape
    assert digest(shape_of(other)[0]) != digest(shape)


def test_a_shape_has_one_digest_in_every_process() -> None:
    query = Query(
        "account",
        (Column("a", "n", Aggregate.SUM),),
        Filter((Condition("price", Operator.GT, (Decimal(1),)),)),
        (Link("lead", "a", "b", "l", type=LinkType.OUTER),),
        (Order(alias="n"),),
    )
    written = re.sub(r"<(\w+\.\w+): '[^']*'>", r"\1", repr(query))
    code = "from decimal import Decimal\n" + ASK.format(query=written)
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == digest(shape_of(query)[0])


def test_a_query_nested_too_deeply_is_refused() -> None:
    group = Filter((equals("a", 1),))
    link = Link("lead", "a", "b", "deepest")
    for number in range(DEEPEST + 1):
        group = Filter((group,))
        link = Link("lead", "a", "b", f"l{number}", links=(link,))
    for query in (Query("account", filter=group), Query("account", links=(link,))):
        with pytest.raises(InvalidQuery, match="nested"):
            shape_of(query)
