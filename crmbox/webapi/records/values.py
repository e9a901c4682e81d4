"""Property values of a body as the platform's values, by the type of the attribute."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from crmclient.errors import InvalidValue, WrongType
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior
from crmclient.query.literals import read_date, read_whole
from crmclient.values import Value


def read_value(attribute: Attribute, raw: Any) -> Value:
    """Read a JSON value. Raises InvalidValue for a wrong type.

    The platform checks the limits of the attribute.
    """
    if raw is None:
        return None
    try:
        return _READERS.get(attribute.type, _as_it_is)(attribute, raw)
    except ValueError as error:
        raise wrong_type(attribute, f"{str(error)[:1].upper()}{str(error)[1:]}.") from None


def wrong_type(attribute: Attribute, message: str) -> InvalidValue:
    return WrongType(attribute.logical_name, message)


def _as_it_is(attribute: Attribute, raw: Any) -> Value:
    """Return a value that JSON has in its own type already. Raises ValueError for a list or an object."""
    if isinstance(raw, list | dict):
        raise ValueError("a single value is needed")  # noqa: TRY004  read_value makes a WrongType of it
    return raw  # type: ignore[no-any-return]


def _boolean(attribute: Attribute, raw: Any) -> Value:
    return bool(raw) if type(raw) is int and raw in (0, 1) else _as_it_is(attribute, raw)


def _read_whole_number(attribute: Attribute, raw: Any) -> Value:
    """Read a whole number.

    Clients that ask for IEEE754Compatible send BigInt as text. 5.0 is a whole number too.
    """
    if isinstance(raw, str):
        return read_whole(raw)
    # A number such as 1E+999999 would take long to become an `int`.
    if isinstance(raw, Decimal) and raw == raw.to_integral_value() and raw.adjusted() < 20:
        return int(raw)
    return _as_it_is(attribute, raw)


def _double(attribute: Attribute, raw: Any) -> Value:
    return float(raw) if isinstance(raw, Decimal) else _as_it_is(attribute, raw)


def _exact(attribute: Attribute, raw: Any) -> Value:
    return Decimal(raw) if type(raw) is int else _as_it_is(attribute, raw)


def _options(attribute: Attribute, raw: Any) -> Value:
    """Read the options of a multi-select choice: a text such as `1,9`, or one number. Raises ValueError."""
    if type(raw) is int:
        return (raw,)
    if not isinstance(raw, str):
        raise ValueError('the values of options are needed, such as "1,9"')  # noqa: TRY004
    return tuple(sorted({read_whole(part) for part in raw.split(",") if part.strip()}))


def _date(attribute: Attribute, raw: Any) -> Value:
    """Read a date or time.

    A time without an offset is UTC. A date without a time is the beginning of the day.
    """
    if not isinstance(raw, str):
        raise ValueError("a date is needed, such as 2026-01-31T13:30:00Z")  # noqa: TRY004
    value = read_date(raw)
    if attribute.behavior is DateTimeBehavior.DATE_ONLY:
        return value.date() if isinstance(value, dt.datetime) else value
    if not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time.min)
    return value if value.tzinfo is not None else value.replace(tzinfo=dt.UTC)


_READERS: dict[AttributeType, Callable[[Attribute, Any], Value]] = {
    AttributeType.BOOLEAN: _boolean,
    AttributeType.INTEGER: _read_whole_number,
    AttributeType.BIGINT: _read_whole_number,
    AttributeType.PICKLIST: _read_whole_number,
    AttributeType.STATE: _read_whole_number,
    AttributeType.STATUS: _read_whole_number,
    AttributeType.DOUBLE: _double,
    AttributeType.DECIMAL: _exact,
    AttributeType.MONEY: _exact,
    AttributeType.MULTISELECT: _options,
    AttributeType.DATETIME: _date,
}
