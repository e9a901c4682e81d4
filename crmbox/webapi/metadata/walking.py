"""Paths through the metadata: `EntityDefinitions(LogicalName='account')/Attributes/{cast}`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from crmbox.engine.snapshot import Snapshot
from crmbox.webapi.errors import WebApiError, bad_url, no_resource
from crmbox.webapi.metadata.entity_definitions import entity_item
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.metadata.option_sets import global_option_set
from crmbox.webapi.metadata.relationships import relationship_item
from crmbox.webapi.metadata.selecting import read_selection
from crmbox.webapi.model import NAMESPACE
from crmbox.webapi.paths import Argument, Segment, unquoted
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import named
from crmclient.values import parse_guid

ENTITIES: Final = "EntityDefinitions"
OPTION_SETS: Final = "GlobalOptionSetDefinitions"
RELATIONSHIPS: Final = "RelationshipDefinitions"

_DECLARED: Final = {
    ENTITIES: "EntityMetadata",
    OPTION_SETS: "OptionSetMetadataBase",
    RELATIONSHIPS: "RelationshipMetadataBase",
}


@dataclass(frozen=True, slots=True)
class Property:
    """A property of an item, where a path ends with its name."""

    item: Item
    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class Place:
    """What a path leads to. `declared` is the type that its items have unless they say otherwise; `within`
    the item whose navigation property `name` was followed, None at the top.
    """

    found: Item | list[Item] | Property | None
    declared: str
    name: str
    within: Item | None = None


def walk(snapshot: Snapshot, path: Sequence[Segment]) -> Place:
    """Raises WebApiError: 404 for what there is not."""
    first, *rest = path
    place = _top(snapshot, first)
    for segment in rest:
        place = _step(place, segment)
    return place


def _top(snapshot: Snapshot, segment: Segment) -> Place:
    name = segment.name
    place = Place(_all(snapshot, segment), _DECLARED[name], name)
    return _keyed(place, segment.arguments) if segment.arguments else place


def _all(snapshot: Snapshot, segment: Segment) -> list[Item]:
    match segment.name:
        case name if name == ENTITIES:
            return _entities(snapshot, segment.arguments or ())
        case name if name == OPTION_SETS:
            return [global_option_set(option_set) for option_set in snapshot.option_sets.values()]
    return [relationship_item(snapshot, relationship) for relationship in snapshot.relationships]


def _entities(snapshot: Snapshot, key: tuple[Argument, ...]) -> list[Item]:
    """All entities, or the one with a logical name: not a thousand for the sake of one."""
    if len(key) == 1 and key[0].name == "LogicalName":
        name = unquoted(key[0].value)
        return [entity_item(snapshot, snapshot.entity(name))] if name in snapshot else []
    return [entity_item(snapshot, stored) for stored in snapshot.entities.values()]


def _step(place: Place, segment: Segment) -> Place:
    if segment.name.startswith(f"{NAMESPACE}."):
        place = _cast(place, segment.name.removeprefix(f"{NAMESPACE}."))
    else:
        place = _followed(place, segment.name)
    return _keyed(place, segment.arguments) if segment.arguments else place


def _cast(place: Place, type: str) -> Place:
    if isinstance(place.found, list):
        items = [item for item in place.found if item.is_a(type)]
        return Place(items, type, place.name, place.within)
    if isinstance(place.found, Item) and place.found.is_a(type):
        return Place(place.found, type, place.name, place.within)
    raise no_resource(f"{NAMESPACE}.{type}")


def _followed(place: Place, name: str) -> Place:
    item = place.found
    if not isinstance(item, Item):
        raise no_resource(name)
    if name in item.navigations:
        found = item.navigations[name]()
        return Place(found, _declared(name, found), name, item)
    if name in item.properties:
        return Place(Property(item, name, item.properties[name]), "", name, item)
    raise no_resource(name)


def _declared(name: str, found: Item | list[Item] | None) -> str:
    if name == "Attributes":
        return "AttributeMetadata"
    one = found[0] if isinstance(found, list) and found else found
    return one.type if isinstance(one, Item) else ""


def _keyed(place: Place, arguments: tuple[Argument, ...]) -> Place:
    if not isinstance(place.found, list):
        raise no_resource(place.name)
    if len(arguments) != 1:
        raise bad_url(f"{place.name}: a key is one value.")
    [argument] = arguments
    for item in place.found:
        if _has_key(item, argument):
            return Place(item, place.declared, place.name, place.within)
    key = f"{argument.name or 'MetadataId'} = {argument.value}"
    raise WebApiError(404, "0x80040217", f"Could not find an item of {place.name} with {key}.")


def _has_key(item: Item, argument: Argument) -> bool:
    if argument.name in (None, "MetadataId"):
        try:
            return item.id == parse_guid(unquoted(argument.value))
        except ValueError:
            raise bad_url(f"{argument.value} is no MetadataId.") from None
    if argument.name not in item.keys:
        raise bad_url(f"'{argument.name}' is no key of {item.type}.")
    return bool(item.properties[argument.name] == unquoted(argument.value))


@named(ENTITIES, "GET")
@named(OPTION_SETS, "GET")
@named(RELATIONSHIPS, "GET")
def read(request: Request) -> Response:
    place = walk(request.model.snapshot, request.path)
    return json_response(_content(request, place))


def _content(request: Request, place: Place) -> dict[str, Any]:
    selection = read_selection(request.query)
    context = f"{request.base}$metadata#{_address(request)}"
    found = place.found
    if isinstance(found, Property):
        return {"@odata.context": context, "value": found.value}
    if isinstance(found, list):
        kept = selection.kept(found)
        counted = {"@odata.count": len(kept)} if request.query.get("$count", "").lower() == "true" else {}
        content = [selection.content(item, base=place.declared) for item in kept]
        return {"@odata.context": context, **counted, "value": content}
    if not isinstance(found, Item):
        raise no_resource(place.name)
    return {"@odata.context": f"{context}/$entity", **selection.content(found, base=place.declared)}


def _address(request: Request) -> str:
    """The path as written, without a key at its end."""
    path, bracket, _ = request.raw_path.rpartition("(")
    return path if bracket and request.raw_path.endswith(")") else request.raw_path
