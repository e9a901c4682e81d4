"""Values as text: as CEL's string() writes them, and instants as callers get them."""

from __future__ import annotations

import datetime as dt
from typing import Any


def as_text(value: Any) -> str:
    """Return the value as text. Instants are in UTC, without fractions of a second."""
    match value:
        case bool():
            return "true" if value else "false"
        case dt.datetime():
            instant = value.astimezone(dt.UTC).replace(microsecond=0, tzinfo=None)
            return f"{instant.isoformat()}Z"
    return str(value)
