"""Definitions as the values of their rows' own fields: what relates rows to each other is left out."""

from __future__ import annotations

from typing import Any

from designer.definitions import (
    ColumnDefinition,
    Definition,
    EndpointDefinition,
    ExposedEntityDefinition,
    IssuerDefinition,
    RoleDefinition,
    RowRuleEntry,
    UserPropertyDefinition,
)
from designer.token_issuers.issuer_rows import issuer_values

# Members of an endpoint that are columns of its row under the same name.
_ENDPOINT = {"kind", "segment", "name", "title", "description", "translations", "enabled", "row_rule"}
# Members that have rows of their own.
_PARTS = {"inputs", "bindings"}


def values_of(item: Definition) -> dict[str, Any]:
    """Return the column values of the row of an item of the document."""
    match item:
        case RoleDefinition():
            return {**item.model_dump(), "platform_roles": list(item.platform_roles)}
        case IssuerDefinition():
            return issuer_values(item)
        case UserPropertyDefinition():
            return item.model_dump(exclude={"columns", "caller_type"})
        case ExposedEntityDefinition():
            return item.model_dump(exclude={"module", "row_rule"})
        case EndpointDefinition():
            return item.model_dump(include=_ENDPOINT) | {
                "authentication_required": item.access.authentication_required,
                "caller_types": list(item.access.caller_types),
                "settings": item.settings.to_json(),
                "example_calls": [call.to_json() for call in item.example_calls],
            }
    return item.model_dump()


def part_values(part: Definition) -> dict[str, Any]:
    """Return the column values of an input, binding, column, data fetcher or pre-condition of an endpoint."""
    return part.model_dump(exclude=_PARTS)


def entry_values(entry: RowRuleEntry) -> dict[str, Any]:
    """Return the column values of an entry of a row rule, without its roles."""
    return entry.model_dump(exclude={"roles"})


def column_values(column: ColumnDefinition) -> dict[str, Any]:
    """Return the column values of a column of related data."""
    return column.model_dump(exclude={"expression"})
