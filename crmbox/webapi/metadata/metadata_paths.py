"""Paths through the metadata: `EntityDefinitions(LogicalName='account')/Attributes/{cast}`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from crmbox.engine.snapshot import Snapshot
from crmbox.webapi.errors import WebApiError, bad_url, no_resource
from crmbox.webapi.metadata.entity_definitions import entity_item
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.metadata.metadata_options import read_selection
from crmbox.webapi.metadata.option_sets import global_option_set
from crmbox.webapi.metadata.relationships import relationship_item
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
    """A property of an item. It is the target of a path that ends with its name."""

    item: Item
    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class MetadataPlace:
    """The place that a path leads to.

    `target` is an item, a list of items, a property of an item, or None for a navigation property without a
    target. `declared` is the type of the items unless they name another. `name` is the last name of the path,
    casts aside. `within` is the item with the navigation property `name`; None at the top.
    """

    target: Item | list[Item] | Property | None
    declared: str
    name: str
    within: Item | None = None


def walk(snapshot: Snapshot, path: Sequence[Segment]) -> MetadataPlace:
    """Follow `path` from the top of the metadata. Raises WebApiError; 404 if it leads nowhere."""
    first, *rest = path
    place = _top(snapshot, first)
    for segment in rest:
        place = _step(place, segment)
    return place


def _top(snapshot: Snapshot, segment: Segment) -> MetadataPlace:
    """Return the place of the first segment: a collection of the metadata, or one of its items."""
    name = segment.name
    place = MetadataPlace(_items_of(snapshot, segment), _DECLARED[name], name)
    return _item_by_key(place, segment.arguments) if segment.arguments else place


def _items_of(snapshot: Snapshot, segment: Segment) -> list[Item]:
    """Return the items of the collection that a path begins with."""
    match segment.name:
        case name if name == ENTITIES:
            return _entities(snapshot, segment.arguments or ())
        case name if name == OPTION_SETS:
            return [global_option_set(option_set) for option_set in snapshot.option_sets.values()]
    return [relationship_item(snapshot, relationship) for relationship in snapshot.relationships]


def _entities(snapshot: Snapshot, key: tuple[Argument, ...]) -> list[Item]:
    """Return all entities, or only the one of a logical name, to not build a thousand items for one."""
    if len(key) == 1 and key[0].name == "LogicalName":
        name = unquoted(key[0].value)
        return [entity_item(snapshot, snapshot.entity(name))] if name in snapshot else []
    return [entity_item(snapshot, stored) for stored in snapshot.entities.values()]


def _step(place: MetadataPlace, segment: Segment) -> MetadataPlace:
    """Go on from a place by one segment: a cast to a type or a property, and by the key behind it, if any."""
    if segment.name.startswith(f"{NAMESPACE}."):
        place = _cast(place, segment.name.removeprefix(f"{NAMESPACE}."))
    else:
        place = _follow(place, segment.name)
    return _item_by_key(place, segment.arguments) if segment.arguments else place


def _cast(place: MetadataPlace, type: str) -> MetadataPlace:
    """Keep the items that are of `type`."""
    if isinstance(place.target, list):
        items = [item for item in place.target if item.is_a(type)]
        return MetadataPlace(items, type, place.name, place.within)
    if isinstance(place.target, Item) and place.target.is_a(type):
        return MetadataPlace(place.target, type, place.name, place.within)
    raise no_resource(f"{NAMESPACE}.{type}")


def _follow(place: MetadataPlace, name: str) -> MetadataPlace:
    """Go on from an item to its navigation property or property `name`."""
    item = place.target
    if not isinstance(item, Item):
        raise no_resource(name)
    if name in item.navigations:
        target = item.navigations[name]()
        return MetadataPlace(target, _declared_type(name, target), name, item)
    if name in item.properties:
        return MetadataPlace(Property(item, name, item.properties[name]), "", name, item)
    raise no_resource(name)


def _declared_type(name: str, target: Item | list[Item] | None) -> str:
    """Return the type that the items of the navigation property `name` have; empty without any item."""
    # The attributes of an entity are of many types, so the first one does not tell.
    if name == "Attributes":
        return "AttributeMetadata"
    item = target[0] if isinstance(target, list) and target else target
    return item.type if isinstance(item, Item) else ""


def _item_by_key(place: MetadataPlace, arguments: tuple[Argument, ...]) -> MetadataPlace:
    """Go on from a list to its item with the key in parentheses.

    An argument without a name is a MetadataId.
    """
    if not isinstance(place.target, list):
        raise no_resource(place.name)
    if len(arguments) != 1:
        raise bad_url(f"{place.name}: a key is one value.")
    [argument] = arguments
    for item in place.target:
        if _has_key(item, argument):
            return MetadataPlace(item, place.declared, place.name, place.within)
    key = f"{argument.name or 'MetadataId'} = {argument.value}"
    raise WebApiError(404, "0x80040217", f"Could not find an item of {place.name} with {key}.")


def _has_key(item: Item, argument: Argument) -> bool:
    """Whether an item has the key in parentheses. Raises WebApiError for a property that is no key."""
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


def _content(request: Request, place: MetadataPlace) -> dict[str, Any]:
    """Return the JSON of what the path leads to: one item, several, or a property."""
    selection = read_selection(request.query)
    context = f"{request.base}$metadata#{_address(request)}"
    target = place.target
    if isinstance(target, Property):
        return {"@odata.context": context, "value": target.value}
    if isinstance(target, list):
        selected = selection.matching(target)
        counted = {"@odata.count": len(selected)} if request.query.get("$count", "").lower() == "true" else {}
        content = [selection.content(item, base=place.declared) for item in selected]
        return {"@odata.context": context, **counted, "value": content}
    if not isinstance(target, Item):
        raise no_resource(place.name)
    return {"@odata.context": f"{context}/$entity", **selection.content(target, base=place.declared)}


def _address(request: Request) -> str:
    """Return the path as written, without a key at its end."""
    path, bracket, _ = request.raw_path.rpartition("(")
    return path if bracket and request.raw_path.endswith(")") else request.raw_path
