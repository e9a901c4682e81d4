"""The rules, one module a subject. Importing them registers them."""

from designer.readiness.rules import (
    access,
    bindings,
    columns,
    files,
    inputs,
    option_sets,
    places,
    processes,
    user_properties,
)

__all__ = [
    "access",
    "bindings",
    "columns",
    "files",
    "inputs",
    "option_sets",
    "places",
    "processes",
    "user_properties",
]
