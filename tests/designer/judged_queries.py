"""Queries on the demo's accounts for readiness to judge, and what it finds."""

from __future__ import annotations

from typing import Any

from designer.configuration import Configuration, Endpoint, Revision
from designer.definitions import EndpointDefinition, ModuleDefinition
from designer.platform import get_platform
from designer.readiness import Finding, Metadata, check
from designer.readiness.checker import Checker
from designer.readiness.fixes import Fix

LINK = '<link-entity name="contact" from="contactid" to="primarycontactid" alias="c">{}</link-entity>'


def fetch(inside: str = "", attributes: str = "", columns: str = '<attribute name="name"/>') -> str:
    return f'<fetch {attributes}><entity name="account">{columns}{inside}</entity></fetch>'


def where(condition: str) -> str:
    return fetch(f"<filter><condition {condition}/></filter>")


def findings(
    query: str | None,
    *inputs: dict[str, Any],
    kind: str = "paginated-query",
    access: dict[str, Any] | None = None,
    columns: tuple[dict[str, str], ...] = (),
    **settings: Any,
) -> list[Finding]:
    endpoint, configuration = _configured(query, inputs, kind, access or {}, columns, settings)
    return check(endpoint, configuration, Metadata(get_platform()))


def fixes(query: str, *inputs: dict[str, Any]) -> list[Fix]:
    """The buttons that the findings about a query offer."""
    _, configuration = _configured(query, inputs, "paginated-query", {}, (), {})
    checker = Checker(configuration, Metadata(get_platform()))
    return [fix for finding in checker.endpoint(1) if (fix := checker.fix(1, finding)) is not None]


def _configured(
    query: str | None,
    inputs: tuple[dict[str, Any], ...],
    kind: str,
    access: dict[str, Any],
    columns: tuple[dict[str, str], ...],
    settings: dict[str, Any],
) -> tuple[Endpoint, Configuration]:
    definition = EndpointDefinition.model_validate(
        {
            "kind": kind,
            "module": "shop",
            "name": "accounts",
            "inputs": inputs,
            "columns": columns,
            "access": access,
            "settings": {"query": query, **settings},
        }
    )
    endpoint = Endpoint(definition)
    configuration = Configuration(Revision(1, ""), {1: endpoint}, modules=(ModuleDefinition(segment="shop"),))
    return endpoint, configuration


def rules(*given: Any, **more: Any) -> dict[str, str]:
    """Each finding's rule, with where it is to be mended."""
    return {finding.rule: finding.field for finding in findings(*given, **more)}
