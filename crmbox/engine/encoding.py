"""Python values as the database holds them, with one function for each physical kind.

The functions raise the errors of `crmclient.value_checks` for values that cannot be written.
"""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

from crmbox.engine import money
from crmclient import value_checks
from crmclient.values import FileInfo, Reference


def encode_timestamp(value: object) -> str:
    return value_checks.moment(value).isoformat(" ", "microseconds")


def decode_timestamp(stored: str) -> dt.datetime:
    return dt.datetime.fromisoformat(stored)


def encode_options(value: object) -> str:
    """Return the values of a multi-select choice as `|1|5|`, ascending, so that equal sets have one form."""
    return "|" + "".join(f"{option}|" for option in value_checks.options(value))


def decode_options(stored: str) -> tuple[int, ...]:
    return tuple(int(option) for option in stored.strip("|").split("|") if option)


def encode_file(value: object) -> str:
    """Return a file as a JSON list of the fields of FileInfo. The record holds no bytes of the file."""
    if not isinstance(value, FileInfo):
        raise TypeError("a file is written by upload")
    return json.dumps([value.id, value.file_name, value.size, value.content_type], ensure_ascii=False)


def decode_file(stored: str) -> FileInfo:
    return FileInfo(*json.loads(stored))


def encode_scaled_money(value: object) -> int:
    """Return an amount in ten-thousandths, which fill a 64-bit integer."""
    number = money.scaled(value_checks.exact_number(value), money.MONEY_PLACES)
    if not -(2**63) <= number < 2**63:
        raise ValueError("the amount must lie between -922337203685477.5808 and 922337203685477.5807")
    return number


def encode_money(value: object) -> Decimal:
    return money.unscaled(encode_scaled_money(value), money.MONEY_PLACES)


def encode_decimal(value: object) -> Decimal:
    """Return a number with exactly ten decimal places."""
    number = money.decimal_quantum(value_checks.exact_number(value))
    # The column of PostgreSQL has 23 digits, ten of them decimal places.
    if abs(number) >= 10**13:
        raise ValueError("the number is out of range")
    return number


def encode_date(value: object) -> str:
    return value_checks.day(value).isoformat()


def encode_reference(value: object) -> str:
    return value_checks.guid(value.id if isinstance(value, Reference) else value)
