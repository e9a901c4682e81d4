"""How each type of attribute is stored, and how its values get there and back.

`encode` raises as `encoding` says: TypeError for a wrong type, ValueError for a value that does not fit. What
one attribute allows beyond that is in `limits`. Neither direction sees None.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crmbox.engine import money
from crmbox.engine.dialects.base import DbValue, Storage
from crmbox.engine.encoding import (
    decode_file,
    decode_options,
    decode_timestamp,
    encode_date,
    encode_decimal,
    encode_file,
    encode_money,
    encode_options,
    encode_reference,
    encode_scaled_money,
    encode_timestamp,
)
from crmclient import fitting
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior


@dataclass(frozen=True, slots=True)
class Codec:
    """How one kind of value is stored."""

    storage: Storage
    encode: Callable[[Any], DbValue]
    decode: Callable[[Any], Any]


def codec_for(attribute: Attribute, dialect_name: str) -> Codec:
    """The codec of an attribute on the database of `Dialect.name`."""
    if attribute.type is AttributeType.DATETIME and attribute.behavior is DateTimeBehavior.DATE_ONLY:
        return _DATE
    if dialect_name == "sqlite" and attribute.type in _ON_SQLITE:
        return _ON_SQLITE[attribute.type]
    return _CODECS[attribute.type]


def as_stored(stored: Any) -> Any:
    return stored


_TEXT = Codec(Storage.TEXT, fitting.text, as_stored)
_INTEGER = Codec(Storage.INTEGER, fitting.integer, as_stored)
_DATE = Codec(Storage.DATE, encode_date, dt.date.fromisoformat)
_REFERENCE = Codec(Storage.GUID, encode_reference, as_stored)
_FILE = Codec(Storage.TEXT, encode_file, decode_file)

_CODECS = {
    AttributeType.STRING: _TEXT,
    AttributeType.MEMO: _TEXT,
    AttributeType.INTEGER: _INTEGER,
    AttributeType.BIGINT: Codec(Storage.BIGINT, fitting.bigint, as_stored),
    AttributeType.DECIMAL: Codec(Storage.DECIMAL, encode_decimal, as_stored),
    AttributeType.DOUBLE: Codec(Storage.DOUBLE, fitting.double, as_stored),
    AttributeType.MONEY: Codec(Storage.MONEY, encode_money, as_stored),
    AttributeType.BOOLEAN: Codec(Storage.BOOLEAN, fitting.boolean, bool),
    AttributeType.DATETIME: Codec(Storage.TIMESTAMP, encode_timestamp, decode_timestamp),
    AttributeType.UNIQUEIDENTIFIER: Codec(Storage.GUID, fitting.guid, as_stored),
    AttributeType.PICKLIST: _INTEGER,
    AttributeType.MULTISELECT: Codec(Storage.TEXT, encode_options, decode_options),
    AttributeType.STATE: _INTEGER,
    AttributeType.STATUS: _INTEGER,
    AttributeType.LOOKUP: _REFERENCE,
    AttributeType.CUSTOMER: _REFERENCE,
    AttributeType.OWNER: _REFERENCE,
    AttributeType.FILE: _FILE,
    AttributeType.IMAGE: _FILE,
}

_ON_SQLITE = {
    AttributeType.MONEY: Codec(
        Storage.MONEY, encode_scaled_money, lambda stored: money.unscaled(stored, money.MONEY_PLACES)
    ),
    AttributeType.DECIMAL: Codec(
        Storage.DECIMAL, lambda value: money.ordered_text(encode_decimal(value)), money.from_ordered_text
    ),
}
