"""Values of Python as JSON sends them: one function for each attribute type.

They raise the TypeError and the ValueError of `crmclient.value_checks` for a value that cannot be sent.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, Final

from crmclient import value_checks
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior


def encode(attribute: Attribute, value: Any) -> Any:
    """Return a value that is not empty as JSON has it; for a lookup, the id of its record.

    A record's own lookups and files are written in other ways: see `payload` and `Uploads`. Raises TypeError,
    ValueError.
    """
    if attribute.type is AttributeType.DATETIME and attribute.behavior is DateTimeBehavior.DATE_ONLY:
        return _date(value)
    return _ENCODERS[attribute.type](value)


def instant(value: dt.datetime) -> str:
    """Return an instant in UTC, `2026-01-31T13:30:00Z`, with fractions of seconds only if there are any."""
    return value.astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"


def _time(value: object) -> str:
    return instant(value_checks.moment(value))


def _date(value: object) -> str:
    return value_checks.day(value).isoformat()


def _options(value: object) -> str:
    return ",".join(str(value_checks.integer(option)) for option in value_checks.options(value))


_ENCODERS: Final[dict[AttributeType, Callable[[object], Any]]] = {
    AttributeType.STRING: value_checks.text,
    AttributeType.MEMO: value_checks.text,
    AttributeType.INTEGER: value_checks.integer,
    AttributeType.BIGINT: value_checks.bigint,
    AttributeType.DECIMAL: value_checks.exact_number,
    AttributeType.DOUBLE: value_checks.double,
    AttributeType.MONEY: value_checks.exact_number,
    AttributeType.BOOLEAN: value_checks.boolean,
    AttributeType.DATETIME: _time,
    AttributeType.UNIQUEIDENTIFIER: value_checks.guid,
    AttributeType.PICKLIST: value_checks.integer,
    AttributeType.MULTISELECT: _options,
    AttributeType.STATE: value_checks.integer,
    AttributeType.STATUS: value_checks.integer,
    AttributeType.LOOKUP: value_checks.guid,
    AttributeType.CUSTOMER: value_checks.guid,
    AttributeType.OWNER: value_checks.guid,
}
