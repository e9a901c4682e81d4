"""Parts of `/api/schema` as fragments keep them, with labels in every language, and their lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias

from crmclient import Platform
from crmclient.known_options import known_options
from crmclient.metadata import Attribute, Label, OptionSet
from designer.configuration import Endpoint
from designer.types import TYPES
from runtime.describe.documentation import documentation_of
from runtime.http.rendering import JSON
from runtime.operations.base import Description
from runtime.values.fields import Field

# The places of endpoints that are described together as one entity.
_OF_ENTITY = frozenset({"operations", "files", "actions", "optionsets"})


# A part of `/api/schema`, or something in it, as it is read back: what `part_of` returned.
Part: TypeAlias = Mapping[str, Any]


def part_of(endpoint: Endpoint, described: Description, platform: Platform) -> dict[str, Any]:
    """Return the part of `/api/schema` about `endpoint`, whose operation gives `described`."""
    definition = endpoint.definition
    documentation = documentation_of(endpoint)
    part: dict[str, Any] = {
        "place": place_of(endpoint),
        "kind": definition.kind,
        "module": definition.module,
        "segment": endpoint.segment,
        "name": definition.name,
        "entity": "" if endpoint.entity is None else endpoint.entity.entity,
        "call": {
            "method": endpoint.methods[0],
            "path": endpoint.path,
            "title": documentation.summary,
            "description": documentation.description,
            "authenticated": definition.access.authentication_required,
            "roles": list(definition.access.roles),
        },
        "fields": [_field_part(field, platform) for field in described.fields],
        "columns": [_field_part(column, platform) for column in described.columns],
        "parameters": [
            _parameter_part(parameter) for parameter in described.parameters if parameter["in"] == "query"
        ],
        "headers": [
            _header_part(parameter) for parameter in described.parameters if parameter["in"] == "header"
        ],
        "schema": _schema_of_body(described),
        "media": sorted(described.bodies) if described.body is None else [JSON],
    }
    if endpoint.item_path is not None:
        part["call"]["itemPath"] = endpoint.item_path
    if endpoint.kind.meanings:
        part["call"]["methods"] = list(endpoint.methods)
    if described.related:
        part["related"] = described.related
    if described.option_set is not None:
        part["optionSet"] = _option_set_part(described.option_set)
    query = definition.settings.designed_query
    if query is not None and definition.settings.lists_records:
        part["rows"] = {"entity": query.entity, **_id_and_name_columns(described.columns)}
    return part


def _id_and_name_columns(columns: Iterable[Field]) -> dict[str, str | None]:
    """Return the columns that hold the id and the name of the record that a row is of; None for one that is
    missing.
    """
    named_attributes = [(column.name, column.attribute) for column in columns if column.attribute is not None]
    return {
        "id": next((name for name, attribute in named_attributes if attribute.is_primary_id), None),
        "name": next((name for name, attribute in named_attributes if attribute.is_primary_name), None),
    }


def _schema_of_body(described: Description) -> dict[str, Any] | None:
    """Return the JSON Schema of the body, JSON or a form; None without such a body."""
    if described.body is not None:
        return described.body
    return next((schema for schema in described.bodies.values() if "properties" in schema), None)


def place_of(endpoint: Endpoint) -> str:
    """Return the list in which the endpoint stands: `optionsets`, `queries`, `files`, `actions`, or
    `operations`.
    """
    return endpoint.kind.place.value


def listed_name(place: str, module: str, segment: str, name: str) -> str:
    """Return the name of a part in addresses and lists: `module.segment.name`.

    Operations have no name of their own, and queries no segment.
    """
    match place:
        case "operations":
            name = ""
        case "queries":
            segment = ""
    return ".".join(text for text in (module, segment, name) if text)


def name_of(part: Part) -> str:
    """Return the name of a part in addresses and lists."""
    return listed_name(part["place"], part["module"], part["segment"], part["name"])


def operation_of(part: Part) -> str:
    """Return the key of an operation within its entity: the kind, followed by the name if the kind
    has one.
    """
    return ".".join(text for text in (part["kind"], part["name"]) if text)


def _field_part(field: Field, platform: Platform) -> dict[str, Any]:
    """Return the description of an input: what it takes, and what the platform says of its attribute."""
    attribute = field.attribute
    part: dict[str, Any] = {
        "name": field.name,
        "type": field.type,
        "required": field.required,
        "nullable": _takes_null(field.schema),
        "label": field.label or ({} if attribute is None else _texts(attribute.label)),
        "description": field.description or ({} if attribute is None else _texts(attribute.description)),
        **_limits(field.schema),
    }
    if attribute is not None:
        part |= _facts_of_attribute(attribute, platform)
    places = _decimal_places(field)
    if places is not None:
        part["precision"] = places
    if field.items:
        part["items"] = [_field_part(item, platform) for item in field.items]
        # An object with properties is a list that is sent as its changes, such as what is added to it, unless
        # the type holds a single record, which is an object, too.
        if "properties" in field.schema and not TYPES[field.type].holds_one:
            part["changes"] = True
    return part


def _decimal_places(field: Field) -> int | None:
    """Return how many decimal places a value may have; None when nothing limits them.

    The lower one of the limits of the attribute and of the type counts.
    """
    places_of_attribute = None if field.attribute is None else field.attribute.precision
    step = field.schema.get("multipleOf")
    if step is None:
        return places_of_attribute
    exponent = Decimal(str(step)).normalize().as_tuple().exponent
    places_of_type = max(0, -exponent) if isinstance(exponent, int) else 0
    return places_of_type if places_of_attribute is None else min(places_of_type, places_of_attribute)


def _facts_of_attribute(attribute: Attribute, platform: Platform) -> dict[str, Any]:
    """Return what the platform says of an attribute: the targets of a lookup, and the source of an option
    set.
    """
    facts: dict[str, Any] = {}
    if attribute.targets:
        facts["targets"] = list(attribute.targets)
    option_set = known_options(attribute, platform.option_set)
    if option_set is not None:
        # An entity, or None for a global option set; the name of the set; and that of the attribute.
        facts["optionSet"] = [option_set.entity, option_set.name, attribute.logical_name]
    return facts


# JSON Schema's words, and ours.
_LIMITS = {
    "maxLength": "maxLength",
    "minLength": "minLength",
    "maxItems": "maxItems",
    "minItems": "minItems",
    "maximum": "max",
    "minimum": "min",
    "pattern": "pattern",
    "default": "default",
}


def _limits(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the limits of a value, and the values that are allowed, by the words of `/api/schema`; for a
    list, those that its items may have.
    """
    limits = {name: schema[word] for word, name in _LIMITS.items() if word in schema}
    values = schema.get("enum") or schema.get("items", {}).get("enum", ())
    allowed = [value for value in values if value is not None]
    return {**limits, "allowed": allowed} if allowed else limits


