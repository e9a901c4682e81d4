"""`?fetchXml=`: the same rows as the OData query, and paging as clients do it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import pytest
from lxml import etree

from crmbox.demo.people import RITA_REP
from tests.webapi.crm import ANNOTATED, Crm

COOKIE = "@Microsoft.Dynamics.CRM.fetchxmlpagingcookie"
MORE = "@Microsoft.Dynamics.CRM.morerecords"
PAGING = {"Prefer": f'odata.include-annotations="{COOKIE[1:]},{MORE[1:]}"'}
NAMES = '<entity name="account"><attribute name="name"/><order attribute="name" descending="true"/></entity>'


def fetch(crm: Crm, text: str, entity_set: str = "accounts", **options: Any) -> Any:
    return crm.get(entity_set, params={"fetchXml": text}, **options)


def with_page(text: str, page: int, cookie: str | None = None) -> str:
    root = etree.fromstring(text)
    root.set("page", str(page))
    if cookie is not None:
        root.set("paging-cookie", cookie)
    return etree.tostring(root, encoding="unicode")


def inner(cookie: str) -> str:
    """The cookie as clients take it out of the annotation."""
    match = re.fullmatch(r'<cookie pagenumber="\d+" pagingcookie="([^"]+)" istracking="False" />', cookie)
    assert match
    return unquote(unquote(match[1]))


def test_rows_are_those_of_the_same_query_in_odata(crm: Crm) -> None:
    text = (
        '<fetch><entity name="account"><attribute name="name"/><attribute name="primarycontactid"/>'
        '<order attribute="name"/><filter><condition attribute="name" operator="like" value="%e%"/></filter>'
        "</entity></fetch>"
    )
    same = "accounts?$select=name,_primarycontactid_value&$filter=contains(name,'e')&$orderby=name"
    rows = fetch(crm, text)["value"]
    assert [{k: v for k, v in row.items() if v is not None} for row in crm.get(same)["value"]] == rows
    assert rows


def test_linked_columns_carry_their_alias_and_annotations(crm: Crm) -> None:
    text = (
        '<fetch top="3"><entity name="account"><attribute name="name" alias="title"/>'
        '<link-entity name="contact" from="contactid" to="primarycontactid" alias="c">'
        '<attribute name="fullname"/><attribute name="ownerid"/></link-entity></entity></fetch>'
    )
    [row, *_] = fetch(crm, text, headers=ANNOTATED)["value"]
    assert row["title"]
    assert row["c.fullname"]
    assert row["c.ownerid@Microsoft.Dynamics.CRM.lookuplogicalname"] == "systemuser"
    assert row["c.ownerid@OData.Community.Display.V1.FormattedValue"]
    assert row["accountid"]


def test_pages_follow_one_another_by_their_cookie(crm: Crm) -> None:
    text = f'<fetch count="60">{NAMES}</fetch>'
    whole = [row["accountid"] for row in fetch(crm, f"<fetch>{NAMES}</fetch>")["value"]]
    ids: list[str] = []
    page, cookie = 1, None
    while True:
        answer = fetch(crm, with_page(text, page, cookie), headers=PAGING)
        ids += [row["accountid"] for row in answer["value"]]
        assert answer[MORE] is (COOKIE in answer)
        if COOKIE not in answer:
            break
        cookie = inner(answer[COOKIE])
        assert cookie.startswith(f'<cookie page="{page}"')
        page += 1
    assert ids == whole
    assert page == -(-len(whole) // 60)


def test_a_page_far_behind_is_reached_by_its_cookie(crm: Crm) -> None:
    """More than 50,000 rows are walked to their end: only a page without a cookie is too far behind."""
    text = f'<fetch count="60">{NAMES}</fetch>'
    cookie = inner(fetch(crm, text, headers=PAGING)[COOKIE])
    second = fetch(crm, with_page(text, 2, cookie), headers=PAGING)
    far = fetch(crm, with_page(text, 2000, cookie), headers=PAGING)
    assert far["value"] == second["value"]
    assert inner(far[COOKIE]).startswith('<cookie page="2000"')


def test_pages_are_reached_by_number_alone(crm: Crm) -> None:
    whole = fetch(crm, f"<fetch>{NAMES}</fetch>")["value"]
    assert fetch(crm, with_page(f'<fetch count="60">{NAMES}</fetch>', 3))["value"] == whole[120:180]
    assert fetch(crm, with_page(f'<fetch count="60">{NAMES}</fetch>', 300))["value"] == []
    far = with_page(f'<fetch count="60">{NAMES}</fetch>', 2000)
    assert crm.error("GET", "accounts", params={"fetchXml": far})[0] == 400


def test_no_cookie_is_given_for_rows_sorted_by_a_linked_column(crm: Crm) -> None:
    text = (
        '<fetch count="5"><entity name="account"><attribute name="name"/>'
        '<order attribute="fullname" entityname="c"/>'
        '<link-entity name="contact" from="contactid" to="primarycontactid" alias="c"/></entity></fetch>'
    )
    answer = fetch(crm, text, headers=PAGING)
    assert answer[MORE] is True
    assert COOKIE not in answer


def test_the_number_of_all_records_comes_when_the_text_asks(crm: Crm) -> None:
    answer = fetch(crm, f'<fetch count="2" returntotalrecordcount="true">{NAMES}</fetch>')
    total = int(crm.send("GET", "accounts/$count").text)
    assert answer["@Microsoft.Dynamics.CRM.totalrecordcount"] == total


def test_aggregates_are_named_by_their_alias(crm: Crm) -> None:
    text = (
        '<fetch aggregate="true"><entity name="account">'
        '<attribute name="ownerid" groupby="true" alias="who"/>'
        '<attribute name="createdon" groupby="true" dategrouping="year" alias="year"/>'
        '<attribute name="createdon" groupby="true" dategrouping="fiscal-period" alias="period"/>'
        '<attribute name="accountid" aggregate="count" alias="n"/></entity></fetch>'
    )
    rows = fetch(crm, text, headers=ANNOTATED)["value"]
    assert sum(row["n"] for row in rows) == int(crm.send("GET", "accounts/$count").text)
    assert all(row["who@Microsoft.Dynamics.CRM.lookuplogicalname"] in ("systemuser", "team") for row in rows)
    assert all(isinstance(row["year"], int) and 1 <= row["period"] <= 4 for row in rows)


def test_values_that_look_like_placeholders_are_values(crm: Crm) -> None:
    id = crm.create("accounts", {"name": "@name", "accountnumber": "{0}"})
    try:
        for attribute, value in (("name", "@name"), ("accountnumber", "{0}")):
            condition = f'<condition attribute="{attribute}" operator="eq" value="{value}"/>'
            text = f'<fetch><entity name="account"><filter>{condition}</filter></entity></fetch>'
            assert [row["accountid"] for row in fetch(crm, text)["value"]] == [id]
    finally:
        crm.send("DELETE", f"accounts({id})")


def test_the_caller_is_the_one_who_is_acted_for(crm: Crm) -> None:
    text = (
        '<fetch><entity name="account"><attribute name="ownerid"/><filter>'
        '<condition attribute="ownerid" operator="eq-userid"/></filter></entity></fetch>'
    )
    rows = fetch(crm.acting_as(MSCRMCallerID=RITA_REP), text)["value"]
    assert {row["_ownerid_value"] for row in rows} == {RITA_REP}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<fetch", "not well-formed"),
        ("<!DOCTYPE x><fetch/>", "DOCTYPE"),
        ('<fetch><entity name="contact"/></fetch>', "does not match"),
        ('<fetch><entity name="account"><attribute name="nonsense"/></entity></fetch>', "nonsense"),
        ('<fetch page="x"><entity name="account"/></fetch>', "page"),
        ('<fetch page="2" count="1" paging-cookie="x"><entity name="account"/></fetch>', "cookie"),
        ('<fetch top="1" count="1"><entity name="account"/></fetch>', "top"),
        (
            '<fetch><entity name="account"><filter><condition attribute="parentaccountid" operator="under" '
            'value="x"/></filter></entity></fetch>',
            "under",
        ),
    ],
)
def test_a_wrong_text_is_refused_with_what_is_wrong(crm: Crm, text: str, said: str) -> None:
    status, _, message = crm.error("GET", "accounts", params={"fetchXml": text})
    assert status == 400
    assert said in message


def test_hierarchies_of_records_are_followed(crm: Crm) -> None:
    top = crm.create("accounts", {"name": "Top"})
    below = crm.create("accounts", {"name": "Below", "parentaccountid@odata.bind": f"/accounts({top})"})
    for operator, expected in (("under", [below]), ("eq-or-under", sorted([below, top]))):
        text = (
            f'<fetch><entity name="account"><attribute name="accountid"/><filter>'
            f'<condition attribute="accountid" operator="{operator}" value="{{{top.upper()}}}"/>'
            "</filter></entity></fetch>"
        )
        assert sorted(row["accountid"] for row in fetch(crm, text)["value"]) == expected
    same = f"accounts?$filter=Microsoft.Dynamics.CRM.Under(PropertyName='accountid',PropertyValue='{top}')"
    assert [row["accountid"] for row in crm.get(same)["value"]] == [below]


def test_everything_wrong_is_said_at_once(crm: Crm) -> None:
    text = (
        '<fetch useraworderby="true"><entity name="account"><attribute name="nme"/><filter>'
        '<condition attribute="langage" operator="eq-userlanguage"/></filter></entity></fetch>'
    )
    status, _, message = crm.error("GET", "accounts", params={"fetchXml": text})
    assert status == 400
    assert all(part in message for part in ("useraworderby", "'nme'", "eq-userlanguage", "'langage'"))
