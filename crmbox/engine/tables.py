"""Definitions as DDL. Always additive: a column is added or emptied, a table is never made again from what
is known.

There are no foreign keys: lookups may point at several tables, and what a delete does is the engine's rule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator, Sequence

from crmbox.engine.codecs import codec_for
from crmbox.engine.definitions import AttributeDefinition, EntityDefinition
from crmbox.engine.dialects.base import Dialect, Storage, TextSearch
from crmbox.engine.names import LONGEST, quote
from crmclient.errors import InvalidDefinition
from crmclient.metadata import AlternateKey, AttributeType

INDEXED_LENGTH = 450
"""Longest text that an index takes: PostgreSQL's index rows end at about 2,700 bytes."""

_UNINDEXED = frozenset(
    {AttributeType.MEMO, AttributeType.MULTISELECT, AttributeType.FILE, AttributeType.IMAGE}
)

# Each table has them and each write would pay for their indexes, while hardly anything is found by them.
_UNINDEXED_LOOKUPS = frozenset({"createdby", "modifiedby", "createdonbehalfby", "modifiedonbehalfby"})


def create_table(definition: EntityDefinition, dialect: Dialect) -> Iterator[str]:
    """Yield the statements that make an entity's table and the indexes of its attributes."""
    primary_id = definition.entity.primary_id
    columns = []
    for attribute in definition.attributes:
        for name, storage in physical_columns(attribute, dialect):
            suffix = " PRIMARY KEY" if attribute.attribute.logical_name == primary_id else ""
            columns.append(f"{quote(name)} {dialect.column_type(storage)}{suffix}")
    yield f"CREATE TABLE {quote(definition.table)} ({', '.join(columns)})"
    for attribute in definition.attributes:
        yield from create_indexes(definition, attribute, dialect)


def new_columns(
    attribute: AttributeDefinition, dialect: Dialect, *, present: Container[str]
) -> Iterator[tuple[str, str]]:
    """Yield the name and type of each column of an attribute, except those that exist."""
    for name, storage in physical_columns(attribute, dialect):
        if name not in present:
            yield name, dialect.column_type(storage)


def create_indexes(
    definition: EntityDefinition, attribute: AttributeDefinition, dialect: Dialect
) -> Iterator[str]:
    """Yield statements for the indexes of an attribute: for orders, for lookups, and those that were asked
    for.
    """
    columns = indexed_columns(definition, attribute)
    if columns:
        first, *rest = (quote(column) for column in columns)
        listed = ", ".join((first + dialect.nulls_first, *rest))
        name = quote(index_name(definition.table, columns))
        yield f"CREATE INDEX {name} ON {quote(definition.table)} ({listed}){_where_filled(attribute)}"
    search = text_search(definition, attribute)
    if search is not None:
        yield from dialect.create_search(search)


def can_be_indexed(attribute: AttributeDefinition) -> bool:
    """Whether the attribute can have an index to filter and sort by."""
    described = attribute.attribute
    return (
        bool(attribute.column)
        and described.type not in _UNINDEXED
        and (described.max_length or 0) <= INDEXED_LENGTH
    )


def drop_indexes(
    definition: EntityDefinition, attribute: AttributeDefinition, dialect: Dialect
) -> Iterator[str]:
    """Yield statements that drop the indexes that `create_indexes` makes."""
    columns = indexed_columns(definition, attribute)
    if columns:
        yield drop_index(index_name(definition.table, columns))
    search = text_search(definition, attribute)
    if search is not None:
        yield from dialect.drop_search(search)


def change_indexes(
    definition: EntityDefinition, before: AttributeDefinition, after: AttributeDefinition, dialect: Dialect
) -> Iterator[str]:
    """Yield statements that change the indexes of an attribute. Those that stay are left alone."""
    # An index that both definitions have stays: its statements are the same before and after.
    drops_after = list(drop_indexes(definition, after, dialect))
    drops_before = drop_indexes(definition, before, dialect)
    yield from (statement for statement in drops_before if statement not in drops_after)
    present = list(create_indexes(definition, before, dialect))
    yield from (
        statement for statement in create_indexes(definition, after, dialect) if statement not in present
    )


def text_search(definition: EntityDefinition, attribute: AttributeDefinition) -> TextSearch | None:
    """Return the index of pieces of an attribute's text; None where nobody has asked for one."""
    if not attribute.searched or attribute.key is None:
        return None
    name = index_name(definition.table, ("search", attribute.key))
    return TextSearch(name, definition.table, _primary_key(definition), attribute.key)


