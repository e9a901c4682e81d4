"""An entity whose records are those of others, as a view of their tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crmbox.engine.definitions import AttributeDefinition, EntityDefinition
from crmbox.engine.dialects.base import Dialect, Storage
from crmbox.engine.names import quote
from crmbox.engine.tables import physical_columns
from crmclient.text import fold


def create_view(
    view: EntityDefinition, members: Sequence[EntityDefinition], name: str, dialect: Dialect
) -> str:
    """Return the statement that creates a view of the records of `members`, with the attributes of `view`.

    Attributes that a member lacks are empty. The attribute `name` says which entity a record is of.
    """
    columns = [column for item in view.attributes for column, _ in physical_columns(item, dialect)]
    # A view without members still needs columns, so it selects empty values and no row.
    parts = [_select_of_member(view, member, name, dialect) for member in members] or [
        _empty_select(view, dialect)
    ]
    listed = ", ".join(map(quote, columns))
    return f"CREATE VIEW {quote(view.table)} ({listed}) AS {' UNION ALL '.join(parts)}"


def drop_view(view: EntityDefinition) -> str:
    return f"DROP VIEW IF EXISTS {quote(view.table)}"


def _select_of_member(view: EntityDefinition, member: EntityDefinition, name: str, dialect: Dialect) -> str:
    """Return the select of one of the entities that a view shows. `name` is the attribute that says which."""
    member_attributes = {item.attribute.logical_name: item for item in member.attributes}
    shown = (
        expression
        for item in view.attributes
        for expression in (
            _constant(item, member.entity.logical_name, dialect)
            if item.attribute.logical_name == name
            else _view_columns(item, member_attributes, dialect)
        )
    )
    return f"SELECT {', '.join(shown)} FROM {quote(member.table)}"


def _empty_select(view: EntityDefinition, dialect: Dialect) -> str:
    """Return a select of the view's columns without a row, for a view that has no members yet."""
    shown = (
        _empty(storage, dialect) for item in view.attributes for _, storage in physical_columns(item, dialect)
    )
    return f"SELECT {', '.join(shown)} WHERE 1 = 0"


def _view_columns(
    item: AttributeDefinition, member_attributes: Mapping[str, AttributeDefinition], dialect: Dialect
) -> Iterator[str]:
    """Yield the SQL expression of each column that an attribute has in the view."""
    source = member_attributes.get(item.attribute.logical_name)
    columns = physical_columns(item, dialect)
    stored = physical_columns(source, dialect) if source is not None else []
    # An attribute that the member stores as another kind of value is empty in the view.
    if source is None or not stored or stored[0][1] is not columns[0][1]:
        yield from (_empty(storage, dialect) for _, storage in columns)
        return
    column = stored[0][0]
    yield quote(column)
    if item.key is not None:
        yield quote(source.key) if source.key is not None else _empty(Storage.KEY, dialect)
    if item.target is not None:
        yield _target_expression(source, column, dialect)


def _target_expression(source: AttributeDefinition, column: str, dialect: Dialect) -> str:
    """Return the SQL of the entity that a lookup of the member points at.

    `source` is the member's lookup, `column` its column. A lookup with a single target does not store it.
    """
    if source.target is not None:
        return quote(source.target)
    targets = source.attribute.targets
    if not targets:
        return _empty(Storage.TEXT, dialect)
    return f"CASE WHEN {quote(column)} IS NOT NULL THEN {_text(targets[0], Storage.TEXT, dialect)} END"


def _constant(item: AttributeDefinition, text: str, dialect: Dialect) -> Iterator[str]:
    """Yield the SQL of each column of a text attribute that is `text` in every record."""
    for column, storage in physical_columns(item, dialect):
        yield _text(fold(text) if column == item.key else text, storage, dialect)


def _text(logical_name: str, storage: Storage, dialect: Dialect) -> str:
    """Return a logical name as a value of a column's type. Such a name needs no escaping in SQL."""
    return _cast(f"'{logical_name}'", storage, dialect)


def _empty(storage: Storage, dialect: Dialect) -> str:
    return _cast("NULL", storage, dialect)


def _cast(value: str, storage: Storage, dialect: Dialect) -> str:
    # CAST takes the type without its collation.
    column_type, collate, order = dialect.column_type(storage).partition(" COLLATE ")
    return f"CAST({value} AS {column_type}){collate}{order}"
