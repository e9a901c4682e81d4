"""The configuration as separate items of its document, each with a digest of its state."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from designer.configuration import Configuration
from designer.definitions import Definition, EndpointDefinition
from designer.documents.keys import COLLECTIONS, Key

# The list of the document that an item is in, and its key there.
ItemKey: TypeAlias = tuple[str, Key]

# The key of the order of user properties is (ORDER, USER_PROPERTIES): it is the only list whose order counts.
ORDER = "order"
USER_PROPERTIES = "user_properties"

# More endpoints than a configuration has. Old definitions are dropped with all others then.
_MOST_CACHED = 20_000


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the document, or the order of user properties.

    `content` is the JSON form. `definition` is None for an order, which `order` holds.
    """

    digest: str
    definition: Definition | None
    order: tuple[str, ...] = ()

    @property
    def content(self) -> Any:
        """The JSON form of the item; the list of keys for an order."""
        return list(self.order) if self.definition is None else self.definition.to_json()


def items_of(configuration: Configuration) -> Mapping[ItemKey, Item]:
    """Return the items of the configuration by list and key, without rows that cannot be read."""
    items: dict[ItemKey, Item] = {}
    for collection in COLLECTIONS:
        for definition in _readable_definitions(configuration, collection.field):
            digest = _digest_of(definition)
            items[collection.field, collection.key(definition)] = Item(digest, definition)
    names = tuple(user_property.key for user_property in configuration.user_properties)
    if names:
        items[ORDER, USER_PROPERTIES] = Item(digest_of(list(names)), None, names)
    return items


def unreadable_keys(configuration: Configuration) -> Iterator[ItemKey]:
    """Yield the keys of endpoints that exist, but whose rows make no definition."""
    for endpoint in configuration.endpoints.values():
        if endpoint.problem is not None:
            yield "endpoints", endpoint.definition.key


def digest_of(content: Any) -> str:
    """Return the SHA-256 of a JSON value, as hexadecimal digits."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _readable_definitions(configuration: Configuration, field: str) -> Iterator[Definition]:
    """Yield the definitions in the list `field` of the configuration, without endpoints
    that cannot be read.
    """
    if field == "endpoints":
        for endpoint in configuration.endpoints.values():
            if endpoint.problem is None:
                yield endpoint.definition
    else:
        yield from getattr(configuration, field)


# By the object's `id`: the endpoint, without which its `id` might become another object's, and its digest.
_cached_digests: dict[int, tuple[EndpointDefinition, str]] = {}


def _digest_of(definition: Definition) -> str:
    """Return the digest of a definition. An endpoint's is made once for the object, since an endpoint that
    has not changed is the same object in the next configuration.
    """
    if not isinstance(definition, EndpointDefinition):
        return digest_of(definition.to_json())
    cached = _cached_digests.get(id(definition))
    if cached is None or cached[0] is not definition:
        if len(_cached_digests) > _MOST_CACHED:
            _cached_digests.clear()
        cached = _cached_digests[id(definition)] = (definition, digest_of(definition.to_json()))
    return cached[1]