def create_key(definition: EntityDefinition, key: AlternateKey) -> str:
    """Return the statement that makes the unique index of an alternate key. Raises InvalidDefinition."""
    comparable_columns = {
        item.attribute.logical_name: item.key or item.column for item in definition.attributes
    }
    for name in key.attributes:
        if name not in comparable_columns:
            raise InvalidDefinition(
                f"{definition.entity.logical_name}: key {key.name}: there is no attribute {name!r}."
            )
    columns = [quote(comparable_columns[name]) for name in key.attributes]
    index = quote(definition.key_indexes[key.name])
    # Empty values never clash, so that a record without its key costs the index nothing.
    filled = " AND ".join(f"{column} IS NOT NULL" for column in columns)
    return f"CREATE UNIQUE INDEX {index} ON {quote(definition.table)} ({', '.join(columns)}) WHERE {filled}"


def drop_index(index: str) -> str:
    return f"DROP INDEX IF EXISTS {quote(index)}"


def drop_table(definition: EntityDefinition, dialect: Dialect) -> Iterator[str]:
    for attribute in definition.attributes:
        search = text_search(definition, attribute)
        if search is not None:
            yield from dialect.drop_search(search)
    yield f"DROP TABLE {quote(definition.table)}"


def empty_columns(definition: EntityDefinition, columns: Sequence[str]) -> str:
    """Return the statement that empties columns in all records."""
    listed = ", ".join(f"{quote(column)} = NULL" for column in columns)
    return f"UPDATE {quote(definition.table)} SET {listed}"


def fill_target(definition: EntityDefinition, attribute: AttributeDefinition, dialect: Dialect) -> str:
    """Return a statement for a lookup that had a single target. Its one parameter is the entity to store."""
    assert attribute.target is not None  # noqa: S101  called for a lookup that has just got its target column
    return (
        f"UPDATE {quote(definition.table)} SET {quote(attribute.target)} = {dialect.placeholder} "
        f"WHERE {quote(attribute.column)} IS NOT NULL"
    )


def index_name(table: str, columns: Sequence[str]) -> str:
    """Return a name that is unique in the whole database, as PostgreSQL needs it."""
    digest = hashlib.sha256(" ".join((table, *columns)).encode()).hexdigest()[:12]
    return f"{table[: LONGEST - 13]}_{digest}"


def physical_columns(attribute: AttributeDefinition, dialect: Dialect) -> list[tuple[str, Storage]]:
    """Return the name and the kind of each column of an attribute: its value, its key, its target."""
    if not attribute.column:
        return []
    columns = [(attribute.column, codec_for(attribute.attribute, dialect.name).storage)]
    if attribute.key is not None:
        columns.append((attribute.key, Storage.KEY))
    if attribute.target is not None:
        columns.append((attribute.target, Storage.TEXT))
    return columns


def _where_filled(attribute: AttributeDefinition) -> str:
    """Return the condition of the index of a lookup.

    A lookup is followed and never ordered by, so empty ones, which are most, need not be in the index.
    """
    return f" WHERE {quote(attribute.column)} IS NOT NULL" if attribute.attribute.targets else ""


def _primary_key(definition: EntityDefinition) -> str:
    """Return the column of the primary id."""
    return next(
        item.column
        for item in definition.attributes
        if item.attribute.logical_name == definition.entity.primary_id
    )


def indexed_columns(definition: EntityDefinition, attribute: AttributeDefinition) -> tuple[str, ...]:
    """Return the columns of the index that an attribute has; none where it has no index of its own.

    Lookups are indexed to find the records that refer to one. Other indexes serve orders, so they end with
    the primary key, by which every order ends.
    """
    described = attribute.attribute
    if not attribute.column:
        return ()
    # Texts are sorted by their comparison form, which is in the column `key`.
    sort_column = attribute.key or attribute.column
    primary_key = _primary_key(definition)
    if described.type.is_reference and described.logical_name not in _UNINDEXED_LOOKUPS:
        return (attribute.column,)
    # The ids of an intersect entity name what they point at, but are no lookups.
    if described.targets and not described.type.is_reference:
        return (attribute.column,)
    if described.is_primary_name and (described.max_length or 0) <= INDEXED_LENGTH:
        return (sort_column, primary_key)
    if described.logical_name == "createdon" or attribute.indexed:
        return (sort_column, primary_key)
    return ()
