"""Who shares an endpoint's cached answers is what its definition reads of callers, and never wider."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from crmclient.query import designed
from designer.configuration import Endpoint
from designer.definitions import EndpointDefinition, ExposedEntityDefinition, RowRuleEntry
from designer.endpoint_facts.answer_sharing import Sharing, sharing

FILTER = '<filter><condition attribute="name" operator="{}" {}/></filter>'
FIXED = FILTER.format("eq", 'value="a"')
MINE = FILTER.format("eq-userid", "")
OF_USER = FILTER.format("eq", 'value="@user.city"')
OF_CLAIM = FILTER.format("eq", 'value="@user.claims.city"')
OF_ROLES = '<filter><condition attribute="name" operator="in"><value>@user.roles</value></condition></filter>'
OF_FETCH = FILTER.format("eq", 'value="@fetch.first.name"')
LINK = '<link-entity name="unit" from="name" to="name" alias="u">{}</link-entity>'


def fetch(inside: str = "", entity: str = "thing") -> str:
    return f'<fetch><entity name="{entity}"><attribute name="name"/>{inside}</entity></fetch>'


def exposed(entity: str, *entries: RowRuleEntry) -> ExposedEntityDefinition:
    return ExposedEntityDefinition(module="m", segment=f"{entity}s", entity=entity, row_rule=entries)


def query(inside: str = "", *exposures: ExposedEntityDefinition, **given: Any) -> Endpoint:
    settings = {"query": fetch(inside), **given.pop("settings", {})}
    definition = {"kind": "multi-query", "module": "m", "name": "q", "settings": settings, **given}
    return Endpoint(EndpointDefinition.model_validate(definition), exposures=exposures)


def read(exposure: ExposedEntityDefinition, **given: Any) -> Endpoint:
    definition = {"kind": "read", "module": "m", "exposure": exposure.segment, **given}
    return Endpoint(EndpointDefinition.model_validate(definition), exposure, exposures=(exposure,))


def column(expression: str) -> dict[str, Any]:
    return {"columns": [{"name": "c", "expression": expression}]}


def fetcher(inside: str, **given: Any) -> dict[str, Any]:
    return {"fetchers": [{"name": "first", "query": fetch(inside, "unit"), **given}]}


ENTRY = RowRuleEntry(filter=FIXED)
SALES = RowRuleEntry(roles=("sales",), all_records=True)

BY_ALL: dict[str, Endpoint] = {
    "a query of nothing but constants": query(FIXED),
    "parameters": query(FILTER.format("eq", 'value="@name"')),
    "a fetcher of constants": query(OF_FETCH, **fetcher(FIXED)),
    "a rule for everyone": query("", exposed("thing", ENTRY)),
    "the rule of an entity that it does not read": query("", exposed("unit", SALES)),
    "the rule of a linked entity that does not apply": query(LINK.format(""), exposed("unit", SALES)),
    "the rule of a fetcher that does not apply": query("", exposed("unit", SALES), **fetcher(FIXED)),
    "expressions over the record": read(exposed("thing"), **column("record.name")),
    "expressions over the time": read(exposed("thing"), **column("now")),
}
BY_ROLES: dict[str, Endpoint] = {
    "a rule by roles": query("", exposed("thing", SALES, ENTRY)),
    "the record's rule by roles": read(exposed("thing", SALES)),
    "a linked rule": query(LINK.format(""), exposed("unit", SALES), settings={"linked_row_rules": True}),
    "a nested linked rule": query(
        LINK.format(LINK.format("").replace("unit", "part").replace('"u"', '"v"')),
        exposed("part", SALES),
        settings={"linked_row_rules": True},
    ),
    "a fetcher's rule": query("", exposed("unit", SALES), **fetcher(FIXED, apply_row_rules=True)),
}
BY_EVERY_ROLE: dict[str, Endpoint] = {
    "roles in a column": query("", **column("'sales' in user.roles")),
    "roles in a pre-condition": query("", preconditions=[{"expression": "size(user.roles) > 0"}]),
}
BY_CALLER: dict[str, Endpoint] = {
    "a query about the user": query(MINE),
    "a query about a property": query(OF_USER),
    "a query about a claim": query(OF_CLAIM),
    "a query about the caller's roles": query(OF_ROLES),
    "a link's filter": query(LINK.format(MINE)),
    "a nested filter": query(f"<filter type='or'>{FIXED}{OF_CLAIM}</filter>"),
    "the endpoint's row rule": query("", row_rule=OF_USER),
    "an entity's row rule": query("", exposed("thing", RowRuleEntry(filter=MINE))),
    "a record's row rule": read(exposed("thing", RowRuleEntry(roles=("sales",), filter=OF_CLAIM))),
    "a fetcher": query("", **fetcher(OF_CLAIM)),
    "a fetcher's rule": query(
        "", exposed("unit", RowRuleEntry(filter=MINE)), **fetcher(FIXED, apply_row_rules=True)
    ),
    "a column": query("", **column("user.city")),
    "a column about a claim": query("", **column("user.claims.city")),
    "a column about the type": query("", **column("user.type")),
    "a column of roles and more": query("", **column("size(user.roles) > 1 ? user.type : ''")),
    "a column that takes the user as a whole": query("", **column("size(user) > 3")),
    "a pre-condition": query("", preconditions=[{"expression": "user.city == 'Bern'"}]),
    "an expression that is none": query("", **column("user.")),
}


@pytest.mark.parametrize("case", BY_ALL)
def test_what_reads_nothing_of_callers_is_shared_by_all(case: str) -> None:
    assert sharing(BY_ALL[case]) == Sharing()


@pytest.mark.parametrize("case", BY_ROLES)
def test_what_rules_say_of_roles_is_shared_by_these(case: str) -> None:
    assert sharing(BY_ROLES[case]) == Sharing(roles=frozenset({"sales"}))


@pytest.mark.parametrize("case", BY_EVERY_ROLE)
def test_what_reads_roles_is_shared_by_those_who_have_the_same(case: str) -> None:
    assert sharing(BY_EVERY_ROLE[case]) == Sharing(roles=None)


@pytest.mark.parametrize("case", BY_CALLER)
def test_what_reads_anything_else_is_each_callers_own(case: str) -> None:
    assert sharing(BY_CALLER[case]).is_by_caller


@pytest.mark.parametrize(
    ("case", "looks_up"),
    [("a query about a property", True), ("a query about a claim", False), ("a column", True)],
)
def test_only_user_properties_are_looked_up(case: str, looks_up: bool) -> None:
    assert sharing(BY_CALLER[case]).properties is looks_up


def test_every_kind_of_value_has_been_thought_of() -> None:
    shared = {"Literal", "Parameter", "FetchValue", "RecordValue"}
    of_callers = {"UserValue", "ClaimValue"}
    assert {kind.__name__ for kind in get_args(designed.DesignedValue)} == shared | of_callers
