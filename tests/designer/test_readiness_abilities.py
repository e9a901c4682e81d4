"""What a platform does not have is a finding at the field that needs it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crmclient.conventions import EVERYTHING, Ability, Conventions
from crmclient.dataverse.conventions import CONVENTIONS
from designer.configuration import Endpoint
from designer.definitions import (
    AccessDefinition,
    BindingDefinition,
    ColumnDefinition,
    ExposedEntityDefinition,
    FetcherDefinition,
    InputDefinition,
    PreconditionDefinition,
    RowRuleEntry,
    UserPropertyDefinition,
)
from designer.readiness import Checker, Finding
from tests.designer.judged import BOUND, MAIL, NAME, action, configured, create, files, metadata, read

BUYERS = AccessDefinition(roles=("buyer",))
NOTHING = Conventions()
COMPLETE = replace(CONVENTIONS, abilities=EVERYTHING)
WITHOUT_LINKS = Conventions(users=CONVENTIONS.users, abilities=EVERYTHING - {Ability.LINKS})
FIRST_PERIOD = '<filter><condition attribute="createdon" operator="in-fiscal-period" value="1"/></filter>'
OWN = '<filter><condition attribute="createdon" operator="not-null"/>{}</filter>'
MINE = OWN.format('<condition attribute="unitid" operator="eq-userid"/>')
OF_MAIL = OWN.format('<condition attribute="name" operator="eq" value="@user.mail"/>')
THINGS = '<fetch {}><entity name="thing"><attribute name="name" {}/>{}</entity></fetch>'
LINKED = '<link-entity name="unit" from="name" to="name" alias="u"/>'


def query(fetch: str, kind: str = "multi-query", **values: Any) -> Endpoint:
    settings = {"query": fetch, **values.pop("settings", {})}
    return create(
        kind=kind, name="all", exposure="", entity=None, inputs=(), bindings=(), settings=settings, **values
    )


def listed(*bindings: BindingDefinition) -> Endpoint:
    items = InputDefinition(
        name="parts", type="List", relationship="thing_parts", inputs=(NAME,), bindings=(BOUND, *bindings)
    )
    return create(inputs=(NAME, items))


OF_USER = BindingDefinition(attribute="name", source="user", value="mail")
FINDINGS: dict[str, tuple[str, str, Endpoint]] = {
    "a rule that compares with the caller": (
        "platform-users", "row_rule", read("name", row_rule=MINE, access=BUYERS),
    ),
    "a rule that compares with a user property": (
        "platform-users", "row_rule", read("name", row_rule=OF_MAIL, access=BUYERS),
    ),
    "a query that compares with the caller": (
        "platform-users", "settings.query", query(THINGS.format("", "", MINE)),
    ),
    "a rule of what a query reads": (
        "platform-users",
        "settings.query",
        replace(
            query(THINGS.format("", "", "")),
            exposures=(
                ExposedEntityDefinition(
                    module="shop", segment="things", entity="thing", row_rule=(RowRuleEntry(filter=MINE),)
                ),
            ),
        ),
    ),
    "a fetcher that compares with the caller": (
        "platform-users",
        "fetchers.mine.query",
        create(fetchers=(FetcherDefinition(name="mine", query=THINGS.format("", "", MINE)),)),
    ),
    "a binding to a user property": ("platform-users", "bindings.name.value", create(bindings=(OF_USER,))),
    "an expression that reads the user": (
        "platform-users",
        "bindings.name.value",
        create(bindings=(OF_USER.model_copy(update={"source": "expression", "value": "user.mail"}),)),
    ),
    "a pre-condition that reads the user": (
        "platform-users",
        "preconditions.0.expression",
        create(preconditions=(PreconditionDefinition(expression="'x' in user.roles"),)),
    ),
    "a binding of a list's items": (
        "platform-users", "inputs.parts.bindings.name.value", listed(OF_USER),
    ),
    "a list": ("platform-batches", "inputs.parts.type", listed()),
    "an upsert": (
        "platform-upserts", "settings.key", create(kind="upsert", name="code", settings={"key": "code"}),
    ),
    "duplicates to be refused": (
        "platform-duplicates",
        "settings.refuse_duplicates",
        create(settings={"refuse_duplicates": True}),
    ),
    "a version to be sent": (
        "platform-versions",
        "settings.require_if_match",
        create(kind="update", access=BUYERS, settings={"require_if_match": True}),
    ),
    "pages": ("platform-pages", "settings.page_size", query(THINGS.format("", "", ""), "paginated-query")),
    "a count of all rows": (
        "platform-totals",
        "settings.total",
        query(THINGS.format("", "", ""), "paginated-query", settings={"total": True}),
    ),
    "a count of all rows in the query": (
        "platform-totals",
        "settings.query",
        query(THINGS.format('returntotalrecordcount="true"', "", ""), "paginated-query"),
    ),
    "a link": ("platform-queries", "settings.query", query(THINGS.format("", "", LINKED))),
    "a link in a fetcher": (
        "platform-queries",
        "fetchers.one.query",
        create(fetchers=(FetcherDefinition(name="one", query=THINGS.format("", "", LINKED)),)),
    ),
    "distinct rows": ("platform-queries", "settings.query", query(THINGS.format('distinct="true"', "", ""))),
    "an aggregate": (
        "platform-queries",
        "settings.query",
        query(THINGS.format('aggregate="true"', 'alias="n" aggregate="count"', "")),
    ),
    "a period of the fiscal year": (
        "platform-queries", "settings.query", query(THINGS.format("", "", FIRST_PERIOD)),
    ),
    "a group by fiscal years": (
        "platform-queries",
        "settings.query",
        query(
            '<fetch aggregate="true"><entity name="thing"><attribute name="createdon" alias="year" '
            'groupby="true" dategrouping="fiscal-year"/></entity></fetch>'
        ),
    ),
    "notes": (
        "file-column",
        "settings.notes",
        files("upload", notes=True, access=BUYERS),
    ),
}  # fmt: skip


def judged(endpoint: Endpoint, conventions: Conventions = NOTHING) -> list[Finding]:
    checker = Checker(configured(endpoint, properties=(MAIL,)), metadata(conventions=conventions))
    return checker.endpoint(1)


@pytest.mark.parametrize("case", FINDINGS)
def test_what_the_platform_lacks_is_found_where_it_is_needed(case: str) -> None:
    rule, field, endpoint = FINDINGS[case]

    findings = {(finding.rule, finding.field) for finding in judged(endpoint) if finding.is_blocking}

    assert (rule, field) in findings


@pytest.mark.parametrize("case", sorted(FINDINGS.keys() - {"notes"}))
def test_nothing_of_it_is_found_where_the_platform_has_it(case: str) -> None:
    _rule, _field, endpoint = FINDINGS[case]

    rules = {finding.rule for finding in judged(endpoint, COMPLETE)}

    assert {rule for rule in rules if rule.startswith("platform-")} <= {"platform-versions"}


def test_each_ability_that_is_left_out_is_found() -> None:
    """One that no rule asks about would be a 503 that nobody foresaw."""
    whole = {finding.rule for _, _, endpoint in FINDINGS.values() for finding in judged(endpoint, COMPLETE)}
    for ability in EVERYTHING - {Ability.LINKED_PAGES}:
        less = Conventions(
            records=CONVENTIONS.records,
            users=CONVENTIONS.users,
            notes=CONVENTIONS.notes,
            abilities=EVERYTHING - {ability},
        )
        rules = {finding.rule for _, _, endpoint in FINDINGS.values() for finding in judged(endpoint, less)}
        assert rules - whole, ability


def test_what_the_caller_is_not_needed_for_is_ready_without_users() -> None:
    calculated = ColumnDefinition(name="loud", expression="record.name + '!'")
    endpoint = read("name", row_rule=OWN.format(""), access=BUYERS)
    columns = (*endpoint.definition.columns, calculated)
    definition = endpoint.definition.model_copy(update={"columns": columns})

    assert judged(Endpoint(definition, endpoint.entity)) == []
    assert judged(action("Paint", access=BUYERS, bindings=(
        BindingDefinition(attribute="Colour", source="constant", value="red"),
    ))) == []  # fmt: skip


def test_what_is_required_in_vain_can_be_switched_off() -> None:
    endpoint = create(kind="update", access=BUYERS, settings={"require_if_match": True})
    checker = Checker(configured(endpoint, properties=(MAIL,)), metadata(conventions=NOTHING))
    [finding] = [candidate for candidate in checker.endpoint(1) if candidate.rule == "platform-versions"]

    fix = checker.fix(1, finding)

    assert fix is not None
    assert fix.changes == {"settings.require_if_match": False}


@pytest.mark.parametrize(
    "declared",
    [
        MAIL,
        UserPropertyDefinition(name="x", kind="custom", expression="user.roles"),
        UserPropertyDefinition(name="x", kind="related", relationship="unit_users"),
    ],
)
def test_user_properties_need_users(declared: UserPropertyDefinition) -> None:
    findings = Checker(configured(properties=(declared,)), metadata(conventions=NOTHING)).user_property(
        declared
    )

    assert [(finding.rule, finding.field) for finding in findings] == [("user-property-users", "kind")]


def test_what_a_user_points_at_needs_links() -> None:
    user_property = UserPropertyDefinition(
        name="x", kind="related", relationship="unit_users", columns=(ColumnDefinition(attribute="name"),)
    )
    checker = Checker(configured(properties=(user_property,)), metadata(conventions=WITHOUT_LINKS))

    assert [(finding.rule, finding.field) for finding in checker.user_property(user_property)] == [
        ("user-property-links", "relationship")
    ]
