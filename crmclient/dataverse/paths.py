"""URLs below the base, encoded."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from crmclient.metadata import Entity
from crmclient.values import Guid


def record(entity: Entity, id: Guid) -> str:
    return f"{entity.entity_set}({id})"


def with_query(path: str, options: Mapping[str, str]) -> str:
    """Return `path?$select=name,revenue`: values are encoded, names and the characters of OData are not."""
    return path + "?" + "&".join(f"{name}={quote(value, safe='$,()/;=')}" for name, value in options.items())
