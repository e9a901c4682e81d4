"""Attribute values going out: how each is written, and the JSON Schema of what is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

import orjson

from crmclient import Reference
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior

# From a value (never None) to what `rendering` makes JSON of.
Writer: TypeAlias = Callable[[Any], Any]

_GUID = {"type": "string", "format": "uuid"}
_WHOLE = {"type": "integer"}
_TEXT = {"type": "string"}
_FILE = {
    "type": "object",
    "properties": {"id": _GUID, "fileName": _TEXT, "size": {"type": "integer", "description": "In bytes."}},
    "required": ["id", "fileName", "size"],
    "additionalProperties": False,
}
_SCHEMAS: Mapping[AttributeType, dict[str, Any]] = {
    AttributeType.STRING: _TEXT,
    AttributeType.MEMO: _TEXT,
    AttributeType.INTEGER: _WHOLE,
    AttributeType.BIGINT: _WHOLE,
    AttributeType.DECIMAL: {"type": "number"},
    AttributeType.MONEY: {"type": "number"},
    AttributeType.DOUBLE: {"type": "number", "format": "double"},
    AttributeType.BOOLEAN: {"type": "boolean"},
    AttributeType.UNIQUEIDENTIFIER: _GUID,
    AttributeType.PICKLIST: _WHOLE,
    AttributeType.STATE: _WHOLE,
    AttributeType.STATUS: _WHOLE,
    AttributeType.MULTISELECT: {"type": "array", "items": _WHOLE},
    AttributeType.FILE: _FILE,
    AttributeType.IMAGE: _FILE,
}


def writer(attribute: Attribute) -> Writer | None:
    """How values of `attribute` are written; None: as they are."""
    if attribute.type.is_reference:
        return _with_type if _is_polymorphic(attribute) else _without_type
    if attribute.type in (AttributeType.MONEY, AttributeType.DECIMAL) and attribute.precision is not None:
        return _exact(attribute.precision)
    return None


def schema(attribute: Attribute) -> dict[str, Any]:
    """The JSON Schema of what is written for `attribute`; any but a record's own id may be null."""
    found = _schema(attribute)
    description = attribute.label.text() or attribute.description.text()
    kinds = found["type"] if attribute.is_primary_id else [found["type"], "null"]
    return {**found, "type": kinds, **({"description": description} if description else {})}


def _schema(attribute: Attribute) -> dict[str, Any]:
    if attribute.type is AttributeType.DATETIME:
        by_day = attribute.behavior is DateTimeBehavior.DATE_ONLY
        return {"type": "string", "format": "date" if by_day else "date-time"}
    if attribute.type.is_reference:
        return _reference_schema(attribute)
    return _SCHEMAS[attribute.type]


def _reference_schema(attribute: Attribute) -> dict[str, Any]:
    properties: dict[str, Any] = {"id": _GUID, "name": {"type": ["string", "null"]}}
    if _is_polymorphic(attribute):
        properties = {"type": _TEXT, **properties}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _is_polymorphic(attribute: Attribute) -> bool:
    return len(attribute.targets) != 1


def _with_type(value: Reference) -> dict[str, Any]:
    return {"type": value.entity, "id": value.id, "name": value.name}


def _without_type(value: Reference) -> dict[str, Any]:
    return {"id": value.id, "name": value.name}


def _exact(precision: int) -> Writer:
    as_it_is = Decimal(1).scaleb(-precision)

    def write(value: Decimal) -> orjson.Fragment:
        if value.same_quantum(as_it_is):
            return orjson.Fragment(f"{value:f}")
        exponent = value.as_tuple().exponent
        # More places than the metadata says are the platform's business: nothing is rounded here.
        places = max(precision, -exponent) if isinstance(exponent, int) else precision
        return orjson.Fragment(f"{value:.{places}f}")

    return write
