"""Values of Python as the database holds them: one function for each physical kind.

Each checks the Python type and what the kind can hold at all: TypeError for a wrong type, ValueError for a
value that does not fit, both with a message for people.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from decimal import Decimal

from crmclient.embedded import money
from crmclient.embedded.text import storable
from crmclient.values import FileInfo, Reference, parse_guid

_CANONICAL_GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
_EARLIEST, _LATEST = dt.date(1753, 1, 1), dt.date(9999, 12, 30)
_EARLIEST_TIME = dt.datetime(1753, 1, 1, tzinfo=dt.UTC)
_LATEST_TIME = dt.datetime(9999, 12, 31, tzinfo=dt.UTC)


def encode_guid(value: object) -> str:
    """A GUID in any form that people paste, as stored."""
    if not isinstance(value, str):
        raise TypeError("a GUID is needed")
    if _CANONICAL_GUID(value):
        return value
    try:
        return parse_guid(value)
    except ValueError:
        raise TypeError(f"{value!r} is not a GUID") from None


def encode_timestamp(value: object) -> str:
    if not isinstance(value, dt.datetime):
        raise TypeError("a date and time is needed")
    if value.tzinfo is None:
        raise TypeError("a date and time needs its offset from UTC")
    if not _EARLIEST_TIME <= value < _LATEST_TIME:
        raise ValueError("the date must lie between 1753-01-01 and 9999-12-30")
    return value.astimezone(dt.UTC).isoformat(" ", "microseconds")


def decode_timestamp(stored: str) -> dt.datetime:
    return dt.datetime.fromisoformat(stored)


def encode_options(value: object) -> str:
    """The values of a multi-select choice as `|1|5|`, ascending: one form for one set."""
    if not isinstance(value, tuple | list | set | frozenset):
        raise TypeError("a list of option values is needed")
    return "|" + "".join(f"{option}|" for option in sorted({whole_number(item) for item in value}))


def decode_options(stored: str) -> tuple[int, ...]:
    return tuple(int(option) for option in stored.strip("|").split("|") if option)


def encode_file(value: object) -> str:
    if not isinstance(value, FileInfo):
        raise TypeError("a file is written by upload")
    return json.dumps([value.id, value.file_name, value.size, value.content_type], ensure_ascii=False)


def decode_file(stored: str) -> FileInfo:
    return FileInfo(*json.loads(stored))


def encode_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text is needed")
    if not storable(value):
        raise ValueError("the text holds a character that cannot be stored")
    return value


def whole_number(value: object) -> int:
    if type(value) is not int:
        raise TypeError("a whole number is needed")
    return value


def encode_integer(value: object) -> int:
    number = whole_number(value)
    if not -(2**31) <= number < 2**31:
        raise ValueError("the number must lie between -2147483648 and 2147483647")
    return number


def encode_bigint(value: object) -> int:
    number = whole_number(value)
    if not -(2**63) <= number < 2**63:
        raise ValueError("the number must lie between -9223372036854775808 and 9223372036854775807")
    return number


def encode_boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false is needed")
    return value


def encode_double(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, float | int):
        raise TypeError("a number is needed")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("a finite number is needed")
    return number


def exact_number(value: object) -> Decimal:
    if type(value) is int:
        return Decimal(value)
    if not isinstance(value, Decimal):
        raise TypeError("an exact number is needed")
    if not value.is_finite():
        raise ValueError("a finite number is needed")
    if abs(value.adjusted()) > 40 and value:
        raise ValueError("the number is out of range")
    return value


def encode_scaled_money(value: object) -> int:
    number = money.scaled(exact_number(value), money.MONEY_PLACES)
    if not -(2**63) <= number < 2**63:
        raise ValueError("the amount must lie between -922337203685477.5808 and 922337203685477.5807")
    return number


def encode_money(value: object) -> Decimal:
    return money.unscaled(encode_scaled_money(value), money.MONEY_PLACES)


def encode_decimal(value: object) -> Decimal:
    number = money.decimal_quantum(exact_number(value))
    if abs(number) >= 10**13:
        raise ValueError("the number is out of range")
    return number


def encode_date(value: object) -> str:
    if isinstance(value, dt.datetime) or not isinstance(value, dt.date):
        raise TypeError("a date is needed")
    if not _EARLIEST <= value <= _LATEST:
        raise ValueError("the date must lie between 1753-01-01 and 9999-12-30")
    return value.isoformat()


def encode_reference(value: object) -> str:
    return encode_guid(value.id if isinstance(value, Reference) else value)
