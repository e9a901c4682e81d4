"""What no platform would run is found when a query is designed, not when it is asked for."""

from __future__ import annotations

import pytest

from crmclient.query.families import FAMILY, UNSORTABLE
from designer.models import Endpoint
from designer.overview import overview
from designer.platform import get_platform
from tests.callers import Caller
from tests.designer.judged_queries import LINK, fetch, findings, where
from tests.row_rules import by_roles, only_rule
from tests.runtime.queries import a_query

pytestmark = pytest.mark.usefixtures("portico")

OUT_OF_RANGE = "the date must lie between"
FILLED = '<condition attribute="name" operator="not-null"/>'


def several(attribute: str, values: int) -> str:
    return f'<condition attribute="{attribute}" operator="in">{"<value>1</value>" * values}</condition>'


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
        (fetch("<filter>" + FILLED * 501 + "</filter>"), "it has 501 conditions; at most 500 are allowed"),
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
            "columns; at most 64 are allowed",
        ),
    ],
)
def test_what_no_platform_would_run_is_said_before_it_is_asked(query: str, message: str) -> None:
    matches = [finding for finding in findings(query, kind="multi-query") if finding.rule == "query-problem"]
    assert message in matches[0].message


def _sorted_by(entity: str, count: int) -> str:
    """An order by so many attributes; the id is none of them."""
    sortable = [
        name
        for name, attribute in get_platform().attributes(entity).items()
        if attribute.readable and not attribute.is_primary_id and FAMILY[attribute.type] not in UNSORTABLE
    ]
    assert len(sortable) >= count
    return "".join(f'<order attribute="{name}"/>' for name in sortable[:count])


@pytest.mark.parametrize(("count", "is_served"), [(33, True), (34, False)])
def test_a_query_is_sorted_by_as_many_columns_as_platforms_take(
    rita: Caller, count: int, is_served: bool
) -> None:
    """The id of the entity is one of them, and that of the linked one is not: it meets one record at most."""
    linked = _sorted_by("contact", 30).replace("<order ", '<order entityname="c" ')
    query = fetch(_sorted_by("account", count) + linked + LINK.format(""))
    messages = [found.message for found in findings(query, kind="multi-query") if found.is_blocking]
    assert messages == (
        [] if is_served else ["entity account: it is sorted by 64 columns; at most 63 are allowed."]
    )
    assert rita.get(a_query("multi", query)).status_code == (200 if is_served else 503)


def test_an_offered_order_has_as_many_columns_as_platforms_take() -> None:
    attributes = [name for name in _sorted_by("account", 33).split('"') if name.isidentifier()]
    contacts = [name for name in _sorted_by("contact", 31).split('"') if name.isidentifier()]
    columns = "".join(f'<attribute name="{name}"/>' for name in attributes)
    linked = "".join(f'<attribute name="{name}"/>' for name in contacts)
    query = fetch(LINK.format(linked), columns=columns)
    by = [*attributes, *(f"c.{name}" for name in contacts)]
    for most, orders in (([], by[:63]), (["The order “x” sorts by 64 columns; at most 63 are allowed."], by)):
        found = findings(query, kind="multi-query", orders=[{"name": "x", "by": orders}])
        assert [finding.message for finding in found if finding.rule == "query-order"] == most


def test_conditions_and_links_of_row_rules_count(rita: Caller) -> None:
    link = '<link-entity name="contact" from="parentcustomerid" to="accountid" link-type="any"/>'
    for ruled, own, is_served in ((FILLED * 300, FILLED * 200, True), (FILLED * 300, FILLED * 201, False)):
        only_rule(f"<filter>{ruled}</filter>")
        _assert_served(rita, fetch(f"<filter>{own}</filter>"), "501 conditions", is_served)
    for ruled, own, is_served in ((link * 10, link * 5, True), (link * 10, link * 6, False)):
        only_rule(f"<filter>{ruled}</filter>")
        _assert_served(rita, fetch(f"<filter>{own}</filter>"), "16 linked entities", is_served)


def test_row_rules_of_roles_that_nobody_has_together_do_not_count_together(rita: Caller) -> None:
    link = '<link-entity name="contact" from="parentcustomerid" to="accountid" link-type="any"/>'
    ruled = f"<filter>{link * 8}</filter>"
    by_roles(
        [(ruled, ["sales-rep"]), (f"<filter>{link * 9}</filter>", ["sales-manager"]), (ruled, ["support"])]
    )
    _assert_served(rita, fetch(""), "", is_served=True)
    by_roles([(f"<filter>{link * 16}</filter>", ["sales-rep"]), ("", ["sales-rep"])])
    _assert_served(rita, fetch(""), "", is_served=True)


def _assert_served(caller: Caller, query: str, problem: str, is_served: bool) -> None:
    """Assert that the query is served, or that readiness names the problem by which it is not."""
    path = a_query("multi", query)
    found = [finding.message for finding in overview().findings if finding.rule == "query-size"]
    status = caller.get(path).status_code
    Endpoint.objects.filter(name="tested").delete()
    assert status == (200 if is_served else 503)
    assert [problem in message for message in found] == ([] if is_served else [True])
