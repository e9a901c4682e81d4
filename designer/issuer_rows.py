"""An issuer's row and its definition: the row is flat, as a form is, and the definition has its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from designer.definitions import IssuerDefinition

# Columns of the row that are members of the definition itself.
_OWN = (
    *("name", "issuer", "tenants", "enabled", "description", "audiences", "algorithms", "leeway"),
    *("required_claims", "roles", "roles_expression", "readable_claims"),
)
# Columns by the part of the definition, and its member.
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
ISSUER_COLUMNS = (*_OWN, *_KEYS.values(), *_RECORD.values(), *_REGISTRATION.values())
RULE_COLUMNS = ("claim", "shape", "as_named", "grants")


def issuer_data(row: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a definition is made of: the row's columns, and those of its role rules."""
    return {
        **{name: row[name] for name in _OWN},
        "keys": _part(row, _KEYS),
        "role_rules": list(rules),
        "record": {**_part(row, _RECORD), "registration": _part(row, _REGISTRATION)},
    }


def issuer_values(issuer: IssuerDefinition) -> dict[str, Any]:
    """The columns of a definition's row."""
    data = issuer.model_dump(mode="json")
    values = {name: data[name] for name in _OWN}
    parts = (
        (_KEYS, data["keys"]),
        (_RECORD, data["record"]),
        (_REGISTRATION, data["record"]["registration"]),
    )
    for columns, part in parts:
        values |= {column: part[member] for member, column in columns.items()}
    return values


def rule_values(issuer: IssuerDefinition) -> Iterator[dict[str, Any]]:
    """The columns of its role rules' rows."""
    for rule in issuer.role_rules:
        yield rule.model_dump(mode="json")


def column_of(field: str) -> str:
    """The column that holds what a definition calls `field`, such as `record.claim`."""
    part, _, member = field.partition(".")
    if part == "keys":
        return _KEYS.get(member, "key_source")
    if part == "record":
        inner = member.partition(".")[2]
        return _REGISTRATION[inner] if inner in _REGISTRATION else _RECORD.get(member, "record_claim")
    return part


def _part(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    return {member: row[column] for member, column in columns.items()}
