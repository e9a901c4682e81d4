"""Reads a live organisation, some entities at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

from crmbox.importing import sources
from crmbox.importing.source_entity import CannotRead, Described, Intersect, SourceEntity
from crmbox.importing.sources import Item, Source
from crmclient.dataverse.advice import advice_on
from crmclient.errors import PlatformError
from crmclient.metadata import Entity

_AT_ONCE: Final = 40
"""Entities in one request: some ten megabytes, and an address that is short enough for every proxy."""


class Organization(Protocol):
    """A live organisation: all its entities by name, and the definitions of some as JSON."""

    def entities(self) -> Mapping[str, Entity]: ...

    def definitions(self, entities: Sequence[str]) -> list[dict[str, Any]]: ...


def organization(live: Organization) -> Source:
    """Return the source that reads the organisation `live`."""
    return lambda wanted: _items(live, wanted)


def _items(live: Organization, wanted: set[str] | None) -> Iterator[Item]:
    """Yield every entity with records by name, and read only the wanted ones (all for None).

    The names of the others tell which targets of lookups can be read in a next step. Raises CannotRead.
    """
    with _reading():
        entities = live.entities()
    for name, entity in entities.items():
        if entity.is_intersect:
            yield Intersect(name, entity.entity_set, entity.primary_id)
    names = sorted(name for name, entity in entities.items() if not entity.is_intersect)
    requested = [name for name in names if wanted is None or name in wanted]
    for name in names:
        if wanted is not None and name not in wanted:
            # Nobody asks for the definition of an entity that is not wanted.
            yield Described(name, 0, _unread)
    for start in range(0, len(requested), _AT_ONCE):
        with _reading():
            definitions = live.definitions(requested[start : start + _AT_ONCE])
        for item in definitions:
            content = sources.item_of_json(item)
            if content is not None:
                yield content


@contextmanager
def _reading() -> Iterator[None]:
    """Raise CannotRead, which says what to do, for an organisation that does not give its metadata."""
    try:
        yield
    except PlatformError as error:
        raise CannotRead(
            f"The organisation does not give its metadata: {error} {advice_on(error)}\n"
            "manage.py checkplatform tries the way there step by step."
        ) from error


def _unread() -> SourceEntity:
    raise CannotRead("The organisation was not asked for this entity.")
