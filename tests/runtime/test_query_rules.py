"""Whom a query answers about: row rules, and conditions on the caller."""

from __future__ import annotations

import pytest

from crmbox.demo import people
from crmclient import Reference
from designer.models import Endpoint, ExposedEntity, Fetcher, Input, Precondition
from designer.platform import get_platform
from tests.callers import Caller
from tests.row_rules import only_rule, ruled
from tests.runtime.accounts import an_account
from tests.runtime.queries import a_query, accounts, body, where


def test_the_row_rules_of_the_entity_and_of_the_endpoint_both_count(rita: Caller) -> None:
    for name, phone in (("Ruled a", "1"), ("Ruled b", "1"), ("Ruled c", "2")):
        an_account(name=name, telephone1=phone)
    only_rule(where('attribute="telephone1" operator="eq" value="1"'))
    path = a_query("multi", accounts(where('attribute="name" operator="begins-with" value="Ruled"')))
    assert {row["name"] for row in body(rita, path)} == {"Ruled a", "Ruled b"}
    Endpoint.objects.filter(name="tested").update(
        row_rule=where('attribute="name" operator="ne" value="Ruled a"')
    )
    assert [row["name"] for row in body(rita, path)] == ["Ruled b"]


@pytest.mark.parametrize(("ticked", "expected"), [(False, "Hidden X"), (True, None)])
def test_row_rules_of_linked_entities_count_where_it_is_ticked(
    rita: Caller, ticked: bool, expected: str | None
) -> None:
    contact = get_platform().create("contact", {"firstname": "Hidden", "lastname": "X"})
    an_account(name="Linked", primarycontactid=Reference("contact", contact.id))
    accounts_row = ExposedEntity.objects.get(segment="accounts")
    contacts = ExposedEntity.objects.create(module=accounts_row.module, segment="contacts", entity="contact")
    ruled(contacts, where('attribute="lastname" operator="ne" value="X"'))
    query = accounts(
        where('attribute="name" operator="eq" value="Linked"')
        + '<link-entity name="contact" from="contactid" to="primarycontactid" link-type="outer" alias="c">'
        '<attribute name="fullname" alias="contact"/></link-entity>'
    )
    path = a_query("single", query, linked_row_rules=ticked)
    assert body(rita, path) == {"name": "Linked", "contact": expected}


@pytest.mark.parametrize(
    ("type", "ticked", "names"),
    [
        ("any", False, {"Open", "Shut"}),
        ("any", True, {"Open"}),
        ("not any", False, {"Bare", "Other"}),
        ("not any", True, {"Bare", "Other", "Shut"}),
        # Some are reached, and none of them is a Y; of Shut nothing is reached at all.
        ("all", False, {"Other"}),
        ("all", True, {"Other"}),
        ("not all", True, {"Open"}),
    ],
)
def test_row_rules_of_linked_entities_decide_what_there_is(
    rita: Caller, type: str, ticked: bool, names: set[str]
) -> None:
    for account, people_of in (
        ("Open", ("Y",)),
        ("Shut", ("Y hidden",)),
        ("Other", ("Z",)),
        ("Bare", ()),
    ):
        id = an_account(name=account, fax="existence").rpartition("/")[2]
        for last in people_of:
            parent = Reference("account", id)
            get_platform().create("contact", {"lastname": last, "parentcustomerid": parent})
    row = ExposedEntity.objects.get(segment="accounts")
    contacts = ExposedEntity.objects.create(module=row.module, segment="contacts", entity="contact")
    ruled(contacts, where('attribute="lastname" operator="not-end-with" value="hidden"'))
    query = accounts(
        where('attribute="fax" operator="eq" value="existence"').replace(
            "</filter>",
            f'<link-entity name="contact" from="parentcustomerid" to="accountid" link-type="{type}">'
            '<filter><condition attribute="lastname" operator="begins-with" value="Y"/></filter>'
            "</link-entity></filter>",
        )
    )
    path = a_query("multi", query, linked_row_rules=ticked)
    assert {row["name"] for row in body(rita, path)} == names


def test_a_row_rule_may_ask_for_linked_records(rita: Caller) -> None:
    for name, owner in (("Of Rita", people.RITA_REP), ("Of Max", people.MAX_MANAGER)):
        id = an_account(name=name, fax="rule").rpartition("/")[2]
        get_platform().create(
            "contact",
            {
                "lastname": name,
                "parentcustomerid": Reference("account", id),
                "ownerid": Reference("systemuser", owner),
            },
        )
    only_rule(
        '<filter><link-entity name="contact" from="parentcustomerid" to="accountid" link-type="any">'
        '<filter><condition attribute="ownerid" operator="eq-userid"/></filter></link-entity></filter>'
    )
    path = a_query("multi", accounts(where('attribute="fax" operator="eq" value="rule"')))
    assert [row["name"] for row in body(rita, path)] == ["Of Rita"]


_OF_ACCOUNT = (
    '<link-entity name="contact" from="parentcustomerid" to="accountid" link-type="{}" alias="{}">{}'
)


