"""What `/api/schema` lists, found in the configuration alone: nothing has to be described for that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from designer.configuration import Endpoint
from runtime.describe.schema_parts import listed_name, place_of

# What an entity is put together from.
_OF_ENTITY = frozenset({"operations", "files", "actions", "optionsets"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One of a list: its name, what the platform calls it (a query it does not know), its endpoints' ids."""

    name: str
    platform_name: str
    ids: tuple[int, ...]


Endpoints: TypeAlias = Iterable[tuple[int, Endpoint]]
_List: TypeAlias = Callable[[Endpoints], Sequence[Entry]]


def entries(place: str, endpoints: Endpoints) -> Sequence[Entry]:
    """What stands at `place`: `entities`, `queries`, `processes` or `optionsets`."""
    return _LISTS[place](endpoints)


def _entities(endpoints: Endpoints) -> Sequence[Entry]:
    groups: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for id, endpoint in endpoints:
        if endpoint.entity is not None and place_of(endpoint) in _OF_ENTITY:
            group = groups.setdefault((endpoint.definition.module, endpoint.segment), [])
            group.append((id, endpoint.entity.entity))
    return [
        Entry(f"{module}.{segment}", group[0][1], tuple(id for id, _ in group))
        for (module, segment), group in sorted(groups.items())
    ]


def _each(place: str, endpoints: Endpoints) -> Sequence[Entry]:
    return [
        Entry(_name(place, endpoint), endpoint.definition.settings.platform_name, (id,))
        for id, endpoint in endpoints
        if place_of(endpoint) == place
    ]


def _name(place: str, endpoint: Endpoint) -> str:
    definition = endpoint.definition
    return listed_name(place, definition.module, endpoint.segment, definition.name)


_LISTS: Mapping[str, _List] = {
    "entities": _entities,
    "queries": partial(_each, "queries"),
    "processes": partial(_each, "actions"),
    "optionsets": partial(_each, "optionsets"),
}
PLACES = tuple(_LISTS)
