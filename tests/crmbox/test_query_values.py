"""A value, whatever characters it holds, is a parameter: it never becomes part of the SQL."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crmbox.engine.connection import read_unit
from crmbox.engine.like_patterns import AnyText, Characters, OneCharacter, Token, like
from crmbox.engine.sql.plan import plan_of
from crmbox.engine.sql.rows import RowPlan
from crmclient.query.ast import Condition, Filter, Operator, Query
from crmclient.query.shape import shape_of
from crmclient.text import fold, is_storable
from tests.crmbox.asking import books, run
from tests.crmbox.library import Tables

pytestmark = pytest.mark.django_db

TEXTS = st.text(max_size=30).filter(is_storable)
PATTERNS = st.text(alphabet="%_[]^-ab\\.*?+(){}|$'\"#~ äß\n", max_size=12)
OPERATORS = (
    Operator.EQ,
    Operator.NE,
    Operator.GT,
    Operator.LIKE,
    Operator.NOT_LIKE,
    Operator.BEGINS_WITH,
    Operator.ENDS_WITH,
    Operator.CONTAINS,
    Operator.IN,
    Operator.NOT_IN,
)
SETTINGS: dict[str, Any] = {
    "max_examples": 80,
    "deadline": None,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}


def sql(query: Query) -> list[str]:
    """The text that runs for a query, as the engine hands it to the database."""
    shape, _ = shape_of(query)
    with read_unit() as unit:
        steps = plan_of(query, shape, unit.snapshot).steps
    assert isinstance(steps, RowPlan)
    return [statement.text for statement in steps.statements(None, limited=True)]


@settings(**SETTINGS)
@given(st.lists(TEXTS, min_size=3, max_size=3), st.sampled_from(OPERATORS))
@example(["'; DROP TABLE e_lib_book; --", "?", "%s"], Operator.EQ)
@example(['"', "{0}", "\\"], Operator.LIKE)
def test_values_never_change_the_text(library: Tables, values: list[str], operator: Operator) -> None:
    def query(texts: list[str]) -> Query:
        listed = operator in {Operator.IN, Operator.NOT_IN}
        return books(Condition("title", operator, tuple(texts if listed else texts[:1])))

    assert shape_of(query(values))[0] == shape_of(query(["a", "b", "c"]))[0]
    assert sql(query(values)) == sql(query(["a", "b", "c"]))
    run(query(values))


@settings(**SETTINGS)
@given(TEXTS)
def test_a_text_finds_what_it_equals_begins_and_is_part_of(library: Tables, text: str) -> None:
    titles = [str(row["title"]) for row in library["lib_book"]]
    for operator, meets in (
        (Operator.EQ, lambda title: fold(title) == fold(text)),
        (Operator.BEGINS_WITH, lambda title: fold(title).startswith(fold(text))),
        (Operator.CONTAINS, lambda title: fold(text) in fold(title)),
    ):
        rows = run(books(Condition("title", operator, (text,)))).rows
        assert len(rows) == sum(map(meets, titles))


@settings(**SETTINGS)
@given(PATTERNS)
@example("[^]")
@example("[^^]%")
@example("[a-]%")
@example("[-a]%")
@example("[z-a]%")
@example("[]]")
def test_any_pattern_means_the_same_on_every_database(library: Tables, pattern: str) -> None:
    expression = "".join(_expression(token) for token in like(pattern))
    titles = [fold(str(row["title"])) for row in library["lib_book"]]
    matching = sum(re.fullmatch(expression, title, re.DOTALL) is not None for title in titles)
    assert len(run(books(Condition("title", Operator.LIKE, (pattern,)))).rows) == matching
    others = len(titles) - matching
    assert len(run(books(Condition("title", Operator.NOT_LIKE, (pattern,)))).rows) == others


def _expression(token: Token) -> str:
    match token:
        case AnyText():
            return ".*"
        case OneCharacter():
            return "."
        case Characters(ranges, negated):
            inner = "".join(f"\\U{ord(first):08x}-\\U{ord(last):08x}" for first, last in ranges)
            return f"[{'^' if negated else ''}{inner}]"
    return re.escape(token)


@settings(**SETTINGS)
@given(st.lists(TEXTS, max_size=3), st.booleans())
def test_names_reach_the_text_only_from_the_metadata(library: Tables, names: list[str], any: bool) -> None:
    query = books(Filter(tuple(Condition(name, Operator.NULL) for name in names), any=any))
    if names:
        with CaptureQueriesContext(connection) as captured, pytest.raises(Exception, match="no attribute"):
            run(query)
        assert not [entry for entry in captured.captured_queries if "lib_book" in entry["sql"]]


def test_plans_are_made_once_for_a_shape(library: Tables) -> None:
    with read_unit() as unit:
        plans = {
            id(plan_of(query, shape_of(query)[0], unit.snapshot))
            for query in (
                books(Condition("pages", Operator.IN, tuple(range(1, count)))) for count in (2, 3, 50)
            )
        }
    assert len(plans) == 1
