"""Values as the cells of a table hold them, and back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from crmclient import Reference, Value, limits, value_checks
from crmclient.errors import InvalidValue
from crmclient.metadata import Attribute, AttributeType, OptionSet

_FITTING: Final[Mapping[AttributeType, Callable[[object], Any]]] = {
    AttributeType.STRING: value_checks.text,
    AttributeType.MEMO: value_checks.text,
    AttributeType.INTEGER: value_checks.integer,
    AttributeType.BIGINT: value_checks.bigint,
    AttributeType.MONEY: value_checks.exact_number,
    AttributeType.DECIMAL: value_checks.exact_number,
    AttributeType.DOUBLE: value_checks.double,
    AttributeType.BOOLEAN: value_checks.boolean,
    AttributeType.UNIQUEIDENTIFIER: value_checks.guid,
    AttributeType.PICKLIST: value_checks.integer,
    AttributeType.STATE: value_checks.integer,
}
_EXACT: Final = frozenset({AttributeType.MONEY, AttributeType.DECIMAL})


def checked(attribute: Attribute, value: Value) -> Value:
    """The value in the form that it has. Raises InvalidValue for one that the attribute cannot hold."""
    try:
        value = fit(attribute, value)
    except (TypeError, ValueError) as error:
        raise limits.wrong_value(attribute.logical_name, error) from error
    limits.check(attribute, value, _options)
    if attribute.type is AttributeType.MONEY and not -(2**63) <= value * 10**4 < 2**63:  # type: ignore[operator]
        raise limits.wrong_value(attribute.logical_name, ValueError("the number is out of range"))
    return value


def fit(attribute: Attribute, value: Value) -> Value:
    """Raises TypeError, ValueError for a value of another type."""
    if attribute.type.is_reference:
        if not isinstance(value, Reference):
            raise TypeError("a reference is needed")
        return Reference(value.entity, value_checks.guid(value.id))
    if attribute.type is AttributeType.DATETIME:
        return value_checks.day(value) if attribute.holds_days else value_checks.moment(value)
    fitted: Value = _FITTING[attribute.type](value)
    return fitted


def to_cell(attribute: Attribute, value: Value) -> Any:
    """What SQLite holds: exact numbers as whole ones, in units of their last decimal place."""
    if value is None or value == "":
        return None
    if isinstance(value, Reference):
        return value.id
    if attribute.type in _EXACT:
        return int(Decimal(str(value)).scaleb(attribute.precision or 0))
    return value.isoformat() if isinstance(value, dt.date) else value


def from_cell(attribute: Attribute, cell: Any, name: str | None = None) -> Value:
    """`name` is that of the record that a lookup points at."""
    if cell is None:
        return None
    if attribute.type.is_reference:
        return Reference(attribute.targets[0], cell, name)
    if attribute.type in _EXACT:
        return Decimal(cell).scaleb(-(attribute.precision or 0))
    if attribute.type is AttributeType.DATETIME:
        return dt.date.fromisoformat(cell) if attribute.holds_days else dt.datetime.fromisoformat(cell)
    if attribute.type is AttributeType.BOOLEAN:
        return bool(cell)
    content: Value = cell
    return content


def _options(attribute: Attribute) -> OptionSet:
    if attribute.options is None:
        raise InvalidValue(attribute.logical_name, "It has no options.")
    return attribute.options
