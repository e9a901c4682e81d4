"""Attribute values going out: how each is written, and the JSON Schema of what is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import ROUND_HALF_UP, Context, Decimal, Inexact
from typing import Any, Final, TypeAlias

import orjson

from crmclient import Party, Reference
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior

# Takes a value (never None), and returns what `rendering` writes as JSON.
Writer: TypeAlias = Callable[[Any], Any]

# More digits than any platform keeps, so that only a digit that would be lost is an error.
_EXACT: Final = Context(prec=100, traps=[Inexact])
_ROUNDING: Final = Context(prec=100, rounding=ROUND_HALF_UP)
# Beyond it a double has no digits after the point.
_LARGEST_FLOAT: Final = 2.0**53

_GUID = {"type": "string", "format": "uuid"}
_WHOLE = {"type": "integer"}
_TEXT = {"type": "string"}
_FILE = {
    "type": "object",
    "properties": {"id": _GUID, "fileName": _TEXT, "size": {"type": "integer", "description": "In bytes."}},
    "required": ["id", "fileName", "size"],
    "additionalProperties": False,
}
_PARTY = {
    "type": "object",
    "properties": {
        "type": {"type": ["string", "null"]},
        "id": {"type": ["string", "null"], "format": "uuid"},
        "name": {"type": ["string", "null"]},
        "address": {"type": ["string", "null"]},
    },
    "required": ["type", "id", "name", "address"],
    "additionalProperties": False,
}
_SCHEMAS: Mapping[AttributeType, dict[str, Any]] = {
    AttributeType.STRING: _TEXT,
    AttributeType.MEMO: _TEXT,
    AttributeType.INTEGER: _WHOLE,
    AttributeType.BIGINT: {"type": "integer", "format": "int64"},
    AttributeType.DECIMAL: {"type": "number", "format": "decimal"},
    AttributeType.MONEY: {"type": "number", "format": "decimal"},
    AttributeType.DOUBLE: {"type": "number", "format": "double"},
    AttributeType.BOOLEAN: {"type": "boolean"},
    AttributeType.UNIQUEIDENTIFIER: _GUID,
    AttributeType.PICKLIST: _WHOLE,
    AttributeType.STATE: _WHOLE,
    AttributeType.STATUS: _WHOLE,
    AttributeType.MULTISELECT: {"type": "array", "items": _WHOLE},
    AttributeType.FILE: _FILE,
    AttributeType.IMAGE: _FILE,
    AttributeType.PARTYLIST: {"type": "array", "items": _PARTY},
}


def writer(attribute: Attribute) -> Writer | None:
    """Return the function that writes values of `attribute`; None when they are written as they are."""
    if attribute.type.is_reference:
        write = _write_with_type if _is_polymorphic(attribute) else _write_without_type
        return _list_writer(write) if attribute.is_several else write
    if attribute.type.holds_parties:
        return _list_writer(_write_party)
    if attribute.type in (AttributeType.MONEY, AttributeType.DECIMAL):
        return _decimal_writer(attribute.precision or 0)
    if attribute.type is AttributeType.DOUBLE and attribute.precision is not None:
        return _float_writer(attribute.precision)
    return None


def with_places(value: Decimal, places: int) -> Decimal:
    """Return the same number with `places` decimal places, filled up with zeros as platforms do.

    Further digits stay: an answer does not round a value that is older than the attribute's precision.
    """
    try:
        return value.quantize(Decimal(1).scaleb(-places), context=_EXACT)
    except Inexact:
        return value.normalize(_EXACT)


def rounded(value: Decimal, places: int) -> Decimal:
    """Return a calculated number rounded to `places` decimal places, half away from zero."""
    return value.quantize(Decimal(1).scaleb(-places), context=_ROUNDING)


def rounded_float(value: float, places: int) -> float:
    """Return a float rounded as `rounded` does it. The digits of its shortest notation are rounded."""
    return float(rounded(Decimal(repr(value)), places)) if abs(value) < _LARGEST_FLOAT else value


def schema(attribute: Attribute) -> dict[str, Any]:
    """Return the JSON Schema of an answered value of `attribute`. Every value but the record's own id may be
    null.
    """
    bare_schema = _bare_schema(attribute)
    description = attribute.label.text() or attribute.description.text()
    json_types = bare_schema["type"] if attribute.is_primary_id else [bare_schema["type"], "null"]
    return {**bare_schema, "type": json_types, **({"description": description} if description else {})}


def _bare_schema(attribute: Attribute) -> dict[str, Any]:
    """Return the JSON Schema of a value without null and without a description."""
    if attribute.is_several:
        return {"type": "array", "items": _bare_schema(replace(attribute, is_several=False))}
    if attribute.type is AttributeType.DATETIME:
        by_day = attribute.behavior is DateTimeBehavior.DATE_ONLY
        return {"type": "string", "format": "date" if by_day else "date-time"}
    if attribute.type.is_reference:
        return _reference_schema(attribute)
    return _SCHEMAS[attribute.type]


def _reference_schema(attribute: Attribute) -> dict[str, Any]:
    """Return the JSON Schema of a lookup: id and name and, if records of several entities are possible, their
    entity.
    """
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
    """Whether the lookup may refer to records of several entities."""
    return len(attribute.targets) != 1


def _list_writer(write: Writer) -> Writer:
    """Return the function that writes each value of a list by `write`."""
    return lambda values: [write(value) for value in values]


def _write_party(value: Party) -> dict[str, Any]:
    """Write one party of an activity: the record that it stands for, and its address. A party without a
    record has an address only.
    """
    record = {"type": None, "id": None, "name": None}
    if value.reference is not None:
        record = _write_with_type(value.reference)
    return {**record, "address": value.address}


def _write_with_type(value: Reference) -> dict[str, Any]:
    """Write a lookup with the entity of the record."""
    return {"type": value.entity, "id": value.id, "name": value.name}


def _write_without_type(value: Reference) -> dict[str, Any]:
    """Write a lookup whose entity is always the same."""
    return {"id": value.id, "name": value.name}


def _decimal_writer(places: int) -> Writer:
    """Return the function that writes exact numbers with `places` decimal places, and with more if they have
    more.
    """
    as_it_is = Decimal(1).scaleb(-places)

    def write(value: Decimal) -> orjson.Fragment:
        # Most values have just so many places already.
        exact = value if value.same_quantum(as_it_is) else with_places(value, places)
        return orjson.Fragment(f"{exact:f}")

    return write


def _float_writer(places: int) -> Writer:
    """Return the function that writes floats as `_decimal_writer` writes exact numbers, by their shortest
    notation.
    """
    write = _decimal_writer(places)
    return lambda value: write(Decimal(repr(value))) if abs(value) < _LARGEST_FLOAT else value
