"""Values of the user context: a lookup is its GUID there, everything else as it is."""

from __future__ import annotations

from typing import Any

from crmclient import Reference, Value


def plain(value: Value) -> Any:
    return value.id if isinstance(value, Reference) else value
