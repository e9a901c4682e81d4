"""Queries with another attribute in the place of one that has been renamed, or without one that is gone.

A condition is never left out: without it, more records would be found than were meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from crmclient.query.ast import Order
from crmclient.query.designed import (
    DesignedColumn,
    DesignedCondition,
    DesignedFilter,
    DesignedItem,
    DesignedLink,
    DesignedQuery,
)

# Keys of a query's row that are others now; None for those that are gone.
ChangedKeys: TypeAlias = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class AttributeChange:
    """The attribute `old` of `entity` becomes `new`; None: it is left out where that is safe."""

    entity: str
    old: str
    new: str | None

    def name(self, entity: str, attribute: str) -> str:
        """Return the name of `attribute` of `entity` after the change."""
        return (
            self.new if self.new is not None and (entity, attribute) == (self.entity, self.old) else attribute
        )


@dataclass(slots=True)
class ChangedQuery:
    """The query after a change, with the keys of its rows that are others now."""

    query: DesignedQuery
    keys: dict[str, str | None] = field(default_factory=dict)


def changed_query(query: DesignedQuery, change: AttributeChange) -> ChangedQuery:
    """Return the query with the attribute replaced or left out."""
    changed = ChangedQuery(query)
    # By what a condition or order calls them: the query's own entity by None and by its name, each link's by
    # its alias.
    entities: dict[str | None, str] = {None: query.entity, query.entity: query.entity}
    entities |= {link.alias: link.entity for link in query.every_link}
    changed.query = replace(
        query,
        columns=_columns(query, None, change, changed.keys),
        orders=tuple(_orders(query.orders, entities, change)),
        filter=None if query.filter is None else changed_filter(query.filter, query.entity, change, entities),
        links=tuple(_link(link, query.entity, change, entities, changed.keys) for link in query.links),
    )
    return changed


def _orders(
    orders: Iterable[Order], entities: Mapping[str | None, str], change: AttributeChange
) -> Iterator[Order]:
    """Yield the orders with the attribute replaced; without those by an attribute that is left out."""
    for order in orders:
        entity = entities.get(order.link, "")
        is_meant = (entity, order.attribute) == (change.entity, change.old)
        if not is_meant:
            yield order
        elif change.new is not None:
            yield replace(order, attribute=change.new)


def changed_filter(
    group: DesignedFilter,
    entity: str,
    change: AttributeChange,
    entities: Mapping[str | None, str] | None = None,
) -> DesignedFilter:
    """Return the filter after the change. It belongs to `entity`.

    `entities` are those of the whole query, by alias; None for a filter that stands alone.
    """
    entities_by_alias: dict[str | None, str] = {**(entities or {}), None: entity}
    entities_by_alias |= {link.alias: link.entity for link in group.every_link}
    return replace(group, items=tuple(_item(item, entity, change, entities_by_alias) for item in group.items))


def _item(
    item: DesignedItem, entity: str, change: AttributeChange, entities: Mapping[str | None, str]
) -> DesignedItem:
    """Return an item of a filter of `entity` after the change."""
    if isinstance(item, DesignedFilter):
        return changed_filter(item, entity, change, entities)
    if isinstance(item, DesignedLink):
        # A link in a filter gives no columns to the row, so that none of its keys change.
        return _link(item, entity, change, entities, {})
    return _condition(item, entity, change, entities)


def _condition(
    condition: DesignedCondition, entity: str, change: AttributeChange, entities: Mapping[str | None, str]
) -> DesignedCondition:
    """Return a condition in a filter of `entity` after the change.

    `entities` are those of the query, by alias. A link that is not among them is of no entity, and keeps its
    names.
    """
    own_entity = entity if condition.link is None else entities.get(condition.link, "")
    value_of = condition.value_of
    if value_of is not None:
        link, attribute = value_of
        other_entity = entity if link is None else entities.get(link, "")
        value_of = link, change.name(other_entity, attribute)
    return replace(condition, attribute=change.name(own_entity, condition.attribute), value_of=value_of)


def _link(
    link: DesignedLink,
    parent: str,
    change: AttributeChange,
    entities: Mapping[str | None, str],
    keys: dict[str, str | None],
) -> DesignedLink:
    """Return a link to an entity `parent` after the change.

    Keys of its columns that change are added to `keys`.
    """
    return replace(
        link,
        columns=_columns(link, link.alias, change, keys),
        from_attribute=change.name(link.entity, link.from_attribute),
        to_attribute=change.name(parent, link.to_attribute),
        filter=None if link.filter is None else changed_filter(link.filter, link.entity, change, entities),
        links=tuple(_link(nested, link.entity, change, entities, keys) for nested in link.links),
    )


def _columns(
    source: DesignedQuery | DesignedLink,
    link: str | None,
    change: AttributeChange,
    keys: dict[str, str | None],
) -> tuple[DesignedColumn, ...]:
    """Return the columns after the change. Keys that change are added to `keys`, with None for a removed
    column.
    """
    if source.entity != change.entity:
        return source.columns
    prefix = "" if link is None else f"{link}."
    kept_columns = []
    for column in source.columns:
        if column.attribute != change.old:
            kept_columns.append(column)
        elif change.new is None:
            keys[column.alias or f"{prefix}{change.old}"] = None
        else:
            if column.alias is None:
                keys[f"{prefix}{change.old}"] = f"{prefix}{change.new}"
            kept_columns.append(replace(column, attribute=change.new))
    return tuple(kept_columns)
