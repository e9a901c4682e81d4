"""Where things are used: on their pages, before they are deleted, and attributes that the platform lacks."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crmbox.platform import EmbeddedPlatform
from crmclient.query.designed import DesignedQuery
from crmclient.query.fetchxml import parse, write
from crmclient.query.other_attributes import AttributeChange, changed_query
from designer.endpoint_facts.query_parameters import conditions
from designer.models import (
    AuditEntry,
    Binding,
    CallerType,
    Endpoint,
    EndpointCalls,
    ExposedEntity,
    Module,
    Protection,
    Role,
    UserProperty,
    Version,
)
from designer.overview import forget
from tests.callers import Caller
from tests.designer.counting import queries
from tests.designer.studio import change_url, filled, page
from tests.designer.test_studio_issuers import member
from tests.row_rules import by_roles

OWN = '<filter><condition attribute="ownerid" operator="eq" value="@user.id"/></filter>'
ATTRIBUTE = "/admin/attributes/one/?entity=account&attribute=telephone1"


@pytest.fixture
def root(portico: None) -> Client:
    return member("Administrator")


def _used(client: Client, url: str) -> dict[str, tuple[str, ...]]:
    usage = page(client, url).context["where_used"]
    return {one.what: one.places for one in usage.shown}


def _of(kind: str) -> Endpoint:
    return Endpoint.objects.get(kind=kind, entity__segment="accounts")


def test_a_role_says_which_endpoints_rules_and_accounts_name_it(root: Client) -> None:
    by_roles([(OWN, ["sales-rep"]), ("", ["sales-manager"])])
    used = _used(root, change_url(Role.objects.get(name="sales-rep")))
    assert used["endpoint sales.accounts.create"] == ("access control",)
    assert used["entity sales.accounts"] == ("the row rule",)
    assert used["API account rep"] == ("the roles",)


def test_who_may_not_see_accounts_is_told_that_there_are_some(portico: None) -> None:
    viewer = member("Viewer")
    usage = page(viewer, change_url(Role.objects.get(name="sales-rep"))).context["where_used"]
    assert not [one for one in usage.shown if "API account" in one.what]
    assert usage.hidden == 1


def test_every_kind_of_object_says_where_it_is_used(root: Client) -> None:
    by_roles([(OWN, ["sales-rep"]), ("", ["sales-manager"])])
    entity = ExposedEntity.objects.get(segment="accounts")
    assert "endpoint sales.accounts.read" in _used(root, change_url(entity))
    assert "entity sales.accounts" in _used(root, change_url(Module.objects.get(segment="sales")))
    contact = CallerType.objects.get(name="contact")
    assert "API account customer" in _used(root, change_url(contact))
    Binding.objects.filter(endpoint=_of("create"), attribute="telephone1").update(
        source="user", value="email"
    )
    prop = UserProperty.objects.get(name="email", caller_type__name="user")
    assert _used(root, change_url(prop))["endpoint sales.accounts.create"] == ("the property “telephone1”",)


def test_a_property_is_used_by_endpoints_that_anybody_may_call(root: Client) -> None:
    row = _of("read")
    row.preconditions.create(expression='user.email != ""', message="No", position=90)
    Endpoint.objects.filter(pk=row.pk).update(authentication_required=False)
    row.roles.clear()
    for type in ("user", "contact"):
        prop, _ = UserProperty.objects.get_or_create(
            name="email",
            caller_type=CallerType.objects.get(name=type),
            defaults={"kind": "field", "attribute": "emailaddress1"},
        )
        assert "a pre-condition" in _used(root, change_url(prop))["endpoint sales.accounts.read"]


def _name_role_in_expressions() -> Endpoint:
    """An endpoint that answers otherwise to callers with the role `auditor`, and a property that does."""
    Role.objects.create(name="auditor")
    row = _of("read")
    row.columns.create(name="audits", expression="'auditor' in user.roles", position=90)
    UserProperty.objects.create(
        name="audits", kind="custom", expression='user.roles.exists(r, r == "auditor")', position=90
    )
    return row


def test_a_role_that_expressions_name_as_text_says_so(root: Client) -> None:
    _name_role_in_expressions()
    role = Role.objects.get(name="auditor")
    used = _used(root, change_url(role))
    assert used == {
        "endpoint sales.accounts.read": ("the calculated column “audits”",),
        "user property audits": ("the expression",),
    }
    # Of a text that no role is compared with, nobody knows what it means.
    _of("update").preconditions.create(expression='"auditor" != ""', message="No", position=90)
    assert _used(root, change_url(role)) == used
    answer = page(root, reverse("admin:designer_role_delete", args=[role.pk]))
    assert answer.context["where_used"].count == 2


@pytest.mark.parametrize("way", ["rename", "delete"])
def test_a_role_that_expressions_name_goes_after_a_question(root: Client, way: str) -> None:
    row = _name_role_in_expressions()
    now = timezone.now()
    key = "sales.accounts.read"
    hour = now.replace(minute=0, second=0, microsecond=0)
    EndpointCalls.objects.create(endpoint=key, hour=hour, calls=7, last_at=now)
    role = Role.objects.get(name="auditor")

    def change(**answer: str) -> Any:
        if way == "rename":
            url = change_url(role)
            return root.post(url, {**filled(page(root, url)), "name": "reviewer", **answer}, follow=True)
        url = reverse("admin:designer_role_delete", args=[role.pk])
        return root.post(url, {"post": "yes", **answer}, follow=True)

    asked = change().content.decode()
    assert "an expression names the role “auditor”, which is gone" in html.unescape(asked)
    assert Role.objects.filter(name="auditor").exists()
    change(_breaks="1")
    assert not Role.objects.filter(name="auditor").exists()
    assert row.columns.get(name="audits").expression == "'auditor' in user.roles"


@pytest.mark.parametrize("model", ["role", "module", "exposedentity"])
def test_what_names_it_is_said_before_it_is_deleted(root: Client, model: str) -> None:
    rows: dict[str, Any] = {
        "role": Role.objects.get(name="support"),
        "module": Module.objects.get(segment="sales"),
        "exposedentity": ExposedEntity.objects.get(segment="accounts"),
    }
    made = rows[model]
    answer = page(root, reverse(f"admin:designer_{model}_delete", args=[made.pk]))
    assert answer.context["where_used"].count
    assert any(one.link and one.link in answer.content.decode() for one in answer.context["where_used"].shown)


def test_a_role_that_nothing_names_says_so(root: Client) -> None:
    text = page(root, change_url(Role.objects.create(name="lonely"))).content.decode()
    assert "Where used: nowhere" in text
    # There is nothing to unfold.
    assert '<details class="studio-used"' not in text


def test_the_section_costs_the_same_queries_however_many_use_it(root: Client) -> None:
    url = change_url(Role.objects.get(name="sales-rep"))
    before = queries(root, url)
    for at in range(10):
        made = Endpoint.objects.create(
            kind="action", entity=_of("create").entity, name=f"more{at}", enabled=False
        )
        made.roles.set(Role.objects.filter(name="sales-rep"))
    page(root, url)
    assert queries(root, url) <= before


@pytest.fixture
def no_telephone(portico: None, monkeypatch: Any) -> Iterator[None]:
    """The platform has lost an attribute."""
    original = EmbeddedPlatform.attributes

    def attributes(self: EmbeddedPlatform, name: str) -> Any:
        lost = "telephone1" if name == "account" else ""
        return {key: one for key, one in original(self, name).items() if key != lost}

    monkeypatch.setattr(EmbeddedPlatform, "attributes", attributes)
    forget()
    yield
    monkeypatch.undo()
    forget()


def test_a_missing_attribute_is_one_message_however_many_endpoints_name_it(
    dora: Client, no_telephone: None
) -> None:
    answer = page(dora, "/admin/")
    [missing] = answer.context["missing"]
    assert (missing.entity, missing.attribute, missing.item_count) == ("account", "telephone1", 4)
    text = re.sub(r"<[^>]*>", "", answer.content.decode())
    assert "The attribute telephone1 of account is not on the platform. It is used in 4 places." in text
    assert not [one for one, *_ in answer.context["findings"] if "telephone1" in one.said]


def _ask(client: Client, **data: str) -> Any:
    return client.post(ATTRIBUTE, data)


def test_replacing_asks_with_what_it_will_do_and_can_be_undone(dora: Client, rita: Caller) -> None:
    before = Version.objects.count()
    question = _ask(dora, do="replace", new="fax")
    assert len(question.context["changes"]) == 4
    assert Version.objects.count() == before
    made = _ask(dora, do="replace", new="fax", confirmed=question.context["digest"])
    assert made.status_code == 302
    assert Version.objects.count() == before + 1
    assert not Binding.objects.filter(attribute="telephone1", endpoint__entity__segment="accounts").exists()
    entry = AuditEntry.objects.filter(action="change").latest("id")
    assert (entry.subject, entry.detail) == ("attribute: account.telephone1", "replaced by fax")
    # Callers go on sending and reading the same names.
    sent = rita.post("/api/sales/accounts", {"name": "A", "phone": "+49 30 1"})
    assert sent.status_code == 200, sent.content
    read = rita.get(f"/api/sales/accounts/{sent.json()['id']}").json()
    assert read["phone"] == "+49 30 1"
    version = Version.objects.latest("pk")
    answer = dora.post(reverse("studio:undo"), {"version": version.pk}, follow=True)
    assert f"Version {version.pk} undone" in answer.content.decode()
    assert Binding.objects.filter(attribute="telephone1", endpoint=_of("create")).exists()


def test_removing_leaves_conditions_alone_and_says_so(dora: Client) -> None:
    row = Endpoint.objects.get(kind="single-query", name="account")
    condition = '<condition attribute="telephone1" operator="not-null"/></filter>'
    settings = {**row.settings, "query": row.settings["query"].replace("</filter>", condition, 1)}
    Endpoint.objects.filter(pk=row.pk).update(settings=settings)
    question = _ask(dora, do="remove")
    assert [one.places for one in question.context["stays"].shown] == [("a condition of the query",)]
    _ask(dora, do="remove", confirmed=question.context["digest"])
    row.refresh_from_db()
    assert '<attribute name="telephone1"' not in row.settings["query"]
    assert 'condition attribute="telephone1"' in row.settings["query"]
    assert not Binding.objects.filter(attribute="telephone1", endpoint__entity__segment="accounts").exists()


def test_who_removes_an_attribute_that_is_gone_is_led_to_the_list(dora: Client, no_telephone: None) -> None:
    question = _ask(dora, do="remove")
    data = {"do": "remove", "confirmed": question.context["digest"]}
    answer = dora.post(ATTRIBUTE, data, follow=True)
    assert answer.redirect_chain == [(reverse("studio:attributes"), 302)]
    assert answer.status_code == 200
    assert "“account.telephone1” removed." in answer.content.decode()


def test_an_answer_counts_for_the_question_that_was_asked(dora: Client) -> None:
    digest = _ask(dora, do="replace", new="fax").context["digest"]
    assert _ask(dora, do="replace", new="emailaddress1", confirmed=digest).status_code == 200
    Endpoint.objects.filter(pk=_of("create").pk).update(title="Other")
    Binding.objects.filter(endpoint=_of("create"), attribute="telephone1").delete()
    assert _ask(dora, do="replace", new="fax", confirmed=digest).status_code == 200
    assert Binding.objects.filter(attribute="telephone1", endpoint=_of("update")).exists()


def test_what_would_not_work_is_refused_with_the_reason(dora: Client) -> None:
    refused = _ask(dora, do="replace", new="revenue")
    assert refused.status_code == 422
    assert "sales.accounts.create" in " ".join(refused.context["problems"])
    assert _ask(dora, do="replace", new="nothing").status_code == 422


def test_protection_refuses_and_offers_a_proposal(dora: Client) -> None:
    Protection.objects.create(group="sales")
    question = _ask(dora, do="replace", new="fax")
    answer = dora.post(
        ATTRIBUTE, {"do": "replace", "new": "fax", "confirmed": question.context["digest"]}, follow=True
    )
    assert "Edit as a proposal" in answer.content.decode()
    assert Binding.objects.filter(attribute="telephone1", endpoint=_of("create")).exists()


def test_who_may_only_look_is_offered_no_change(portico: None) -> None:
    viewer = member("Viewer")
    assert "Replace in all" not in page(viewer, ATTRIBUTE).content.decode()
    assert viewer.post(ATTRIBUTE, {"do": "remove"}).status_code == 403
    assert viewer.get("/admin/attributes/one/?entity=account&attribute=none").status_code == 404


QUERY = """<fetch><entity name="account"><attribute name="telephone1"/><attribute name="name"/>
<order attribute="telephone1"/><filter><condition attribute="telephone1" operator="not-null"/></filter>
<link-entity name="account" from="telephone1" to="accountid" alias="p" link-type="outer"><attribute
name="telephone1"/><filter><condition attribute="telephone1" operator="eq" valueof="fax"/></filter>
</link-entity>
</entity></fetch>"""


def _read(text: str) -> DesignedQuery:
    return parse(text)


def test_a_query_names_another_attribute_in_every_place() -> None:
    made = changed_query(_read(QUERY), AttributeChange("account", "telephone1", "telephone2"))
    assert "telephone1" not in write(made.query)
    assert made.keys == {"telephone1": "telephone2", "p.telephone1": "p.telephone2"}


def test_a_query_loses_columns_and_orders_and_no_condition() -> None:
    made = changed_query(_read(QUERY), AttributeChange("account", "telephone1", None))
    assert [column.attribute for column in made.query.columns] == ["name"]
    assert made.query.orders == ()
    assert list(conditions(made.query)) == list(conditions(_read(QUERY)))
    assert made.keys == {"telephone1": None, "p.telephone1": None}
