"""Readiness of row rules and data fetchers, against the demo's metadata."""

from __future__ import annotations

from typing import Any

import pytest

from designer.configuration import Configuration, Endpoint, Revision
from designer.definitions import (
    AccessDefinition,
    EndpointDefinition,
    ExposedEntityDefinition,
    FetcherDefinition,
    InputDefinition,
    ModuleDefinition,
    UserPropertyDefinition,
)
from designer.platform import get_platform
from designer.readiness import Finding, Metadata, check

pytestmark = pytest.mark.usefixtures("portico")

ACCOUNT = '<fetch><entity name="account"><attribute name="name"/>{}</entity></fetch>'


def rule(condition: str) -> str:
    return f"<filter><condition {condition}/></filter>"


def fetcher(name: str, condition: str = "", **more: Any) -> FetcherDefinition:
    inner = rule(condition) if condition else ""
    return FetcherDefinition.model_validate({"name": name, "query": ACCOUNT.format(inner), **more})


def findings(
    *, kind: str = "update", of_entity: str = "", access: AccessDefinition | None = None, **definition: Any
) -> list[Finding]:
    exposed = ExposedEntityDefinition.model_validate(
        {"module": "shop", "segment": "accounts", "entity": "account", "row_rule": of_entity}
    )
    endpoint = Endpoint(
        EndpointDefinition.model_validate(
            {
                "kind": kind,
                "module": "shop",
                "exposure": "accounts",
                "access": access or AccessDefinition(),
                **definition,
            }
        ),
        exposed,
        exposures=(exposed,),
    )
    configuration = Configuration(
        Revision(1, ""),
        {1: endpoint},
        modules=(ModuleDefinition(segment="shop"),),
        entities=(exposed,),
        user_properties=(UserPropertyDefinition(name="city", attribute="address1_city"),),
    )
    return check(endpoint, configuration, Metadata(get_platform()))


def about(found: list[Finding], rule: str) -> list[tuple[str, str]]:
    return [(finding.field, finding.message) for finding in found if finding.rule == rule]


NAME = InputDefinition(name="name", required=True)


@pytest.mark.parametrize(
    "good",
    [
        {"of_entity": rule('attribute="ownerid" operator="eq-userid"')},
        {"of_entity": rule('attribute="address1_city" operator="eq" value="@user.city"')},
        {"row_rule": rule('attribute="name" operator="eq" value="@name"'), "inputs": (NAME,)},
        {
            "fetchers": (fetcher("a"), fetcher("b", 'attribute="name" operator="eq" value="@fetch.a.name"')),
            "row_rule": rule('attribute="name" operator="ne" value="@fetch.b.name"'),
        },
        {"fetchers": (fetcher("a", 'attribute="name" operator="eq" value="@record.name"'),)},
    ],
)
def test_what_is_right_is_left_in_peace(good: dict[str, Any]) -> None:
    rules = {finding.rule for finding in findings(**good)}
    assert not {name for name in rules if name.startswith(("row-rule", "fetcher"))}


@pytest.mark.parametrize(
    ("wrong", "rule_id", "field", "words"),
    [
        ({"row_rule": rule('attribute="colour" operator="null"')}, "row-rule", "row_rule", "colour"),
        (
            {"of_entity": rule('attribute="revenue" operator="eq" value="much"')},
            "row-rule",
            "entity.row_rule",
            "'much' is no number",
        ),
        (
            {"of_entity": rule('attribute="name" operator="eq" value="@name"')},
            "row-rule-values",
            "entity.row_rule",
            "@user and nothing else",
        ),
        (
            {
                "row_rule": rule('attribute="name" operator="eq" value="@name"'),
                "inputs": (InputDefinition(name="name"),),
            },
            "row-rule-values",
            "row_rule",
            "must be a required input",
        ),
        (
            {"row_rule": rule('attribute="name" operator="eq" value="@fetch.a.name"')},
            "row-rule-values",
            "row_rule",
            "no data fetcher “a”",
        ),
        (
            {"row_rule": rule('attribute="name" operator="eq" value="@user.shoe"')},
            "row-rule-values",
            "row_rule",
            "no user property “shoe”",
        ),
        (
            {"row_rule": rule('attribute="name" operator="eq" value="@record.name"')},
            "row-rule-values",
            "row_rule",
            "@record",
        ),
        (
            {
                "row_rule": rule('attribute="ownerid" operator="eq-userid"'),
                "access": AccessDefinition(authentication_required=False),
            },
            "row-rule-anonymous",
            "row_rule",
            "anyone may call",
        ),
        (
            {"kind": "local-option-set", "row_rule": rule('attribute="name" operator="null"')},
            "row-rule-without-effect",
            "row_rule",
            "no effect",
        ),
        (
            {"kind": "create", "row_rule": rule('attribute="colour" operator="null"')},
            "row-rule",
            "row_rule",
            "colour",
        ),
        (
            {"kind": "create", "of_entity": rule('attribute="telephone1" operator="not-null"')},
            "create-never-inside",
            "bindings",
            "wants a value of “telephone1”, which nothing sets",
        ),
        (
            {"kind": "create", "row_rule": rule('attribute="createdon" operator="today"')},
            "create-never-inside",
            "bindings",
            "“createdon” is known only when the record is there",
        ),
        (
            {
                "kind": "create",
                "row_rule": '<filter type="or"><condition attribute="createdon" operator="today"/>'
                '<condition attribute="telephone1" operator="null"/></filter>',
            },
            "create-undecidable",
            "bindings",
            "“createdon” is known only when the record is there",
        ),
        (
            {
                "kind": "create",
                "of_entity": rule('attribute="ownerid" operator="eq-userid"'),
                "settings": {"may_create_outside_rule": True},
            },
            "create-outside-rule",
            "settings.may_create_outside_rule",
            "outside the row rule",
        ),
        (
            {"fetchers": (FetcherDefinition(name="a"),)},
            "fetcher-query",
            "fetchers.a.query",
            "Write the query",
        ),
        (
            {"fetchers": (fetcher("a", 'attribute="colour" operator="null"'),)},
            "fetcher-query",
            "fetchers.a.query",
            "colour",
        ),
        (
            {"fetchers": (fetcher("a", 'attribute="name" operator="eq" value="@nothing"'),)},
            "fetcher-values",
            "fetchers.a.query",
            "@nothing",
        ),
        (
            {
                "fetchers": (
                    fetcher("a", 'attribute="name" operator="eq" value="@fetch.b.name"'),
                    fetcher("b"),
                )
            },
            "fetcher-values",
            "fetchers.a.query",
            "no data fetcher “b” before it",
        ),
        (
            {"fetchers": (fetcher("a"), fetcher("b", 'attribute="name" operator="eq" value="@fetch.a.x"'))},
            "fetcher-values",
            "fetchers.b.query",
            "there are: name",
        ),
        (
            {
                "kind": "create",
                "fetchers": (fetcher("a", 'attribute="name" operator="eq" value="@record.name"'),),
            },
            "fetcher-values",
            "fetchers.a.query",
            "no record in the path",
        ),
        (
            {"fetchers": (fetcher("a", 'attribute="name" operator="eq" value="@record.colour"'),)},
            "fetcher-values",
            "fetchers.a.query",
            "@record.colour",
        ),
    ],
)
def test_what_is_wrong_is_found_at_its_place(
    wrong: dict[str, Any], rule_id: str, field: str, words: str
) -> None:
    [(place, message)] = about(findings(**wrong), rule_id)
    assert place == field
    assert words in message