def _takes_null(schema: Mapping[str, Any]) -> bool:
    """Whether a schema allows null."""
    kinds = schema.get("type", ())
    return kinds == "null" or (not isinstance(kinds, str) and "null" in kinds)


def _parameter_part(openapi_parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Return a query parameter as parts keep it."""
    return {
        "name": openapi_parameter["name"],
        "required": openapi_parameter.get("required", False),
        "description": openapi_parameter.get("description", ""),
        "schema": openapi_parameter["schema"],
    }


def _header_part(openapi_header: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request header as parts keep it."""
    return {
        "name": openapi_header["name"],
        "required": openapi_header.get("required", False),
        "description": openapi_header.get("description", ""),
    }


def _option_set_part(option_set: OptionSet) -> dict[str, Any]:
    """Return an option set as parts keep it: with labels in every language."""
    return {
        "source": [option_set.entity, option_set.name],
        "label": _texts(option_set.label),
        "options": [
            {"value": option.value, "label": _texts(option.label), "color": option.color}
            for option in option_set.options
        ],
    }


def _texts(label: Label) -> Mapping[str, str]:
    """Return the texts of a label by LCID, as JSON has it: keys are texts."""
    return {str(language): text for language, text in label.texts.items()}


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a list: its name, the platform's name for it, and the ids of its endpoints.

    The platform's name of a query is empty: the platform does not know queries.
    """

    name: str
    platform_name: str
    ids: tuple[int, ...]


Endpoints: TypeAlias = Iterable[tuple[int, Endpoint]]
_List: TypeAlias = Callable[[Endpoints], Sequence[Entry]]


def entries(list_name: str, endpoints: Endpoints) -> Sequence[Entry]:
    """Return the entries of a list: `entities`, `queries`, `processes` or `optionsets`."""
    return _LISTS[list_name](endpoints)


def _entities(endpoints: Endpoints) -> Sequence[Entry]:
    """Return the entries of exposed entities, each with the endpoints that it has."""
    groups: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for id, endpoint in endpoints:
        if endpoint.entity is not None and place_of(endpoint) in _OF_ENTITY:
            group = groups.setdefault((endpoint.definition.module, endpoint.segment), [])
            group.append((id, endpoint.entity.entity))
    return [
        Entry(f"{module}.{segment}", group[0][1], tuple(id for id, _ in group))
        for (module, segment), group in sorted(groups.items())
    ]


def _one_entry_per_endpoint(place: str, endpoints: Endpoints) -> Sequence[Entry]:
    """Return the entries of a list in which each endpoint is an entry. `place` is where such endpoints
    stand.
    """
    return [
        Entry(_name_in_list(place, endpoint), endpoint.definition.settings.platform_name, (id,))
        for id, endpoint in endpoints
        if place_of(endpoint) == place
    ]


def _name_in_list(place: str, endpoint: Endpoint) -> str:
    """Return the name of an endpoint in a list."""
    definition = endpoint.definition
    return listed_name(place, definition.module, endpoint.segment, definition.name)


_LISTS: Mapping[str, _List] = {
    "entities": _entities,
    "queries": partial(_one_entry_per_endpoint, "queries"),
    "processes": partial(_one_entry_per_endpoint, "actions"),
    "optionsets": partial(_one_entry_per_endpoint, "optionsets"),
}
LIST_NAMES = tuple(_LISTS)
