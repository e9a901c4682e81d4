"""Queries whose rows have party lists: the rows first, and then the parties of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from crmbox.engine import queries
from crmbox.engine.connection import Unit
from crmbox.engine.snapshot import Snapshot
from crmbox.records.parties import parties_of
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Column, Link, Page, Query
from crmclient.query.comparable_columns import refuse_incomparable_columns
from crmclient.values import QueryResult, Value


@dataclass(frozen=True, slots=True)
class _PartyColumn:
    """A column of a query that is a party list.

    `key` is that of its value in a row, which has the id of the activity at first.
    """

    key: str
    activity: str
    list: str


def run_query(unit: Unit, query: Query, page: Page) -> QueryResult:
    """Return a page of a query's rows. Raises UnknownEntity and InvalidQuery."""
    # The query itself reads the activity's id in place of each party list; the parties are filled in then.
    party_columns = list(_party_columns(query, None, unit.snapshot))
    if not party_columns:
        return queries.run(unit, query, page)
    # Checked here, because `queries.run` sees ids in place of the lists.
    refuse_incomparable_columns(query, lambda entity: unit.snapshot.entity(entity).attributes)
    if query.is_aggregate:
        raise InvalidQuery(f"attribute {party_columns[0].list}: parties are not counted.")
    answer = queries.run(unit, _with_ids(query, unit.snapshot), page)
    for party_column in party_columns:
        _fill_in_parties(unit, party_column, answer.rows)
    return answer


def _fill_in_parties(unit: Unit, column: _PartyColumn, rows: list[dict[str, Value]]) -> None:
    """Replace the ids of activities in a column of `rows` by their parties."""
    ids = tuple(dict.fromkeys(str(row[column.key]) for row in rows if row[column.key] is not None))
    parties = parties_of(unit, column.activity, ids, (column.list,)) if ids else {}
    for row in rows:
        if row[column.key] is not None:
            row[column.key] = parties.get((str(row[column.key]), column.list), ())


def _party_columns(source: Query | Link, alias: str | None, snapshot: Snapshot) -> Iterator[_PartyColumn]:
    """Yield the columns of a query that are party lists, also those of its links."""
    lists = snapshot.entity(source.entity).party_lists
    for column in source.columns if lists else ():
        if column.attribute in lists:
            yield _PartyColumn(_key(column, alias), source.entity, column.attribute)
    for link in source.links:
        yield from _party_columns(link, link.alias, snapshot)


def _key(column: Column, alias: str | None) -> str:
    """Return the key of a column in a row. `alias` is that of its link; None for the entity itself."""
    return column.alias or (column.attribute if alias is None else f"{alias}.{column.attribute}")


def _with_ids(query: Query, snapshot: Snapshot) -> Query:
    """Return the query with the activity's id in place of each party list, also in its links."""
    links = tuple(_with_ids_of_link(link, snapshot) for link in query.links)
    return replace(query, columns=_columns_with_ids(query, None, snapshot), links=links)


def _with_ids_of_link(link: Link, snapshot: Snapshot) -> Link:
    links = tuple(_with_ids_of_link(inner, snapshot) for inner in link.links)
    return replace(link, columns=_columns_with_ids(link, link.alias, snapshot), links=links)


def _columns_with_ids(source: Query | Link, alias: str | None, snapshot: Snapshot) -> tuple[Column, ...]:
    """Return the columns of a query or link, with the activity's id in place of each party list.

    The id has the key that the list would have in a row, so that the parties can take its place.
    """
    stored = snapshot.entity(source.entity)
    return tuple(
        Column(stored.entity.primary_id, _key(column, alias))
        if column.attribute in stored.party_lists
        else column
        for column in source.columns
    )
