"""Readiness of queries, on the demo's metadata: what keeps one from being served, or is not meant so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from designer.configuration import Configuration, Endpoint, Revision
from designer.definitions import EndpointDefinition, ModuleDefinition
from designer.platform import get_platform
from designer.readiness import Finding, Metadata, check, checker
from designer.readiness.findings import Severity
from designer.readiness.registry import ENDPOINT_RULES, Rule

pytestmark = pytest.mark.usefixtures("portico")

NAME = {"name": "name"}
LINK = '<link-entity name="contact" from="contactid" to="primarycontactid" alias="c">{}</link-entity>'


def fetch(inside: str = "", attributes: str = "", columns: str = '<attribute name="name"/>') -> str:
    return f'<fetch {attributes}><entity name="account">{columns}{inside}</entity></fetch>'


def where(condition: str) -> str:
    return fetch(f"<filter><condition {condition}/></filter>")


def several(attribute: str, values: int) -> str:
    return f'<condition attribute="{attribute}" operator="in">{"<value>1</value>" * values}</condition>'


def findings(
    query: str | None,
    *inputs: dict[str, Any],
    kind: str = "paginated-query",
    access: dict[str, Any] | None = None,
    columns: tuple[dict[str, str], ...] = (),
    **settings: Any,
) -> list[Finding]:
    definition = EndpointDefinition.model_validate(
        {
            "kind": kind,
            "module": "shop",
            "name": "accounts",
            "inputs": inputs,
            "columns": columns,
            "access": access or {},
            "settings": {"query": query, **settings},
        }
    )
    endpoint = Endpoint(definition)
    configuration = Configuration(Revision(1, ""), {1: endpoint}, modules=(ModuleDefinition(segment="shop"),))
    return check(endpoint, configuration, Metadata(get_platform()))


def rules(*given: Any, **more: Any) -> dict[str, str]:
    """Each finding's rule, with where it is to be mended."""
    return {finding.rule: finding.field for finding in findings(*given, **more)}


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
        (where('attribute="revenue" operator="eq" value="much"'), "'much' is no number"),
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
    found = [finding for finding in findings(query) if finding.rule == "query-problem"]
    assert [finding.field for finding in found] == ["settings.query"], found
    assert found[0].is_blocking
    assert message in found[0].message


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
        ("query-values", "settings.query", (where('attribute="name" operator="eq" value="@name"'),), {}),
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


OUT_OF_RANGE = "the date must lie between"
FILLED = '<condition attribute="name" operator="not-null"/>'


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (where('attribute="revenue" operator="gt" value="0.00001"'), "at most 4 decimal places are kept"),
        (where('attribute="numberofemployees" operator="lt" value="9999999999"'), "must lie between"),
        (where('attribute="industrycode" operator="eq" value="99999999999"'), "must lie between"),
        (where('attribute="createdon" operator="le" value="9999-12-31"'), OUT_OF_RANGE),
        (where('attribute="createdon" operator="le" value="9999-12-31T23:59:59-05:00"'), OUT_OF_RANGE),
        (where('attribute="createdon" operator="on-or-after" value="0001-01-01"'), OUT_OF_RANGE),
        (where('attribute="createdon" operator="last-x-years" value="500"'), OUT_OF_RANGE),
        (where('attribute="donotphone" operator="gt" valueof="donotemail"'), "does not apply to a true"),
        (
            fetch("<filter>" + several("new_interests", 1) + "</filter>"),
            "a multi-select choice is compared by contain-values",
        ),
        (fetch("<filter>" + several("name", 2001) + "</filter>"), "at most 2000 values are taken"),
        (fetch("<filter>" + FILLED * 501 + "</filter>"), "it has 501 conditions; at most 500 can be"),
        (
            fetch('<link-entity name="contact" from="parentcustomerid" to="name" alias="c"/>'),
            "a Customer and a String cannot be compared",
        ),
        (
            fetch(
                LINK.format(
                    '<link-entity name="systemuser" from="systemuserid" to="ownerid" alias="u"><filter>'
                    '<condition attribute="fullname" operator="eq" valueof="account.name"/>'
                    "</filter></link-entity>"
                )
            ),
            "a link's filter can name the link or its parent, not 'account'",
        ),
        (
            fetch(LINK.format("<all-attributes/>"), 'distinct="true"', "<all-attributes/>"),
            "columns; at most 64 can be",
        ),
    ],
)
def test_what_no_platform_would_run_is_said_before_it_is_asked(query: str, message: str) -> None:
    found = [finding for finding in findings(query, kind="multi-query") if finding.rule == "query-problem"]
    assert message in found[0].message


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
    found = findings(None)
    assert [finding.rule for finding in found][:1] == ["rule-failed"]
    assert "query-missing" in {finding.rule for finding in found}
    assert "secret" not in str(found)
