"""A query as an endpoint in one form: its parameters become inputs, and it is served or refused at once."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from designer.models import Endpoint, Proposal, Protection
from designer.platform import get_platform
from designer.readiness import Metadata
from designer.readiness.fixes import names_in_api
from tests.callers import Caller
from tests.designer.studio import page

CONTACTS = (
    '<fetch><entity name="contact"><attribute name="fullname"/><filter>'
    '<condition attribute="fullname" operator="contains" value="@topic"/></filter></entity></fetch>'
)


def _made(dora: Client, query: str, **given: Any) -> Any:
    data = {"query": query, "kind": "paginated-query", "module": "sales", "name": "", "enabled": "on"}
    callers = {"caller_types": ["user"], "roles": ["sales-rep"]}
    return dora.post(reverse("studio:new_query"), data | callers | given)


def _said(answer: Any) -> str:
    assert answer.status_code == 422
    return str(answer.content.decode())


def test_a_pasted_query_is_an_endpoint_with_its_parameters(dora: Client, rita: Caller) -> None:
    assert [_made(dora, CONTACTS).status_code for _ in range(2)] == [302, 302]
    # The second takes the next name that is free.
    row = Endpoint.objects.get(module__segment="sales", name="contacts-2")
    assert [(one.name, one.type, one.required) for one in row.inputs.all()] == [("topic", "String", False)]
    answer = rita.get("/api/sales/queries/contacts-2?topic=zzz")
    assert (answer.status_code, answer.json()["data"]) == (200, [])


def test_a_query_is_made_for_the_types_of_caller_that_are_ticked(dora: Client, rita: Caller) -> None:
    assert _made(dora, CONTACTS, name="for-customers", caller_types=["contact"]).status_code == 302
    row = Endpoint.objects.get(module__segment="sales", name="for-customers")
    assert row.caller_types == ["contact"]
    assert rita.get("/api/sales/queries/for-customers").status_code == 403


def test_a_query_without_columns_answers_what_is_usual(dora: Client, rita: Caller) -> None:
    assert _made(dora, '<fetch><entity name="lead"/></fetch>', name="my-leads").status_code == 302
    first = rita.get("/api/sales/queries/my-leads?pageSize=1").json()["data"][0]
    assert {"id", "topic", "lastName"} <= set(first)


@pytest.mark.parametrize("entity", ["account", "contact", "incident", "lead", "opportunity"])
def test_columns_are_named_as_those_of_an_entity_that_is_exposed(
    dora: Client, rita: Caller, entity: str
) -> None:
    known = Metadata(get_platform()).known_attributes(entity)
    names = names_in_api(known)
    query = f'<fetch><entity name="{entity}"><all-attributes/></entity></fetch>'
    assert _made(dora, query, name="all").status_code == 302
    row = Endpoint.objects.get(module__segment="sales", name="all")
    for column in row.columns.all():
        is_id = known[column.attribute].is_primary_id
        assert (column.name or column.attribute) == ("id" if is_id else names[column.attribute])
    answer = rita.get("/api/sales/queries/all?pageSize=1")
    assert answer.status_code == 200


def test_columns_of_links_are_named_after_the_link_and_aliases_stay(dora: Client, rita: Caller) -> None:
    query = (
        '<fetch><entity name="contact"><attribute name="contactid"/><attribute name="lastname"/>'
        '<attribute name="firstname" alias="mail"/><attribute name="emailaddress1"/>'
        # The name of the account would be called as the last name of the contact.
        '<link-entity name="account" from="accountid" to="parentcustomerid" alias="last" link-type="outer">'
        '<attribute name="accountid"/><attribute name="name"/><attribute name="telephone1"/></link-entity>'
        "</entity></fetch>"
    )
    assert _made(dora, query, name="linked").status_code == 302
    (first,) = rita.get("/api/sales/queries/linked?pageSize=1").json()["data"]
    assert list(first) == ["id", "lastName", "mail", "email", "lastId", "lastName2", "lastMainPhone"]


@pytest.mark.parametrize(
    ("query", "given", "words"),
    [
        ("", {}, "The query is empty. Choose an entity, or paste FetchXML."),
        ("<fetch><entity", {}, "not well-formed"),
        ('<fetch><entity name="nothing"/></fetch>', {}, "The platform has no entity"),
        (CONTACTS, {"name": "accounts"}, "/queries/accounts exists already. Choose another name."),
        (CONTACTS, {"name": "Not a segment"}, "lower-case"),
        (CONTACTS.replace("fullname", "nosuch"), {}, "nosuch"),
    ],
)
def test_what_cannot_be_served_is_refused_and_kept(
    dora: Client, query: str, given: dict[str, str], words: str
) -> None:
    count = Endpoint.objects.count()
    answer = _made(dora, query, **given)
    assert words in _said(answer)
    assert answer.context["form"]["query"].value() == query
    assert Endpoint.objects.count() == count


def test_the_page_says_in_words_what_is_asked_and_by_which_parameters(dora: Client) -> None:
    def said(query: str) -> Any:
        return dora.post(reverse("studio:query_words"), {"query": query}).json()

    answer = said(CONTACTS)
    assert answer["words"].startswith("Contacts, where Full Name contains @topic")
    assert answer["parameters"] == ["topic (String)"]
    assert "oops" in said("<fetch><oops/></fetch>")["problems"][0]
    # The name that it gets when nobody names it, in no module in particular.
    assert answer["name"] == "contacts"
    assert said("") == {"words": "", "problems": [], "parameters": [], "name": ""}


def test_everything_that_is_wrong_with_a_query_is_said_at_once(dora: Client) -> None:
    def problems(query: str) -> str:
        return "\n".join(dora.post(reverse("studio:query_words"), {"query": query}).json()["problems"])

    conditions = (
        '<condition attribute="fullname" operator="ne-null"/>'
        '<condition attribute="nosuch" operator="not-null"/>'
    )
    broken = CONTACTS.replace("<filter>", f'<attribute name="wrong"/><filter>{conditions}')
    said = problems(broken)
    assert "ne-null" in said, "what no metadata are needed for"
    assert "'wrong'" in said
    assert "'nosuch'" in said
    assert "'wrong'" in problems(CONTACTS.replace("<filter>", '<attribute name="wrong"/><filter>'))
    made = _said(_made(dora, broken))
    assert "ne-null" in made
    assert "nosuch" in made


def test_a_module_and_a_kind_can_be_given_with_the_address(dora: Client) -> None:
    form = page(dora, reverse("studio:new_query") + "?module=service&kind=single-query").context["form"]
    assert (form["module"].value(), form["kind"].value()) == ("service", "single-query")


def test_a_query_of_a_protected_module_is_opened_as_a_proposal(dora: Client) -> None:
    Protection.objects.create(group="sales")
    assert 'name="_propose"' in _said(_made(dora, CONTACTS, name="by-topic"))
    opened = _made(dora, CONTACTS, name="by-topic", _propose="1")
    proposal = Proposal.objects.get()
    assert opened.headers["Location"] == reverse("studio:proposal", args=[proposal.pk])
    assert "by-topic" in proposal.document
    assert not Endpoint.objects.filter(name="by-topic").exists()
