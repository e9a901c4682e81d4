"""Conversion between an issuer's row, which is flat as a form is, and its definition, which has parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from designer.definitions import IssuerDefinition

# Columns of the row that are members of the definition itself.
_TOP_LEVEL = (
    *("name", "issuer", "tenants", "enabled", "description", "audiences", "algorithms", "leeway"),
    *("required_claims", "roles", "roles_expression", "readable_claims"),
)
# Columns by the member of a part of the definition.
_KEYS = {"source": "key_source", "url": "key_url", "pem": "key_pem"}
_RECORD = {
    "type": "caller_type",
    "claim": "record_claim",
    "attribute": "record_attribute",
    "ignore_case": "record_ignore_case",
    "verified": "record_verified",
    "missing": "record_missing",
}
_REGISTRATION = {
    "endpoint": "registration_endpoint",
    "inputs": "registration_inputs",
    "link_claim": "registration_link_claim",
    "link_attribute": "registration_link_attribute",
    "link_verified": "registration_link_verified",
    "an_hour": "registration_an_hour",
}
ISSUER_COLUMNS = (*_TOP_LEVEL, *_KEYS.values(), *_RECORD.values(), *_REGISTRATION.values())
RULE_COLUMNS = ("claim", "shape", "as_named", "grants")


def issuer_data(row: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the data of a definition, from the columns of the issuer's row and of its role rules."""
    return {
        **{name: row[name] for name in _TOP_LEVEL},
        "keys": _part(row, _KEYS),
        "role_rules": list(rules),
        "record": {**_part(row, _RECORD), "registration": _part(row, _REGISTRATION)},
    }


def issuer_values(issuer: IssuerDefinition) -> dict[str, Any]:
    """Return the column values of a definition's row."""
    data = issuer.model_dump(mode="json")
    values = {name: data[name] for name in _TOP_LEVEL}
    parts = (
        (_KEYS, data["keys"]),
        (_RECORD, data["record"]),
        (_REGISTRATION, data["record"]["registration"]),
    )
    for columns, part in parts:
        values |= {column: part[member] for member, column in columns.items()}
    return values


def rule_values(issuer: IssuerDefinition) -> Iterator[dict[str, Any]]:
    """Yield the column values of the row of each role rule."""
    for rule in issuer.role_rules:
        yield rule.model_dump(mode="json")


def column_of(field: str) -> str:
    """Return the column of the row for a field of the definition, such as `record.claim`.

    A field that has no column of its own gives the first column of its part, so that a finding has a place.
    """
    part, _, member = field.partition(".")
    if part == "keys":
        return _KEYS.get(member, "key_source")
    if part == "record":
        inner = member.partition(".")[2]
        return _REGISTRATION[inner] if inner in _REGISTRATION else _RECORD.get(member, "record_claim")
    return part


def _part(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return a part of the definition from the columns of the row. `columns`: the column of each member."""
    return {member: row[column] for member, column in columns.items()}
