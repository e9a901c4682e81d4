"""What people read for a value: `OData.Community.Display.V1.FormattedValue`, in US English."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from crmbox.engine.snapshot import Snapshot
from crmclient.metadata import Attribute, AttributeType
from crmclient.values import Reference, Value

_DEFAULT_PLACES = 2


def formatted(snapshot: Snapshot, attribute: Attribute, value: Value) -> str | None:
    """None for a value that is its own formatted form, as text is."""
    if value is None:
        return None
    if attribute.type.has_options:
        return _option_labels(snapshot, attribute, value)
    if isinstance(value, Reference):
        return value.name
    write = _WRITERS.get(attribute.type)
    return None if write is None else write(attribute, value)


def _option_labels(snapshot: Snapshot, attribute: Attribute, value: Value) -> str:
    labels: dict[object, str] = {o.value: o.label.text() for o in snapshot.options_of(attribute).options}
    chosen = value if isinstance(value, tuple) else (value,)
    return "; ".join(labels.get(option, str(option)) for option in chosen)


def _money(attribute: Attribute, value: Any) -> str:
    sign, amount = ("-", -value) if value < 0 else ("", value)
    return f"{sign}${_places(attribute, amount)}"


def _decimal(attribute: Attribute, value: Any) -> str:
    return _places(attribute, value)


def _places(attribute: Attribute, value: Any) -> str:
    places = _DEFAULT_PLACES if attribute.precision is None else attribute.precision
    return f"{Decimal(str(value)):,.{places}f}"


def _whole(attribute: Attribute, value: Any) -> str:
    return f"{value:,d}"


def _boolean(attribute: Attribute, value: Any) -> str:
    return "Yes" if value else "No"


def _date(attribute: Attribute, value: Any) -> str:
    day = f"{value.month}/{value.day}/{value.year}"
    if not isinstance(value, dt.datetime):
        return day
    return f"{day} {value.hour % 12 or 12}:{value.minute:02} {'PM' if value.hour >= 12 else 'AM'}"


_WRITERS: dict[AttributeType, Callable[[Attribute, Any], str]] = {
    AttributeType.MONEY: _money,
    AttributeType.DECIMAL: _decimal,
    AttributeType.DOUBLE: _decimal,
    AttributeType.INTEGER: _whole,
    AttributeType.BIGINT: _whole,
    AttributeType.BOOLEAN: _boolean,
    AttributeType.DATETIME: _date,
}
