"""What a finding offers to do: the finding goes, and nothing comes that stops the endpoint instead."""

from __future__ import annotations

from typing import Any

import pytest

from designer.configuration import Configuration, Endpoint, Revision
from designer.definitions import EndpointDefinition, ExposedEntityDefinition, ModuleDefinition, RoleDefinition
from designer.platform import get_platform
from designer.readiness import Finding, Metadata
from designer.readiness.checker import Checker
from designer.readiness.fixes import Fix

pytestmark = pytest.mark.usefixtures("portico")

ACCOUNTS = ExposedEntityDefinition(module="shop", segment="accounts", entity="account")
FETCH = '<fetch><entity name="account"><attribute name="name"/><filter>{}</filter></entity></fetch>'
IS_WHO = '<condition attribute="name" operator="eq" value="@who"/>'
NAME = {"name": "name", "required": True, "max_length": 160}
BOUND = {"attribute": "name", "value": "name"}


def a_create(*inputs: dict[str, Any], properties: tuple[dict[str, Any], ...] = (), **more: Any) -> Any:
    """A create of accounts with their name, `inputs` and entity properties."""
    return {
        "kind": "create",
        "exposure": "accounts",
        "inputs": [NAME, *inputs],
        "bindings": [BOUND, *properties],
        **more,
    }


def a_list(condition: str, *inputs: dict[str, Any], **more: Any) -> Any:
    settings = {"query": FETCH.format(condition)}
    return {"kind": "multi-query", "name": "found", "inputs": inputs, "settings": settings, **more}


def setting(attribute: str, **given: Any) -> Any:
    """A create with an input that fills an attribute."""
    own = {"name": "given", **given}
    return a_create(own, properties=({"attribute": attribute, "value": own["name"]},))


def with_fetcher(condition: str = IS_WHO, **more: Any) -> Any:
    return a_create(fetchers=[{"name": "same", "query": FETCH.format(condition)}], **more)


def checked(given: dict[str, Any]) -> tuple[Checker, list[Finding]]:
    """A definition as JSON with its findings, and the checker that knows their fixes."""
    definition = EndpointDefinition.model_validate({"module": "shop", **given})
    endpoint = Endpoint(definition, ACCOUNTS if definition.exposure else None)
    configuration = Configuration(
        Revision(1, ""),
        {1: endpoint},
        modules=(ModuleDefinition(segment="shop"),),
        entities=(ACCOUNTS,),
        roles=(RoleDefinition(name="buyer"),),
    )
    checker = Checker(configuration, Metadata(get_platform()))
    return checker, checker.endpoint(1)


def pressed(given: dict[str, Any], fix: Fix) -> dict[str, Any]:
    """The definition after the fix."""
    changed: dict[str, Any] = EndpointDefinition.model_validate({"module": "shop", **given}).to_json()
    for rows, added in (("inputs", fix.inputs), ("bindings", fix.bindings)):
        if added:
            changed[rows] = [*changed.get(rows, []), *(row.to_json() for row in added)]
    for place, value in fix.changes.items():
        *path, name = ["access", place] if place in ("authentication_required",) else place.split(".")
        holder = changed
        for part in path:
            holder = (
                next(row for row in holder if row["name"] == part)
                if isinstance(holder, list)
                else holder.setdefault(part, {})
            )
        holder[name] = value
    return changed


FAULTS = {
    "too long": (setting("telephone1", max_length=200), "binding-length", "Set the limit to 50"),
    "another type": (setting("revenue", type="Integer"), "binding-types", "Make it Money"),
    "unbound": (a_create(inputs=[], bindings=[]), "required-attribute-unbound", "Add the input name"),
    "bound to nothing": (
        a_create(bindings=[]),
        "required-attribute-unbound",
        "Bind it to the input name",
    ),
    "no input": (
        a_create(properties=({"attribute": "revenue", "value": "turnover"},)),
        "binding-input",
        "Add the input turnover",
    ),
    "may be left out": (
        a_create(inputs=[{**NAME, "required": False}]),
        "required-attribute-optional",
        "Make it required",
    ),
    "no parameter of the query": (a_list(IS_WHO), "query-values", "Add parameter who (String)"),
    "no parameter of a data fetcher": (with_fetcher(), "fetcher-values", "Add parameter who (String)"),
    "no parameter of the row rule": (
        a_create(kind="update", row_rule=f"<filter>{IS_WHO}</filter>"),
        "row-rule-values",
        "Add parameter who (String)",
    ),
    "a parameter of the row rule that may be left out": (
        a_create({"name": "who", "max_length": 160}, kind="update", row_rule=f"<filter>{IS_WHO}</filter>"),
        "row-rule-values",
        "Make it required",
    ),
    "a parameter of another type": (
        a_list(IS_WHO, {"name": "who", "type": "Boolean"}),
        "query-input-type",
        "Make it String",
    ),
    "a default without effect": (
        a_create(
            {"name": "phone", "default": "1"},
            kind="update",
            properties=({"attribute": "telephone1", "value": "phone"},),
        ),
        "input-default-partial",
        "Clear it",
    ),
    "a limit without effect": (
        setting("donotemail", type="Boolean", max_length=5),
        "input-limits-unused",
        "Clear it",
    ),
    "roles of anyone": (
        a_create(access={"authentication_required": False, "roles": ["buyer"]}),
        "roles-without-authentication",
        "Require authentication",
    ),
}


@pytest.mark.parametrize(("given", "rule", "label"), FAULTS.values(), ids=FAULTS.keys())
def test_what_is_pressed_ends_the_finding_and_blocks_nothing(
    given: dict[str, Any], rule: str, label: str
) -> None:
    checker, before = checked(given)
    (finding,) = (each for each in before if each.rule == rule)
    fix = checker.fix(1, finding)
    assert fix is not None
    assert fix.label == label
    _, after = checked(pressed(given, fix))
    assert finding not in after
    blocking = {each for each in after if each.is_blocking}
    assert not blocking - set(before)


REFUSED = {
    "no name": a_create(properties=({"attribute": "telephone1", "value": "my phone"},)),
    "the name of a parameter of every query": a_list(IS_WHO.replace("@who", "@pageSize")),
    "texts longer than the attribute": setting("telephone1", min_length=60, max_length=200),
    "two types": a_list(IS_WHO + '<condition attribute="revenue" operator="gt" value="@who"/>'),
}


@pytest.mark.parametrize("given", REFUSED.values(), ids=REFUSED.keys())
def test_nothing_is_offered_that_would_block_the_endpoint_in_another_way(given: dict[str, Any]) -> None:
    checker, findings = checked(given)
    assert findings
    assert [fix.label for finding in findings if (fix := checker.fix(1, finding))] == []


ONCE = {
    "roles of anyone": a_create(access={"authentication_required": False, "roles": ["buyer"]}),
    "a file that an input cannot fill": a_create(
        properties=({"attribute": "new_contract", "value": "file"},)
    ),
}


@pytest.mark.parametrize("given", ONCE.values(), ids=ONCE.keys())
def test_one_mistake_is_one_finding(given: dict[str, Any]) -> None:
    _, findings = checked(given)
    assert len(findings) == 1


def test_a_parameter_that_is_nearly_there_is_named() -> None:
    for given in (
        with_fetcher(inputs=[NAME, {"name": "whom"}]),
        a_create({"name": "whom"}, kind="update", row_rule=f"<filter>{IS_WHO}</filter>"),
        a_list(IS_WHO, {"name": "whom"}),
    ):
        _, findings = checked(given)
        assert any("Did you mean “whom”?" in finding.message for finding in findings)
