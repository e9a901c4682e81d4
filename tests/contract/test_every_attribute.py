"""Each attribute told apart, grouped, aggregated, sorted by and compared: both platforms answer the same,
or both refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crmbox.platform import EmbeddedPlatform
from crmclient import Platform
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Aggregate, Column, Condition, Filter, Operator, Order, Query
from tests.dataverse.reaching import platform_at
from tests.servers import Site, copied

# Between them, they have attributes of every type.
ENTITIES = ("account", "incident")
# Of the time when each platform's copy of the demo was made.
_OF_THE_COPY = frozenset({"modifiedon", "versionnumber"})


@pytest.fixture(scope="module")
def dataverse(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with copied(_prepared, tmp_path_factory.mktemp("every") / "data", "every") as site:
        yield platform_at(site.start_crm(root="/contoso"))


def queries(entity: str, id: str, column: str) -> Iterator[Query]:
    yield Query(entity, (Column(column),), distinct=True, orders=(Order(column),))
    yield Query(entity, (Column(column), Column(id)), distinct=True)
    yield Query(entity, (Column(column, "g", group_by=True), Column(id, "n", Aggregate.COUNT)))
    for aggregate in Aggregate:
        yield Query(entity, (Column(column, "a", aggregate),))
    yield Query(entity, (Column(column, "a", Aggregate.COUNT_COLUMN, distinct=True),))
    for descending in (False, True):
        yield Query(entity, (Column(id),), orders=(Order(column, descending=descending), Order(id)), top=40)
    yield Query(entity, (Column(id),), Filter((Condition(column, Operator.NULL),)))


@pytest.mark.parametrize("entity", ENTITIES)
def test_both_answer_the_same_rows_or_refuse(portico: None, dataverse: Platform, entity: str) -> None:
    here = EmbeddedPlatform()
    id = here.entities()[entity].primary_id
    attributes = here.attributes(entity)
    for name in attributes.keys() - _OF_THE_COPY:
        # The name of a lookup's record is called as the lookup with `name` added; of others there is none.
        for column in (name, f"{name}name"):
            for query in queries(entity, id, column):
                assert _answer(here, query) == _answer(dataverse, query), query


def _answer(platform: Platform, query: Query) -> Any:
    """The rows, sorted where the query does not sort them; None for a refusal."""
    try:
        rows = platform.query(query).rows
    except InvalidQuery:
        return None
    return rows if query.orders else sorted(rows, key=str)
