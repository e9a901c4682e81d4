"""How each type of attribute is stored, and how its values are encoded and decoded.

`encode` raises TypeError for a wrong type, and ValueError for a value that does not fit. The limits of one
attribute are checked elsewhere. Neither direction gets None.
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
from crmclient import value_checks
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior


@dataclass(frozen=True, slots=True)
class Codec:
    """How one kind of value is stored: `encode` makes a database value, `decode` makes a value of it."""

    storage: Storage
    encode: Callable[[Any], DbValue]
    decode: Callable[[Any], Any]


def codec_for(attribute: Attribute, dialect_name: str) -> Codec:
    """Return the codec of an attribute on a database whose `Dialect.name` is `dialect_name`."""
    if attribute.type is AttributeType.DATETIME and attribute.behavior is DateTimeBehavior.DATE_ONLY:
        return _DATE
    if dialect_name == "sqlite" and attribute.type in _ON_SQLITE:
        return _ON_SQLITE[attribute.type]
    return _CODECS[attribute.type]


def as_stored(stored: Any) -> Any:
    """Return a stored value as it is."""
    return stored


_TEXT = Codec(Storage.TEXT, value_checks.text, as_stored)
_INTEGER = Codec(Storage.INTEGER, value_checks.integer, as_stored)
_DATE = Codec(Storage.DATE, encode_date, dt.date.fromisoformat)
_REFERENCE = Codec(Storage.GUID, encode_reference, as_stored)
_FILE = Codec(Storage.TEXT, encode_file, decode_file)

_CODECS = {
    AttributeType.STRING: _TEXT,
    AttributeType.MEMO: _TEXT,
    AttributeType.INTEGER: _INTEGER,
    AttributeType.BIGINT: Codec(Storage.BIGINT, value_checks.bigint, as_stored),
    AttributeType.DECIMAL: Codec(Storage.DECIMAL, encode_decimal, as_stored),
    AttributeType.DOUBLE: Codec(Storage.DOUBLE, value_checks.double, as_stored),
    AttributeType.MONEY: Codec(Storage.MONEY, encode_money, as_stored),
    AttributeType.BOOLEAN: Codec(Storage.BOOLEAN, value_checks.boolean, bool),
    AttributeType.DATETIME: Codec(Storage.TIMESTAMP, encode_timestamp, decode_timestamp),
    AttributeType.UNIQUEIDENTIFIER: Codec(Storage.GUID, value_checks.guid, as_stored),
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
