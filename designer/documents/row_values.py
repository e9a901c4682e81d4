"""Definitions as the values of their rows' own fields: what relates rows to each other is left out."""

from __future__ import annotations

from typing import Any

from designer.definitions import (
    ColumnDefinition,
    Definition,
    EndpointDefinition,
    ExposedEntityDefinition,
    RoleDefinition,
    UserPropertyDefinition,
)

_ENDPOINT = {"kind", "segment", "name", "title", "description", "enabled", "row_rule"}
# Rows of their own.
_PARTS = {"inputs", "bindings"}


def values_of(item: Definition) -> dict[str, Any]:
    """Of an item of a document's lists."""
    match item:
        case RoleDefinition():
            return {**item.model_dump(), "platform_roles": list(item.platform_roles)}
        case UserPropertyDefinition():
            return item.model_dump(exclude={"columns"})
        case ExposedEntityDefinition():
            return item.model_dump(exclude={"module"})
        case EndpointDefinition():
            return item.model_dump(include=_ENDPOINT) | {
                "authentication_required": item.access.authentication_required,
                "settings": item.settings.to_json(),
            }
    return item.model_dump()


def part_values(part: Definition) -> dict[str, Any]:
    """Of an endpoint's input, entity property, column, data fetcher or pre-condition."""
    return part.model_dump(exclude=_PARTS)


def column_values(column: ColumnDefinition) -> dict[str, Any]:
    """Of a column of related data."""
    return column.model_dump(exclude={"expression"})
