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

ItemKey: TypeAlias = tuple[str, Key]

# A list of the document has an order of its own only here.
ORDER = "order"
USER_PROPERTIES = "user_properties"

_MOST_KNOWN = 20_000


@dataclass(frozen=True, slots=True)
class Item:
    """`content` is the JSON form."""

    digest: str
    definition: Definition | None
    order: tuple[str, ...] = ()

    @property
    def content(self) -> Any:
        return list(self.order) if self.definition is None else self.definition.to_json()


def items_of(configuration: Configuration) -> Mapping[ItemKey, Item]:
    """By list and key. Rows that make no definition are left out."""
    found: dict[ItemKey, Item] = {}
    for collection in COLLECTIONS:
        for definition in _definitions(configuration, collection.field):
            digest = _digest_of(definition)
            found[collection.field, collection.key(definition)] = Item(digest, definition)
    names = tuple(known.key for known in configuration.user_properties)
    if names:
        found[ORDER, USER_PROPERTIES] = Item(digest_of(list(names)), None, names)
    return found


def unreadable_keys(configuration: Configuration) -> Iterator[ItemKey]:
    """Items that are there, though nobody can say what they are."""
    for endpoint in configuration.endpoints.values():
        if endpoint.problem is not None:
            yield "endpoints", endpoint.definition.key


def digest_of(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _definitions(configuration: Configuration, field: str) -> Iterator[Definition]:
    if field == "endpoints":
        for endpoint in configuration.endpoints.values():
            if endpoint.problem is None:
                yield endpoint.definition
    else:
        yield from getattr(configuration, field)


# An endpoint that has not changed is the same object in the next configuration: its digest is made once.
_known: dict[int, tuple[EndpointDefinition, str]] = {}


def _digest_of(definition: Definition) -> str:
    if not isinstance(definition, EndpointDefinition):
        return digest_of(definition.to_json())
    known = _known.get(id(definition))
    if known is None or known[0] is not definition:
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        known = _known[id(definition)] = (definition, digest_of(definition.to_json()))
    return known[1]
