"""A filter measured in Python finds what the platform finds."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmbox.platform import EmbeddedPlatform
from crmclient import Reference
from crmclient.query.ast import Column, Condition, Filter, FilterItem, Operator, Query
from crmclient.query.filter_match import Undecidable, matches
from tests.query.conftest import Demo

pytestmark = pytest.mark.django_db

ATTRIBUTES = ("name", "telephone1", "revenue", "industrycode", "ownerid", "statecode", "createdon")
_TEXTS = (Operator.BEGINS_WITH, Operator.NOT_BEGINS_WITH, Operator.ENDS_WITH, Operator.NOT_ENDS_WITH)
_EXACT = (Operator.EQ, Operator.NE, Operator.IN, Operator.NOT_IN)
_SIZES = (Operator.GT, Operator.GE, Operator.LT, Operator.LE, Operator.BETWEEN, Operator.NOT_BETWEEN)
_EMPTY = (Operator.NULL, Operator.NOT_NULL)


def conditions(demo: Demo) -> st.SearchStrategy[Condition]:
    """Conditions whose values are like those that the accounts hold."""

    def about(attribute: str) -> st.SearchStrategy[Condition]:
        held = [row[attribute] for row in demo["account"] if row[attribute] is not None]
        values: Any = st.sampled_from(held)
        operators = [*_EXACT, *_EMPTY]
        if isinstance(held[0], str):
            pieces = st.sampled_from([text[:2] for text in held] + [text[-2:].upper() for text in held])
            values = values | pieces
            operators += [*_TEXTS, Operator.CONTAINS]
        if isinstance(held[0], Decimal | dt.datetime) or attribute == "statecode":
            operators += _SIZES
        return st.tuples(st.sampled_from(operators), st.lists(values, min_size=2, max_size=3)).map(
            lambda drawn: Condition(attribute, drawn[0], _taken(*drawn))
        )

    return st.sampled_from(ATTRIBUTES).flatmap(about)


def _taken(operator: Operator, values: list[Any]) -> tuple[Any, ...]:
    plain = [value.id if isinstance(value, Reference) else value for value in values]
    if operator in _EMPTY:
        return ()
    if operator in (Operator.BETWEEN, Operator.NOT_BETWEEN):
        return tuple(plain[:2])
    return tuple(plain) if operator in (Operator.IN, Operator.NOT_IN) else (plain[0],)


def filters(demo: Demo) -> st.SearchStrategy[Filter]:
    item: st.SearchStrategy[FilterItem] = st.recursive(
        conditions(demo),
        lambda inner: st.builds(Filter, st.lists(inner, min_size=1, max_size=3).map(tuple), st.booleans()),
        max_leaves=6,
    )
    return st.builds(Filter, st.lists(item, min_size=1, max_size=3).map(tuple), st.booleans())


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_same_records_match(crm: EmbeddedPlatform, demo: Demo, data: st.DataObject) -> None:
    wanted = data.draw(filters(demo))
    query = Query("account", columns=(Column("accountid"),), filter=wanted)
    queried_ids = {row["accountid"] for row in crm.query(query).rows}
    measured = {row["accountid"] for row in demo["account"] if matches(wanted, row)}
    assert measured == queried_ids


@pytest.mark.parametrize(
    "condition",
    [
        Condition("name", Operator.LIKE, ("A%",)),
        Condition("name", Operator.NOT_LIKE, ("A%",)),
        Condition("name", Operator.EQ, ("a",), link="c"),
        Condition("name", Operator.EQ, value_of=(None, "telephone1")),
        Condition("unknown", Operator.NULL),
    ],
)
def test_what_only_a_platform_can_tell_is_left_to_it(condition: Condition) -> None:
    with pytest.raises(Undecidable):
        matches(Filter((condition,)), {"name": "a", "telephone1": "a"})
