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


def read_value(attribute: Attribute, given: Any) -> Value:
    """Read a JSON value. Raises InvalidValue for a wrong type.

    The platform checks the limits of the attribute.
    """
    if given is None:
        return None
    try:
        return _READERS.get(attribute.type, _as_it_is)(attribute, given)
    except ValueError as error:
        raise wrong_type(attribute, f"{str(error)[:1].upper()}{str(error)[1:]}.") from None


def wrong_type(attribute: Attribute, message: str) -> InvalidValue:
    return WrongType(attribute.logical_name, message)


def _as_it_is(attribute: Attribute, given: Any) -> Value:
    if isinstance(given, list | dict):
        raise ValueError("a single value is needed")  # noqa: TRY004  read_value makes a WrongType of it
    return given  # type: ignore[no-any-return]


def _boolean(attribute: Attribute, given: Any) -> Value:
    return bool(given) if type(given) is int and given in (0, 1) else _as_it_is(attribute, given)


def _read_whole_number(attribute: Attribute, given: Any) -> Value:
    """Read a whole number.

    Clients that ask for IEEE754Compatible send BigInt as text. 5.0 is a whole number too.
    """
    if isinstance(given, str):
        return read_whole(given)
    if isinstance(given, Decimal) and given == given.to_integral_value() and given.adjusted() < 20:
        return int(given)
    return _as_it_is(attribute, given)


def _double(attribute: Attribute, given: Any) -> Value:
    return float(given) if isinstance(given, Decimal) else _as_it_is(attribute, given)


def _exact(attribute: Attribute, given: Any) -> Value:
    return Decimal(given) if type(given) is int else _as_it_is(attribute, given)


def _options(attribute: Attribute, given: Any) -> Value:
    if type(given) is int:
        return (given,)
    if not isinstance(given, str):
        raise ValueError('the values of options are needed, such as "1,9"')  # noqa: TRY004
    return tuple(sorted({read_whole(part) for part in given.split(",") if part.strip()}))


def _date(attribute: Attribute, given: Any) -> Value:
    """Read a date or time.

    A time without an offset is UTC. A date without a time is the beginning of the day.
    """
    if not isinstance(given, str):
        raise ValueError("a date is needed, such as 2026-01-31T13:30:00Z")  # noqa: TRY004
    value = read_date(given)
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
