"""Values on their way into an expression and out of it, and as its functions write them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from crmclient import FileInfo, Party, Reference
from designer.sentences import Sentence as _

_INT64 = range(-(2**63), 2**63)


def enter(value: Any) -> Any:
    """Return a value that CEL can hold. Decimals and numbers past 64 bits become exact texts, not floats."""
    if isinstance(value, Mapping):
        return {str(key): enter(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [enter(item) for item in value]
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, int) and value not in _INT64:
        return str(value)
    if isinstance(value, Reference):
        return {"type": value.entity, "id": value.id, "name": value.name}
    if isinstance(value, Party):
        record = {} if value.reference is None else enter(value.reference)
        return {"type": None, "id": None, "name": None, **record, "address": value.address}
    if isinstance(value, FileInfo):
        return {"id": value.id, "fileName": value.file_name, "size": value.size}
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value.isoformat()
    return value


def leave(value: Any) -> Any:
    """Return a plain value: null, boolean, number, text, instant, list or object of those.

    Raises ValueError for any other value.
    """
    if isinstance(value, dict):
        return {_checked_key(key): leave(item) for key, item in value.items()}
    if isinstance(value, list):
        return [leave(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(_("it gives no finite number"))
    if value is None or isinstance(value, (bool, int, float, str, dt.datetime)):
        return value
    raise ValueError(_("it gives neither text, number, yes or no, date and time, list nor object"))


def as_text(value: Any) -> str:
    """Return the value as text. Instants are in UTC, without fractions of a second."""
    match value:
        case bool():
            return "true" if value else "false"
        case dt.datetime():
            instant = value.astimezone(dt.UTC).replace(microsecond=0, tzinfo=None)
            return f"{instant.isoformat()}Z"
    return str(value)


def _checked_key(key: Any) -> str:
    """Return the key of an object. Raises ValueError unless it is text, as JSON demands."""
    if not isinstance(key, str):
        raise ValueError(_("it gives an object whose keys are not text"))  # noqa: TRY004  a wrong expression
    return key
