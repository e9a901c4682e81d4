"""Reads a live organisation, some entities at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from crmbox.importing import sources
from crmbox.importing.found import CannotRead, Described, Found
from crmbox.importing.sources import Item, Source
from crmclient.metadata import Entity

ENTITIES: Final = 40
"""Entities in one request: some ten megabytes, and an address that is short enough for every proxy."""


class Organization(Protocol):
    def entities(self) -> Mapping[str, Entity]: ...

    def definitions(self, entities: Sequence[str]) -> list[dict[str, Any]]: ...


def organization(of: Organization) -> Source:
    """Return the source that reads the organisation `of`."""
    return lambda wanted: _items(of, wanted)


def _items(of: Organization, wanted: set[str] | None) -> Iterator[Item]:
    names = sorted(name for name, entity in of.entities().items() if not entity.is_intersect)
    requested = [name for name in names if wanted is None or name in wanted]
    for name in names:
        if wanted is not None and name not in wanted:
            yield Described(name, 0, _unread)
    for start in range(0, len(requested), ENTITIES):
        for item in of.definitions(requested[start : start + ENTITIES]):
            content = sources.of_json(item)
            if content is not None:
                yield content


def _unread() -> Found:
    raise CannotRead("The organisation was not asked for this entity.")
