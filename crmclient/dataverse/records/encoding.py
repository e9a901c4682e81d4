"""Values of Python as JSON sends them: one function for each attribute type.

Of a value that cannot be sent at all `crmclient.fitting` says why; its errors these raise, too.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, Final

from crmclient import fitting
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior


def encode(attribute: Attribute, value: Any) -> Any:
    """What stands in JSON for a value that is not empty. Lookups and files are written in other ways."""
    if attribute.type is AttributeType.DATETIME and attribute.behavior is DateTimeBehavior.DATE_ONLY:
        return _date(value)
    return _ENCODERS[attribute.type](value)


def instant(value: dt.datetime) -> str:
    """An instant in UTC, `2026-01-31T13:30:00Z`; fractions of seconds only where there are any."""
    return value.astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"


def _time(value: object) -> str:
    return instant(fitting.moment(value))


def _date(value: object) -> str:
    return fitting.day(value).isoformat()


def _options(value: object) -> str:
    return ",".join(str(fitting.integer(option)) for option in fitting.options(value))


_ENCODERS: Final[dict[AttributeType, Callable[[object], Any]]] = {
    AttributeType.STRING: fitting.text,
    AttributeType.MEMO: fitting.text,
    AttributeType.INTEGER: fitting.integer,
    AttributeType.BIGINT: fitting.bigint,
    AttributeType.DECIMAL: fitting.exact_number,
    AttributeType.DOUBLE: fitting.double,
    AttributeType.MONEY: fitting.exact_number,
    AttributeType.BOOLEAN: fitting.boolean,
    AttributeType.DATETIME: _time,
    AttributeType.UNIQUEIDENTIFIER: fitting.guid,
    AttributeType.PICKLIST: fitting.integer,
    AttributeType.MULTISELECT: _options,
    AttributeType.STATE: fitting.integer,
    AttributeType.STATUS: fitting.integer,
    AttributeType.LOOKUP: fitting.guid,
    AttributeType.CUSTOMER: fitting.guid,
    AttributeType.OWNER: fitting.guid,
}
