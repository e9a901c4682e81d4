"""Values as bytes for another process, exact and with their types. Never pickled: bytes are only data."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson

# The integers that orjson writes.
_SMALLEST, _GREATEST = -(2**63), 2**64 - 1


class Unportable(TypeError):
    """A value of a type that is not carried over."""


def to_bytes(value: Any) -> bytes:
    """Return a value as bytes that another process can read. Raises Unportable for other types than these:

    None, bool, int, float, str, Decimal, date, datetime, and lists, tuples and mappings by text of these. A
    tuple comes back as a list.
    """
    try:
        return orjson.dumps(_packed(value))
    except orjson.JSONEncodeError as error:
        raise Unportable(str(error)) from error


def from_bytes(content: bytes) -> Any:
    """Return the value that `to_bytes` was given. Tuples have become lists."""
    return _unpacked(orjson.loads(content))


def _packed(value: Any) -> Any:
    """Return a value as JSON can hold it, with its type. Raises Unportable."""
    # A type that JSON does not have becomes an object of one member, which names the type. So does a mapping:
    # else it could be taken for such an object.
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and _SMALLEST <= value <= _GREATEST:
        return value
    # Not for NaN and infinity, which JSON lacks. NaN differs from itself.
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return value
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, dt.datetime):
        return {"time": value.isoformat()}
    if isinstance(value, dt.date):
        return {"date": value.isoformat()}
    if isinstance(value, list | tuple):
        return [_packed(item) for item in value]
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {"map": {name: _packed(member) for name, member in value.items()}}
    raise Unportable(type(value).__name__)


def _unpacked(value: Any) -> Any:
    """Return the value of which `_packed` made this one. Tuples stay lists."""
    if isinstance(value, list):
        return [_unpacked(item) for item in value]
    if not isinstance(value, dict):
        return value
    # `_packed` writes every object with one member, whose name is the type of the value.
    [(type_name, inner)] = value.items()
    if type_name == "map":
        return {name: _unpacked(member) for name, member in inner.items()}
    return _READERS[type_name](inner)


_READERS: Mapping[str, Any] = {
    "decimal": Decimal,
    "time": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
}
