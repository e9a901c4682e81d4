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
from crmclient.values import QueryResult, Value


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A party list of an activity: `key` is that of its value in a row, which has the activity's id first."""

    key: str
    activity: str
    list: str


def run_query(unit: Unit, query: Query, page: Page) -> QueryResult:
    """A page of a query's rows. Raises UnknownEntity, InvalidQuery."""
    wanted = list(_wanted(query, None, unit.snapshot))
    if not wanted:
        return queries.run(unit, query, page)
    if query.is_aggregate or query.distinct:
        raise InvalidQuery(
            f"attribute {wanted[0].list}: rows that hold parties are not grouped, nor told apart by distinct."
        )
    found = queries.run(unit, _with_ids(query, unit.snapshot), page)
    for one in wanted:
        _put(unit, one, found.rows)
    return found


def _put(unit: Unit, wanted: _Wanted, rows: list[dict[str, Value]]) -> None:
    ids = tuple(dict.fromkeys(str(row[wanted.key]) for row in rows if row[wanted.key] is not None))
    parties = parties_of(unit, wanted.activity, ids, (wanted.list,)) if ids else {}
    for row in rows:
        if row[wanted.key] is not None:
            row[wanted.key] = parties.get((str(row[wanted.key]), wanted.list), ())


def _wanted(source: Query | Link, alias: str | None, snapshot: Snapshot) -> Iterator[_Wanted]:
    lists = snapshot.entity(source.entity).party_lists
    for column in source.columns if lists else ():
        if column.attribute in lists:
            yield _Wanted(_key(column, alias), source.entity, column.attribute)
    for link in source.links:
        yield from _wanted(link, link.alias, snapshot)


def _key(column: Column, alias: str | None) -> str:
    return column.alias or (column.attribute if alias is None else f"{alias}.{column.attribute}")


def _with_ids(query: Query, snapshot: Snapshot) -> Query:
    links = tuple(_with_ids_of_link(link, snapshot) for link in query.links)
    return replace(query, columns=_columns(query, None, snapshot), links=links)


def _with_ids_of_link(link: Link, snapshot: Snapshot) -> Link:
    links = tuple(_with_ids_of_link(inner, snapshot) for inner in link.links)
    return replace(link, columns=_columns(link, link.alias, snapshot), links=links)


def _columns(source: Query | Link, alias: str | None, snapshot: Snapshot) -> tuple[Column, ...]:
    """In place of each party list the id of the activity, under the list's key."""
    stored = snapshot.entity(source.entity)
    return tuple(
        Column(stored.entity.primary_id, _key(column, alias))
        if column.attribute in stored.party_lists
        else column
        for column in source.columns
    )
