"""An entity exposed in one form."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from designer.models import Endpoint, ExposedEntity, Module, Role
from tests.callers import Caller
from tests.designer.studio import page
from tests.row_rules import ruled
from tests.runtime.accounts import NOBODY


def _url(entity: str = "contact") -> str:
    return f"{reverse('studio:expose')}?entity={entity}"


def _send(client: Client, **changes: Any) -> Any:
    """The form as it is offered, with `changes`, sent."""
    form = page(client, _url()).context["form"]
    data = {bound.html_name: bound.value() for bound in form} | {"roles": ["sales-rep"]} | changes
    return client.post(_url(), {name: value for name, value in data.items() if value not in (None, False)})


def _problems(answer: Any) -> str:
    assert answer.status_code == 422
    return " ".join(answer.context["problems"])


def test_the_usual_operations_are_served_at_once(dora: Client, rita: Caller, aya: Caller) -> None:
    """But for a delete, which has to be meant. Names come from labels."""
    assert _send(dora, module="outreach").status_code == 302
    created = rita.post("/api/outreach/contacts", {"lastName": "Exposed", "email": "e@example.org"})
    assert created.status_code == 200, created.json()
    path = f"/api/outreach/contacts/{created.json()['id']}"
    assert rita.get(path).json()["lastName"] == "Exposed"
    assert rita.patch(path, {"lastName": "Changed"}).status_code == 204
    listed = rita.get("/api/outreach/queries/contacts?pageSize=1").json()
    assert (listed["count"], listed["hasMoreRecords"]) == (1, True)
    assert rita.delete(path).status_code == 405
    assert aya.get(path).status_code == 403


def test_what_is_made_admits_the_types_of_caller_that_are_ticked(
    dora: Client, rita: Caller, clara: Caller
) -> None:
    offered = page(dora, _url()).context["form"]["caller_types"]
    assert (offered.value(), "contact" in dict(offered.field.choices)) == (["user"], True)
    made = {"module": "outreach", "caller_types": ["contact"], "roles": ["customer"]}
    assert _send(dora, **made).status_code == 302
    rows = Endpoint.objects.filter(module__segment="outreach")
    assert [row.caller_types for row in rows] == [["contact"]] * 4
    assert clara.get("/api/outreach/queries/contacts?pageSize=1").status_code == 200
    assert rita.get("/api/outreach/queries/contacts?pageSize=1").status_code == 403


def test_what_contacts_would_reach_of_others_is_said_at_once(dora: Client) -> None:
    """Each endpoint is ready, and serves the records of all contacts to each of them."""
    made = {"module": "outreach", "caller_types": ["contact"], "roles": ["customer"]}
    said = [str(message) for message in get_messages(_send(dora, **made).wsgi_request)]
    exposed = ExposedEntity.objects.get(module__segment="outreach")
    [warned] = [text for text in said if "no row rule" in text]
    assert "Every caller of the type “contact” reaches all records of contact" in warned
    address = reverse("admin:designer_exposedentity_change", args=[exposed.pk])
    assert f'href="{address}#row_rule-group"' in warned


def test_what_is_required_comes_along_though_it_was_not_ticked(dora: Client) -> None:
    assert _send(dora, module="outreach", attributes=["emailaddress1"]).status_code == 302
    create = Endpoint.objects.get(kind="create", entity__module__segment="outreach")
    assert set(create.inputs.values_list("name", flat=True)) == {"lastName", "email"}


def test_only_the_ticked_operations_are_made_and_drafts_stay_drafts(dora: Client) -> None:
    assert _send(dora, operations=["read"], enabled=False, segment="people").status_code == 302
    (made,) = Endpoint.objects.filter(entity__segment="people")
    assert (made.kind, made.enabled) == ("read", False)


def test_what_is_there_already_is_not_overwritten(dora: Client) -> None:
    assert _send(dora, module="outreach").status_code == 302
    before = list(Endpoint.objects.values_list("id", "title"))
    problems = _problems(_send(dora, module="outreach"))
    assert "The endpoint POST /api/outreach/contacts exists already. Leave out its operation" in problems
    assert list(Endpoint.objects.values_list("id", "title")) == before


def test_what_was_made_is_listed_and_nothing_else(dora: Client) -> None:
    """Other endpoints have the word “contacts” in their paths, too."""
    answer = dora.get(_send(dora, module="outreach").headers["Location"])
    listed = answer.context["cl"].queryset.values_list("kind", "module__segment", "entity__module__segment")
    assert {(kind, module or entity) for kind, module, entity in listed} == {
        (kind, "outreach") for kind in ("create", "read", "update", "paginated-query")
    }
    assert "4 endpoints were created for Contacts." in answer.content.decode()


def test_what_is_said_of_an_endpoint_names_it(dora: Client) -> None:
    said = [str(one) for one in get_messages(_send(dora, module="outreach", roles=[]).wsgi_request)]
    [warned] = [text for text in said if "may write any record" in text]
    assert warned.startswith("PATCH, PUT /api/outreach/contacts/{id}: Every caller")


def test_operations_that_exist_are_not_ticked_and_say_so(dora: Client) -> None:
    form = page(dora, f"{reverse('studio:expose')}?entity=lead").context["form"]
    assert "create" not in form["operations"].value()
    offered = dict(form.fields["operations"].choices)
    assert offered["create"] == "Create: POST /api/sales/leads exists already."
    assert offered["read"] == "Read: Returns one record."


def test_what_could_not_be_served_stays_disabled_and_is_named(dora: Client, rita: Caller) -> None:
    assert _send(dora, module="outreach", operations=["read"]).status_code == 302
    wrong = '<filter><condition attribute="lastname" operator="eq" value="@user.shoe"/></filter>'
    ruled(ExposedEntity.objects.get(module__segment="outreach"), wrong)
    answer = _send(dora, module="outreach", operations=["create", "update"])
    assert answer.status_code == 302
    (told,) = [text for text in map(str, get_messages(answer.wsgi_request)) if "disabled" in text]
    assert told == (
        "POST /api/outreach/contacts; PATCH, PUT /api/outreach/contacts/{id} are blocked, so they stay "
        "disabled. Open each to see what to correct."
    )
    made = Endpoint.objects.filter(entity__module__segment="outreach")
    assert {row.kind: row.enabled for row in made} == {"read": True, "create": False, "update": False}
    assert rita.patch(f"/api/outreach/contacts/{NOBODY}", {"lastName": "x"}).status_code == 405


def test_a_segment_of_another_entity_is_refused(dora: Client) -> None:
    assert "exposes account already" in _problems(_send(dora, module="sales", segment="accounts"))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("segment", "Not One", "Use lower-case letters"),
        ("module", "api", "reserved"),
        ("operations", [], "required"),
        ("caller_types", [], "required"),
        ("attributes", ["nonsense"], "Select a valid choice"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_typed_is_lost(
    dora: Client, field: str, value: Any, message: str
) -> None:
    answer = _send(dora, **{"module": "outreach", field: value})
    assert answer.status_code == 422
    form = answer.context["form"]
    assert message in str(form.errors[field])
    assert form["roles"].value() == ["sales-rep"]
    assert not Module.objects.filter(segment="outreach").exists()


def test_every_entity_of_the_platform_can_be_exposed(dora: Client) -> None:
    from designer.platform import get_platform

    for name, entity in get_platform().entities().items():
        if not entity.is_intersect:
            assert page(dora, _url(name)).context["form"] is not None


def test_an_unknown_entity_is_not_offered(dora: Client) -> None:
    assert page(dora, _url("nonsense")).context["form"] is None
    assert "Choose an entity" in _problems(dora.post(_url("nonsense"), {}))


def test_who_may_not_add_may_not_expose(portico: None) -> None:
    user = User.objects.create_user("vera", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(_url()).status_code == 403


def test_roles_are_those_of_the_application(dora: Client) -> None:
    form = page(dora, _url()).context["form"]
    assert {name for name, _ in form.fields["roles"].choices} == set(
        Role.objects.values_list("name", flat=True)
    )
