"""Records by what is related to them: `any` and `all` over a collection, as lists of keys.

The platform's queries have no *exists*: the related records are asked for first, and what they belong to is
compared by key. That holds under `not` and `or` too, and never doubles a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crmbox.platform import EmbeddedPlatform
from crmbox.webapi.errors import WebApiError
from crmbox.webapi.model import EntityType, Model
from crmbox.webapi.navigation import Collection
from crmclient.platform import Call
from crmclient.query.ast import Column, Condition, Filter, FilterItem, Link, Operator, Query
from crmclient.values import Guid, Reference, Value

MOST_IN_CONDITION: Final = 2000
"""As many values as one condition takes."""

MOST_KEYS: Final = 50_000


class Related:
    """Asks for keys on behalf of `call`."""

    def __init__(self, model: Model, platform: EmbeddedPlatform, call: Call) -> None:
        self.model = model
        self._platform = platform
        self._call = call

    def owners(
        self, type_: EntityType, collection: Collection, filter: Filter | None, links: tuple[Link, ...]
    ) -> tuple[Guid, ...]:
        """Return the keys of the records of `type_` that have a related one for which `filter` holds.

        `links` are those that the filter needs. Without a filter, any related record will do.
        """
        if collection.attribute is not None:
            return self._keys(collection.entity, collection.attribute, filter, links)
        target = self.model.entity_type(collection.entity)
        # A many-to-many relationship has one.
        pair_entity = collection.relationship.intersect or ""
        owner_attribute, related_attribute = collection.pair
        pair_filter = None
        if filter is not None:
            keys = self._keys(target.name, target.entity.primary_id, filter, links)
            pair_filter = Filter((among_keys(related_attribute, keys),))
        return self._keys(pair_entity, owner_attribute, pair_filter, ())

    def _keys(
        self, entity: str, attribute: str, filter: Filter | None, links: tuple[Link, ...]
    ) -> tuple[Guid, ...]:
        """Return the ids in an attribute of those records of `entity` that the filter leaves, each once.

        Raises WebApiError for too many.
        """
        is_filled = Condition(attribute, Operator.NOT_NULL)
        filled_and_matching = Filter((is_filled,) if filter is None else (is_filled, filter))
        query = Query(entity, (Column(attribute),), filled_and_matching, links, distinct=True)
        rows = self._platform.query(query, call=self._call).rows
        if len(rows) > MOST_KEYS:
            raise WebApiError(
                400, "0x8004e024", f"any and all can look at most at {MOST_KEYS} related records."
            )
        return tuple(_id_in(row[attribute]) for row in rows)


def among_keys(attribute: str, keys: tuple[Guid, ...], link: str | None = None) -> FilterItem:
    """Return the condition that `attribute` is one of `keys`; without keys, one that never holds."""
    if not keys:
        return never(attribute, link)
    return Filter(tuple(_key_conditions(attribute, keys, link)), any=True)


def never(attribute: str, link: str | None) -> FilterItem:
    """Return a filter that holds for no row: the attribute is empty, and it is not."""
    return Filter(
        (Condition(attribute, Operator.NULL, (), link), Condition(attribute, Operator.NOT_NULL, (), link))
    )


def _key_conditions(attribute: str, keys: tuple[Guid, ...], link: str | None) -> Iterator[Condition]:
    """Yield conditions on the keys, each with at most `MOST_IN_CONDITION` of them."""
    for start in range(0, len(keys), MOST_IN_CONDITION):
        yield Condition(attribute, Operator.IN, keys[start : start + MOST_IN_CONDITION], link)


def _id_in(value: Value) -> Guid:
    """Return the id in a lookup or an id column."""
    return value.id if isinstance(value, Reference) else str(value)
