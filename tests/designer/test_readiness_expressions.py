"""Readiness of expressions, against the demo's metadata: what they see where they stand, and what fits."""

from __future__ import annotations

from typing import Any

import pytest

from designer.configuration import Configuration, Endpoint, Revision
from designer.definitions import (
    EndpointDefinition,
    ExposedEntityDefinition,
    ModuleDefinition,
    UserPropertyDefinition,
)
from designer.platform import get_platform
from designer.readiness import Finding, Metadata, check

pytestmark = pytest.mark.usefixtures("portico")

OWNER = """<fetch><entity name="account"><attribute name="name"/><attribute name="revenue"/>
<link-entity name="contact" from="contactid" to="primarycontactid" alias="person">
<attribute name="fullname"/></link-entity></entity></fetch>"""
NAME = {"attribute": "name", "value": "name"}


def findings(kind: str = "update", **definition: Any) -> list[Finding]:
    exposed = ExposedEntityDefinition(module="shop", segment="accounts", entity="account")
    given = {
        "kind": kind,
        "module": "shop",
        "exposure": "accounts",
        "access": {"roles": ["buyer"]},
        "inputs": [{"name": "name", "required": True}, {"name": "worth", "type": "Money"}],
        "bindings": [NAME, {"attribute": "revenue", "value": "worth"}],
        "fetchers": [{"name": "owner", "query": OWNER}],
        **definition,
    }
    endpoint = Endpoint(EndpointDefinition.model_validate(given), exposed, exposures=(exposed,))
    configuration = Configuration(
        Revision(1, ""),
        {1: endpoint},
        modules=(ModuleDefinition(segment="shop"),),
        entities=(exposed,),
        user_properties=(
            UserPropertyDefinition(name="city", attribute="address1_city"),
            UserPropertyDefinition(name="isLocal", kind="custom", expression="user.city == 'Berlin'"),
        ),
    )
    return check(endpoint, configuration, Metadata(get_platform()))


def about(all_findings: list[Finding], rule: str) -> list[tuple[str, str]]:
    return [(finding.field, finding.message) for finding in all_findings if finding.rule == rule]


def bound(expression: str) -> dict[str, Any]:
    return {"bindings": [NAME, {"attribute": "telephone1", "source": "expression", "value": expression}]}


def conditions(*expressions: str) -> dict[str, Any]:
    return {"preconditions": [{"expression": text} for text in expressions]}


def column(expression: str, **more: str) -> dict[str, Any]:
    made = {"name": "made", "expression": expression, **more}
    return {"kind": "read", "inputs": [], "bindings": [], "columns": [{"attribute": "name"}, made]}


@pytest.mark.parametrize(
    "good",
    [
        bound("record.telephone1"),
        bound("input.name + fetch.owner.person.fullname + user.city"),
        bound("coalesce(input.worth, fetch.owner.revenue, record.revenue) + ''"),
        bound("string(user.isLocal) + user.id + user.teams.map(t, t.name)[0]"),
        conditions("compare(input.worth, fetch.owner.revenue) > 0", "now > record.createdon"),
        column("record.ownerid.name + record.name"),
        column("record.map(key, key)"),
        column("format('{0:0.00}', record.revenue)"),
        column("mul(record.revenue, 2)"),
        {"bindings": [NAME, {"attribute": "revenue", "source": "fetch", "value": "owner.revenue"}]},
        {
            "bindings": [
                NAME,
                {"attribute": "telephone1", "source": "fetch", "value": "owner.person.fullname"},
            ]
        },
    ],
)
def test_what_is_right_is_left_in_peace(good: dict[str, Any]) -> None:
    rules = {finding.rule for finding in findings(**good)}
    assert not {rule for rule in rules if "expression" in rule or "fetch" in rule or "column" in rule}


@pytest.mark.parametrize(
    ("wrong", "rule", "field", "words"),
    [
        (bound("input.nmae"), "binding-expression", "bindings.telephone1.value",
         "At character 1: There is no input.nmae; there are: name, worth. Did you mean “name”?"),
        (bound("''\n+ record.telefon1"), "binding-expression", "bindings.telephone1.value",
         "At line 2, character 3: There is no record.telefon1"),
        (bound("record.ownerid.nmae"), "binding-expression", "bindings.telephone1.value",
         "record.ownerid.nmae; there are: id, name, type"),
        (bound("fetch.owner.person.name"), "binding-expression", "bindings.telephone1.value",
         "there are: fullname"),
        (bound("fetch.owners.name"), "binding-expression", "bindings.telephone1.value", "mean “owner”"),
        (bound("user.town"), "binding-expression", "bindings.telephone1.value",
         "there are: city, claims, id, isLocal, roles, teams, type"),
        ({"kind": "create", **bound("record.name")}, "binding-expression", "bindings.telephone1.value",
         "There is no “record” here; an expression sees: fetch, input, now, user."),
        (conditions("true", "input.x > 1"), "precondition-expression", "preconditions.1.expression",
         "Pre-condition 2: At character 1: There is no input.x"),
        (conditions(""), "precondition-expression", "preconditions.0.expression", "Write an expression"),
        (column("record.gone"), "column-expression", "columns.made.expression", "There is no record.gone"),
        (column("record.name", name=""), "column-name", "columns.1.name", "needs a name"),
        (column("record.name", attribute="name"), "column-name", "columns.made", "choose one"),
        (column("record.name", name="Name"), "column-key", "columns", "2 columns become “name”"),
        (column("record.revenue + 1"), "expression-kinds", "columns.made.expression", "add, sub, mul"),
        (column("record.address1_latitude * 2"), "expression-kinds", "columns.made.expression", "write 2.0"),
        (conditions("input.worth > 100"), "expression-kinds", "preconditions.0.expression", "num(…)"),
        (bound("1.5 + 2"), "expression-kinds", "bindings.telephone1.value", "write 2.0"),
        ({"bindings": [{"attribute": "name", "source": "fetch", "value": "ower.name"}]}, "binding-fetch",
         "bindings.name.value", "there is no data fetcher “ower”. Did you mean “owner”?"),
        ({"bindings": [{"attribute": "name", "source": "fetch", "value": "owner.nam"}]}, "binding-fetch",
         "bindings.name.value", "there are: name, revenue, person.fullname. Did you mean “name”?"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_at_its_place(
    wrong: dict[str, Any], rule: str, field: str, words: str
) -> None:
    messages = about(findings(**wrong), rule)
    assert [place for place, _ in messages] == [field]
    assert words in messages[0][1]
