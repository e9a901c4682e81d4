"""JSON as the values of Python. What is not of the attribute's type is no answer of the protocol."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from crmclient.dataverse.api import FORMATTED, LOOKUP_NAME
from crmclient.errors import UnexpectedAnswer
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior
from crmclient.sentences import Sentence
from crmclient.values import Reference, Value, parse_guid

Row = Mapping[str, Any]
Reader = Callable[[Row], Value]


def property_name(attribute: Attribute) -> str:
    """Return the property of a record that holds an attribute's value: `_x_value` for a lookup, the id of an
    image.
    """
    if attribute.type.is_reference:
        return f"_{attribute.logical_name}_value"
    return f"{attribute.logical_name}id" if attribute.type is AttributeType.IMAGE else attribute.logical_name


def reader(attribute: Attribute, *names: str) -> Reader:
    """Return a function that reads an attribute's value from the first of the properties `names` that a row
    has.

    A row may leave out empty values. The function raises UnexpectedAnswer.
    """
    if attribute.type.is_reference:
        return _reference_reader(attribute, names)
    decode = _decoder(attribute)

    def read(row: Row) -> Value:
        """Return the attribute's value in a row; None for an empty one."""
        for name in names:
            value = row.get(name)
            if value is not None:
                return checked(attribute.logical_name, decode, value)
        return None

    return read


def checked(name: str, decode: Callable[[Any], Value], value: Any) -> Value:
    """Return `value` decoded. Raises UnexpectedAnswer, with the `name` of the attribute, if that fails."""
    try:
        return decode(value)
    except (TypeError, ValueError, ArithmeticError):
        raise UnexpectedAnswer(
            Sentence("The platform's value of %(attribute)s is not of its type.", attribute=name)
        ) from None


def decode(attribute: Attribute, value: Any) -> Value:
    """Return a value that is not empty and no lookup. Raises UnexpectedAnswer."""
    return checked(attribute.logical_name, _decoder(attribute), value)


def _reference_reader(attribute: Attribute, names: tuple[str, ...]) -> Reader:
    """Return the function that reads a lookup from a row, from the first of the properties `names` with a
    value.
    """
    only_target = attribute.targets[0] if len(attribute.targets) == 1 else None

    def read(row: Row) -> Value:
        """Return the lookup's reference in a row; None for an empty one. Raises UnexpectedAnswer."""
        for name in names:
            id = row.get(name)
            if id is None:
                continue
            entity = row.get(f"{name}@{LOOKUP_NAME}") or only_target
            shown_name = row.get(f"{name}@{FORMATTED}")
            if not isinstance(entity, str):
                raise UnexpectedAnswer(
                    Sentence(
                        "The platform does not say what %(attribute)s points at.",
                        attribute=attribute.logical_name,
                    )
                )
            guid = checked(attribute.logical_name, _guid, id)
            return Reference(entity, str(guid), shown_name if isinstance(shown_name, str) else None)
        return None

    return read


def _decoder(attribute: Attribute) -> Callable[[Any], Value]:
    """Return the function that reads a JSON value of the attribute's type.

    It raises TypeError, ValueError or ArithmeticError for any other value.
    """
    if attribute.type is AttributeType.DATETIME and attribute.behavior is DateTimeBehavior.DATE_ONLY:
        return _date
    return _DECODERS[attribute.type]


def _text(value: Any) -> str:
    """Return a text. Raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError
    return value


def _integer(value: Any) -> int:
    """Return a whole number. Raises TypeError, ValueError, ArithmeticError."""
    if type(value) is int:
        return value
    if isinstance(value, str | Decimal) and Decimal(value) == int(Decimal(value)):
        # Some servers write a BigInt as a text, and a sum of whole numbers with decimal places: `12.0`.
        return int(Decimal(value))
    raise TypeError


def _decimal(value: Any) -> Decimal:
    """Return a number, also one that is sent as a text. Raises TypeError, ValueError, ArithmeticError."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        raise TypeError
    number = Decimal(value)
    if not number.is_finite():
        raise ValueError
    return number


def _double(value: Any) -> float:
    return float(_decimal(value))


def _boolean(value: Any) -> bool:
    """Return true or false. Raises TypeError for anything else."""
    if not isinstance(value, bool):
        raise TypeError
    return value


def _time(value: Any) -> dt.datetime:
    """Return an instant in UTC. A time without an offset is in UTC already. Raises TypeError, ValueError."""
    moment = dt.datetime.fromisoformat(value)
    return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment.astimezone(dt.UTC)


def _date(value: Any) -> dt.date:
    # The first ten characters are the day. A time of day that may follow says nothing here.
    return dt.date.fromisoformat(value[:10])


def _guid(value: Any) -> str:
    return parse_guid(value)


def _options(value: Any) -> tuple[int, ...]:
    """Return the options of a multi-select choice, which JSON has as a text such as `1,3`.

    Raises ValueError.
    """
    return tuple(sorted({int(option) for option in str(value).split(",") if option.strip()}))


_DECODERS: Final[dict[AttributeType, Callable[[Any], Value]]] = {
    AttributeType.STRING: _text,
    AttributeType.MEMO: _text,
    AttributeType.INTEGER: _integer,
    AttributeType.BIGINT: _integer,
    AttributeType.DECIMAL: _decimal,
    AttributeType.DOUBLE: _double,
    AttributeType.MONEY: _decimal,
    AttributeType.BOOLEAN: _boolean,
    AttributeType.DATETIME: _time,
    AttributeType.UNIQUEIDENTIFIER: _guid,
    AttributeType.PICKLIST: _integer,
    AttributeType.MULTISELECT: _options,
    AttributeType.STATE: _integer,
    AttributeType.STATUS: _integer,
    AttributeType.FILE: _guid,
    AttributeType.IMAGE: _guid,
}
