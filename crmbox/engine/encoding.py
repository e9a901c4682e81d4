"""Values of Python as the database holds them: one function for each physical kind.

Of a value that cannot be written at all `crmclient.fitting` says why; its errors these raise, too.
"""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

from crmbox.engine import money
from crmclient import fitting
from crmclient.values import FileInfo, Reference


def encode_timestamp(value: object) -> str:
    return fitting.moment(value).isoformat(" ", "microseconds")


def decode_timestamp(stored: str) -> dt.datetime:
    return dt.datetime.fromisoformat(stored)


def encode_options(value: object) -> str:
    """The values of a multi-select choice as `|1|5|`, ascending: one form for one set."""
    return "|" + "".join(f"{option}|" for option in fitting.options(value))


def decode_options(stored: str) -> tuple[int, ...]:
    return tuple(int(option) for option in stored.strip("|").split("|") if option)


def encode_file(value: object) -> str:
    if not isinstance(value, FileInfo):
        raise TypeError("a file is written by upload")
    return json.dumps([value.id, value.file_name, value.size, value.content_type], ensure_ascii=False)


def decode_file(stored: str) -> FileInfo:
    return FileInfo(*json.loads(stored))


def encode_scaled_money(value: object) -> int:
    number = money.scaled(fitting.exact_number(value), money.MONEY_PLACES)
    if not -(2**63) <= number < 2**63:
        raise ValueError("the amount must lie between -922337203685477.5808 and 922337203685477.5807")
    return number


def encode_money(value: object) -> Decimal:
    return money.unscaled(encode_scaled_money(value), money.MONEY_PLACES)


def encode_decimal(value: object) -> Decimal:
    number = money.decimal_quantum(fitting.exact_number(value))
    if abs(number) >= 10**13:
        raise ValueError("the number is out of range")
    return number


def encode_date(value: object) -> str:
    return fitting.day(value).isoformat()


def encode_reference(value: object) -> str:
    return fitting.guid(value.id if isinstance(value, Reference) else value)
