"""Readiness of queries, on the demo's metadata: what keeps one from being served, or is not meant so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crmbox.demo.people import FIRST_CONTACT
from designer.readiness import checker
from designer.readiness.findings import Severity
from designer.readiness.registry import ENDPOINT_RULES, Rule
from tests.designer.judged_queries import LINK, fetch, findings, fixes, rules, where

pytestmark = pytest.mark.usefixtures("portico")

NAME = {"name": "name"}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            fetch(columns='<attribute name="nme"/>'),
            "attribute nme: the entity 'account' has no attribute 'nme'.",
        ),
        (
            '<fetch><entity name="acount"><attribute name="name"/></entity></fetch>',
            "there is no entity 'acount'",
        ),
        (where('attribute="revenue" operator="like" value="1%"'), "the operator does not apply to a number"),
        (where('attribute="name" operator="contain-values" value="1"'), "does not apply to a text"),
        (where('attribute="revenue" operator="eq" value="much"'), "'much' is not a number"),
        (where('attribute="name" operator="eq" valueof="revenue"'), "cannot be compared"),
        (fetch('<order attribute="new_interests"/>'), "a multi-select choice cannot be sorted by"),
        (fetch('<order attribute="revenue"/>', 'distinct="true"'), "sorted by columns that it selects only"),
        (
            fetch(columns='<attribute name="name"/><attribute name="fax" alias="name"/>'),
            "2 columns have this name",
        ),
        (
            fetch(
                '<order alias="y"/>', 'aggregate="true"', '<attribute name="name" alias="x" groupby="true"/>'
            ),
            "order y: no column has this alias",
        ),
        (
            fetch("", 'aggregate="true"', '<attribute name="name" alias="x" aggregate="sum"/>'),
            "attribute name: sum does not apply to a text",
        ),
        (
            fetch(
                "",
                'aggregate="true"',
                '<attribute name="name" alias="x" groupby="true" dategrouping="year"/>',
            ),
            "only dates have a dategrouping",
        ),
        (
            fetch(
                LINK.format(
                    '<filter><condition entityname="d" attribute="fullname" operator="null"/></filter>'
                )
                + LINK.format("").replace('"c"', '"d"')
            ),
            "a link's filter can name the link or its parent, not 'd'",
        ),
    ],
)
def test_what_no_platform_could_run_is_named(query: str, message: str) -> None:
    matches = [finding for finding in findings(query) if finding.rule == "query-problem"]
    assert [finding.field for finding in matches] == ["settings.query"], matches
    assert matches[0].is_blocking
    assert message in matches[0].message


@pytest.mark.parametrize(
    ("rule", "place", "given", "more"),
    [
        ("query-missing", "settings.query", (None,), {}),
        ("query-columns", "settings.query", (fetch(columns=""),), {}),
        (
            "query-columns",
            "columns",
            (fetch(columns='<attribute name="name" alias="a_b"/><attribute name="fax" alias="aB"/>'),),
            {},
        ),
        (
            "query-columns",
            "columns",
            (
                fetch(
                    columns='<attribute name="industrycode" alias="a"/><attribute name="fax" alias="aLabel"/>'
                ),
            ),
            {"labels": True},
        ),
        ("column-unknown", "columns.revenue", (fetch(),), {"columns": ({"attribute": "revenue"},)}),
        ("query-values", "settings.query.name", (where('attribute="name" operator="eq" value="@name"'),), {}),
        ("query-values", "settings.query", (where('attribute="name" operator="eq" value="@user.city"'),), {}),
        ("query-values", "settings.query", (where('attribute="name" operator="eq" value="@fetch.a.b"'),), {}),
        (
            "query-values",
            "settings.query",
            (where('attribute="name" operator="eq" value="@record.name"'),),
            {},
        ),
        (
            "query-anonymous",
            "settings.query",
            (where('attribute="ownerid" operator="eq-userid"'),),
            {"access": {"authentication_required": False}},
        ),
        ("query-order", "settings.orders", (fetch(),), {"orders": [{"name": "x", "by": ["-revenue"]}]}),
        ("query-order", "settings.orders", (fetch(),), {"orders": [{"name": "x", "by": ["name"]}] * 2}),
        ("query-top-paged", "settings.query", (fetch("", 'top="5"'),), {}),
        ("query-page-alone", "settings.query", (fetch("", 'page="2" count="5"'),), {"kind": "multi-query"}),
        ("query-page-later", "settings.query", (fetch("", 'page="2" count="5"'),), {}),
        ("query-page-beyond", "settings.query", (fetch("", 'page="101" count="5"'),), {}),
        (
            "query-order-linked",
            "settings.query",
            (fetch(LINK.format('<attribute name="fullname"/><order attribute="fullname"/>')),),
            {},
        ),
        (
            "query-order-linked",
            "settings.orders",
            (fetch(LINK.format('<attribute name="fullname"/>')),),
            {"orders": [{"name": "x", "by": ["c.fullname"]}]},
        ),
        ("query-page-size", "settings.query", (fetch("", 'count="5"'),), {"kind": "multi-query"}),
        ("query-page-size", "settings.query", (fetch("", 'count="5000"'),), {}),
        ("query-page-size", "settings.page_size", (fetch(),), {"page_size": 600}),
        ("query-input-name", "inputs.Order.name", (fetch(), {"name": "Order"}), {}),
        ("input-unused", "inputs.name.name", (fetch(), NAME), {}),
        (
            "query-input-list",
            "inputs.name.name",
            (
                fetch(
                    '<filter><condition attribute="name" operator="in" value="@name"/>'
                    '<condition attribute="fax" operator="eq" value="@name"/></filter>'
                ),
                NAME,
            ),
            {},
        ),
    ],
)
def test_a_rule_of_queries_finds_what_it_is_for(
    rule: str, place: str, given: tuple[Any, ...], more: dict[str, Any]
) -> None:
    assert rules(*given, **more).get(rule) == place


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ('<fetch><entity name="acount"><attribute name="name"/></entity></fetch>', "acount"),
        ('<fetch><entity name="acount"><all-attributes/></entity></fetch>', "acount"),
        (fetch(columns='<attribute name="nme" alias="name"/>'), "nme"),
        (
            fetch(
                LINK.format('<attribute name="fulname" alias="name"/>'),
                columns="",
            ),
            "fulname",
        ),
    ],
)
def test_an_unknown_name_is_one_problem_however_often_it_is_used(query: str, wrong: str) -> None:
    orders = ({"name": "name", "by": ["-name"]},)
    for columns in ((), ({"attribute": "name"},)):
        (problem,) = findings(query, columns=columns, orders=orders)
        assert (problem.rule, wrong in problem.message) == ("query-problem", True)


@pytest.mark.parametrize(
    ("attribute", "operator", "wrong", "right"),
    [
        ("name", "contains", "Integer", "String"),
        ("revenue", "ge", "Double", "Money"),
        ("numberofemployees", "ge", "Decimal", "Integer"),
        ("industrycode", "eq", "String", "OptionSet"),
        ("industrycode", "in", "String", "OptionSet"),
        ("new_interests", "contain-values", "String", "MultiOptionSet"),
        ("createdon", "ge", "String", "DateTime"),
        ("createdon", "eq", "Date", "DateTime"),
        ("createdon", "on", "Integer", "Date"),
        ("createdon", "last-x-days", "Date", "Integer"),
        ("new_customersince", "eq", "DateTime", "Date"),
        ("donotemail", "eq", "Integer", "Boolean"),
        ("primarycontactid", "eq", "String", "EntityReference"),
        ("accountid", "eq", "String", "Guid"),
        ("name", "eq", "List", "String"),
    ],
)
def test_an_input_fits_what_it_is_compared_with(
    attribute: str, operator: str, wrong: str, right: str
) -> None:
    query = where(f'attribute="{attribute}" operator="{operator}" value="@it"')
    assert rules(query, {"name": "it", "type": wrong})["query-input-type"] == "inputs.it.type"
    assert rules(query, {"name": "it", "type": right}) == {}


@pytest.mark.parametrize("kind", ["single-query", "multi-query", "paginated-query"])
def test_nothing_is_found_of_a_good_query(kind: str) -> None:
    query = fetch(
        '<order attribute="name"/><filter type="or"><condition attribute="name" operator="like" value="A%"/>'
        '<condition attribute="name" operator="begins-with" value="@name"/></filter>'
        + LINK.format('<attribute name="fullname"/>')
    )
    assert rules(query, NAME, kind=kind, columns=({"attribute": "c.fullname", "name": "contact"},)) == {}


def test_queries_are_judged_in_the_time_zone_that_they_are_run_in(settings: Any) -> None:
    by_month = fetch(
        "",
        'aggregate="true"',
        '<attribute name="createdon" alias="m" groupby="true" dategrouping="month"/>'
        '<attribute name="accountid" alias="n" aggregate="count"/>',
    )
    assert rules(by_month, kind="multi-query") == {}
    settings.PORTICO = {**settings.PORTICO, "CRM_TIME_ZONE": "Europe/Berlin"}
    assert rules(by_month, kind="multi-query") == {"query-problem": "settings.query"}


def test_only_a_parameter_that_there_is_not_is_offered() -> None:
    uses = (
        '<condition attribute="name" operator="eq" value="@query"/>'
        '<condition attribute="fax" operator="eq" value="@user.city"/>'
    )
    both = fetch(f"<filter>{uses}</filter>")
    assert [new.name for fix in fixes(both) for new in fix.inputs] == ["query"]
    assert rules(both, {"name": "query"}) == {"query-values": "settings.query"}
    assert fixes(both, {"name": "query"}) == []


def test_a_parameter_in_other_letters_is_named_and_not_added() -> None:
    query = where('attribute="name" operator="eq" value="@Topic"')
    (message,) = (
        finding.message for finding in findings(query, {"name": "topic"}) if finding.rule == "query-values"
    )
    assert message.endswith("Did you mean “topic”?")
    assert fixes(query, {"name": "topic"}) == []


@pytest.mark.parametrize(
    ("attribute", "operator", "given", "message"),
    [
        ("industrycode", "eq", {"type": "OptionSet", "default": 4711}, "4711 is not a value"),
        ("industrycode", "eq", {"type": "OptionSet", "allowed": [4711]}, "4711 is not a value"),
        ("industrycode", "in", {"type": "OptionSet", "default": [6, 4711]}, "4711 is not a value"),
        ("new_interests", "contain-values", {"type": "MultiOptionSet", "allowed": [7]}, "7 is not a value"),
        ("primarycontactid", "eq", {"type": "EntityReference", "default": "Ada"}, "Must be a GUID"),
        ("primarycontactid", "eq", {"type": "EntityReference", "allowed": ["Ada"]}, "Must be a GUID"),
        ("name", "eq", {"default": ["Contoso"]}, "Must be a string"),
        ("name", "contains", {"default": "x" * 3999}, "cannot compare with this value"),
        ("name", "in", {"default": ["Contoso", 5]}, "Must be a string"),
        ("name", "in", {"default": []}, "at least one item"),
    ],
)
def test_a_default_and_allowed_values_are_judged_as_the_query_reads_them(
    attribute: str, operator: str, given: dict[str, Any], message: str
) -> None:
    query = where(f'attribute="{attribute}" operator="{operator}" value="@it"')
    (finding,) = findings(query, {"name": "it", **given})
    assert finding.is_blocking
    assert finding.rule == ("input-default" if "default" in given else "input-allowed")
    assert message in finding.message


@pytest.mark.parametrize(
    ("attribute", "operator", "given"),
    [
        ("industrycode", "eq", {"type": "OptionSet", "default": 6, "allowed": [6, 7]}),
        ("industrycode", "in", {"type": "OptionSet", "default": [6, 7]}),
        ("name", "in", {"default": ["Contoso", "Fabrikam"]}),
        ("name", "in", {"default": "Contoso"}),
        ("primarycontactid", "eq", {"type": "EntityReference", "default": "{" + FIRST_CONTACT.upper() + "}"}),
        ("primarycontactid", "eq", {"type": "EntityReference", "allowed": [FIRST_CONTACT]}),
        ("primarycontactid", "in", {"type": "EntityReference", "default": [FIRST_CONTACT]}),
    ],
)
def test_nothing_is_found_of_defaults_and_allowed_values_that_the_query_reads(
    attribute: str, operator: str, given: dict[str, Any]
) -> None:
    query = where(f'attribute="{attribute}" operator="{operator}" value="@it"')
    assert rules(query, {"name": "it", **given}) == {}


def test_a_chart_of_the_first_few_is_cut_by_top() -> None:
    columns = (
        '<attribute name="ownerid" alias="o" groupby="true"/>'
        '<attribute name="accountid" alias="n" aggregate="count"/><order alias="n" descending="true"/>'
    )
    counted = fetch("", 'aggregate="true" count="3"', columns)
    assert rules(counted, kind="multi-query")["query-count-groups"] == "settings.query"
    assert rules(fetch("", 'aggregate="true" top="3"', columns), kind="multi-query") == {}


def test_what_no_rule_can_judge_hides_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(subject: object) -> Iterator[tuple[str, str]]:
        raise RuntimeError("the secret reason")

    monkeypatch.setattr(checker, "ENDPOINT_RULES", [Rule("odd", Severity.BLOCKING, fails), *ENDPOINT_RULES])
    all_findings = findings(None)
    assert [finding.rule for finding in all_findings][:1] == ["rule-failed"]
    assert "query-missing" in {finding.rule for finding in all_findings}
    assert "secret" not in str(all_findings)