def _linked(last_names: str) -> str:
    return f'<filter><condition attribute="lastname" operator="begins-with" value="{last_names}"/></filter>'


@pytest.mark.parametrize("alias", ["c_some", "mine"])
def test_aliases_of_a_query_are_its_authors(rita: Caller, alias: str) -> None:
    """Neither those of links that a row rule adds, nor those in row rules, are in their way."""
    id = an_account(name="Aliased", fax="alias").rpartition("/")[2]
    get_platform().create("contact", {"lastname": "Z", "parentcustomerid": Reference("account", id)})
    only_rule(f"<filter>{_OF_ACCOUNT.format('any', 'mine', _linked('Z'))}</link-entity></filter>")
    row = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    contacts = ExposedEntity.objects.create(module=row.module, segment="contacts", entity="contact")
    ruled(
        contacts,
        '<filter><link-entity name="account" from="accountid" to="parentcustomerid" link-type="any" '
        'alias="c"/></filter>',
    )
    links = [("all", "c", "Y"), ("any", alias, "Z")]
    path = a_query(
        "multi",
        accounts(
            '<filter><condition attribute="fax" operator="eq" value="alias"/>'
            + "".join(
                f"{_OF_ACCOUNT.format(type, name, _linked(last))}</link-entity>" for type, name, last in links
            )
            + "</filter>"
        ),
        linked_row_rules=True,
    )
    assert [row["name"] for row in body(rita, path)] == ["Aliased"]


def test_a_link_that_denies_what_is_unknown_of_the_caller_keeps_no_row(
    rita: Caller, anonymous: Caller
) -> None:
    an_account(name="Alone", fax="denied")
    query = accounts(
        '<filter><condition attribute="fax" operator="eq" value="denied"/>'
        '<link-entity name="contact" from="parentcustomerid" to="accountid" link-type="not any">'
        '<filter><condition attribute="lastname" operator="eq" value="@user.fullName"/></filter>'
        "</link-entity></filter>"
    )
    path = a_query("multi", query)
    Endpoint.objects.filter(name="tested").update(authentication_required=False)
    assert [row["name"] for row in body(rita, path)] == ["Alone"]
    assert body(anonymous, path) == []


def test_whoever_reports_to_the_caller_counts_where_the_query_says_so(rita: Caller, max: Caller) -> None:
    boss = {"parentsystemuserid": Reference("systemuser", people.MAX_MANAGER)}
    get_platform().update("systemuser", people.RITA_REP, boss)
    for operator, of_max in (
        ("eq-useroruserhierarchy", {people.MAX_MANAGER, people.RITA_REP}),
        ("eq-userid", {people.MAX_MANAGER}),
    ):
        query = accounts(
            where(f'attribute="ownerid" operator="{operator}"'), columns='<attribute name="ownerid"/>'
        )
        path = a_query("multi", query, cap=500, name=f"reports-{operator}")
        owners = [{row["owner"]["id"] for row in body(caller, path)} for caller in (rita, max)]
        assert owners[0] == {people.RITA_REP}
        assert owners[1] & {people.MAX_MANAGER, people.RITA_REP} == of_max


def test_conditions_on_the_caller_are_about_the_caller(rita: Caller, max: Caller) -> None:
    path = a_query(
        "multi",
        accounts(where('attribute="ownerid" operator="eq-userid"'), columns='<attribute name="ownerid"/>'),
        cap=500,
    )
    owners = [{row["owner"]["id"] for row in body(caller, path)} for caller in (rita, max)]
    assert owners == [{people.RITA_REP}, {people.MAX_MANAGER}]


def test_a_condition_on_a_property_that_a_caller_lacks_holds_for_no_row(
    rita: Caller, anonymous: Caller
) -> None:
    path = a_query("multi", accounts(where('attribute="name" operator="ne" value="@user.fullName"')), cap=500)
    Endpoint.objects.filter(name="tested").update(authentication_required=False)
    assert len(body(rita, path)) >= 200
    assert body(anonymous, path) == []


def test_fetchers_and_preconditions_come_before_a_query(rita: Caller) -> None:
    an_account(name="Fetched", telephone1="5551")
    an_account(name="Found", fax="5551")
    path = a_query("single", accounts(where('attribute="fax" operator="eq" value="@fetch.first.telephone1"')))
    row = Endpoint.objects.get(name="tested")
    Input.objects.create(endpoint=row, name="of")
    Fetcher.objects.create(
        endpoint=row,
        name="first",
        query=accounts(
            where('attribute="name" operator="eq" value="@of"'), columns='<attribute name="telephone1"/>'
        ),
    )
    Precondition.objects.create(
        endpoint=row, expression="input.of != 'Nobody'", status=409, message="Not of nobody."
    )
    assert body(rita, f"{path}?of=Fetched") == {"name": "Found"}
    assert rita.get(f"{path}?of=Unknown").status_code == 204
    refused = rita.get(f"{path}?of=Nobody")
    assert (refused.status_code, refused.json()["detail"]) == (409, "Not of nobody.")
