"""What one attribute allows, beyond what its type can hold: lengths, ranges, places, options."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from crmclient.embedded.money import decimal_places
from crmclient.embedded.snapshot import Snapshot, StoredColumn
from crmclient.errors import InvalidValue, OutOfRange, TooLong, UnknownOption, UnknownTarget, WrongType
from crmclient.metadata import Attribute, AttributeType
from crmclient.values import Reference


def check(snapshot: Snapshot, column: StoredColumn, value: Any) -> None:
    """Raises an InvalidValue when the attribute does not allow `value`, whose type has been checked."""
    limit = _LIMITS.get(column.attribute.type)
    if limit is not None:
        limit(snapshot, column.attribute, value)


def wrong_value(attribute: str, error: TypeError | ValueError) -> InvalidValue:
    """A codec's complaint as the platform's error."""
    message = f"{str(error)[:1].upper()}{str(error)[1:]}."
    return WrongType(attribute, message) if isinstance(error, TypeError) else OutOfRange(attribute, message)


def _length(_: Snapshot, attribute: Attribute, value: str) -> None:
    if attribute.max_length is not None and len(value) > attribute.max_length:
        raise TooLong(attribute.logical_name, f"At most {attribute.max_length} characters.")


def _range(_: Snapshot, attribute: Attribute, value: int | float | Decimal) -> None:
    if attribute.minimum is not None and value < attribute.minimum:
        raise OutOfRange(attribute.logical_name, f"At least {attribute.minimum}.")
    if attribute.maximum is not None and value > attribute.maximum:
        raise OutOfRange(attribute.logical_name, f"At most {attribute.maximum}.")


def _exact_range(snapshot: Snapshot, attribute: Attribute, value: Decimal | int) -> None:
    if attribute.precision is not None and decimal_places(Decimal(value)) > attribute.precision:
        raise OutOfRange(attribute.logical_name, f"At most {attribute.precision} decimal places.")
    _range(snapshot, attribute, value)


def _option(snapshot: Snapshot, attribute: Attribute, value: int) -> None:
    if not _knows(snapshot, attribute, value):
        raise UnknownOption(attribute.logical_name, f"{value} is none of the options.")


def _options(snapshot: Snapshot, attribute: Attribute, value: tuple[int, ...]) -> None:
    unknown = [item for item in value if not _knows(snapshot, attribute, item)]
    if unknown:
        raise UnknownOption(attribute.logical_name, f"{unknown[0]} is none of the options.")


def _target(_: Snapshot, attribute: Attribute, value: Any) -> None:
    if not isinstance(value, Reference):
        raise WrongType(attribute.logical_name, "A reference is needed.")
    if value.entity not in attribute.targets:
        allowed = " or ".join(attribute.targets)
        raise UnknownTarget(attribute.logical_name, f"It points at {allowed}, not at {value.entity}.")


def _knows(snapshot: Snapshot, attribute: Attribute, value: int) -> bool:
    return any(option.value == value for option in snapshot.options_of(attribute).options)


_LIMITS: dict[AttributeType, Callable[[Snapshot, Attribute, Any], None]] = {
    AttributeType.STRING: _length,
    AttributeType.MEMO: _length,
    AttributeType.INTEGER: _range,
    AttributeType.BIGINT: _range,
    AttributeType.DOUBLE: _range,
    AttributeType.DECIMAL: _exact_range,
    AttributeType.MONEY: _exact_range,
    AttributeType.PICKLIST: _option,
    AttributeType.STATE: _option,
    AttributeType.STATUS: _option,
    AttributeType.MULTISELECT: _options,
    AttributeType.LOOKUP: _target,
    AttributeType.CUSTOMER: _target,
    AttributeType.OWNER: _target,
}
