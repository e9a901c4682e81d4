"""The rules, one module a subject. Importing them registers them."""

from designer.readiness.rules import (
    access,
    audit,
    bindings,
    columns,
    creates,
    expressions,
    files,
    inputs,
    lists,
    option_sets,
    places,
    processes,
    queries,
    query_inputs,
    steps,
    user_properties,
)

__all__ = [
    "access",
    "audit",
    "bindings",
    "columns",
    "creates",
    "expressions",
    "files",
    "inputs",
    "lists",
    "option_sets",
    "places",
    "processes",
    "queries",
    "query_inputs",
    "steps",
    "user_properties",
]
