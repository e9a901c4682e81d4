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


@pytest.mark.parametrize(("ticked", "found"), [(False, "Hidden X"), (True, None)])
def test_row_rules_of_linked_entities_count_where_it_is_ticked(
    rita: Caller, ticked: bool, found: str | None
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
    assert body(rita, path) == {"name": "Linked", "contact": found}


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
