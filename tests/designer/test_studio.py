"""The studio as Dora uses it: lists, pages, and an endpoint made only by clicking."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from designer.loading import load
from designer.models import (
    Binding,
    Endpoint,
    EndpointCalls,
    ExposedEntity,
    Input,
    Module,
    OptionSet,
    Role,
    UserProperty,
)
from tests.callers import Caller
from tests.designer.studio import add_row, add_url, blocking, change_url, errors, filled, page, send
from tests.runtime.accounts import an_account
from tests.runtime.queries import a_query, accounts, body

MODELS = ("module", "exposedentity", "endpoint", "optionset", "role", "userproperty")


def _accounts_endpoint() -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts")


@pytest.mark.parametrize("model", MODELS)
def test_every_list_and_add_page_opens(dora: Client, model: str) -> None:
    page(dora, reverse(f"admin:designer_{model}_changelist"))
    page(dora, add_url(model))


@pytest.mark.parametrize("model", [Module, ExposedEntity, Endpoint, OptionSet, Role, UserProperty])
def test_every_row_of_the_demo_opens_and_saves_unchanged(dora: Client, model: Any) -> None:
    for row in model.objects.all():
        opened = page(dora, change_url(row))
        saved = send(dora, change_url(row), filled(opened))
        assert saved.status_code == 302, (row, errors(saved))
    from designer.documents.document_writer import export, to_bytes
    from project.demo import CONFIGURATION

    assert to_bytes(export(load())) == CONFIGURATION.read_bytes()


def test_the_list_shows_method_path_and_readiness(dora: Client) -> None:
    text = page(dora, reverse("admin:designer_endpoint_changelist")).content.decode().replace("<wbr>", "")
    assert "POST /api/sales/accounts" in text
    assert "Ready" in text
    assert "Blocked" not in text


def test_an_input_and_a_binding_added_in_the_studio_are_served_at_once(dora: Client, rita: Caller) -> None:
    assert rita.post("/api/sales/accounts", {"name": "A", "website": "w"}).status_code == 400
    url = change_url(_accounts_endpoint())
    data = filled(page(dora, url))
    add_row(data, "inputs", name="website", type="String", nullable="on", max_length="200")
    add_row(data, "bindings", attribute="websiteurl", source="input", value_text="@website")
    saved = send(dora, url, data)
    assert saved.status_code == 302, errors(saved)
    assert rita.post("/api/sales/accounts", {"name": "A", "website": "w"}).status_code == 200
    assert [row.name for row in Input.objects.filter(endpoint=_accounts_endpoint())][-1] == "website"


def test_a_role_taken_away_in_the_studio_is_refused_at_once(dora: Client, rita: Caller) -> None:
    url = change_url(_accounts_endpoint())
    data = filled(page(dora, url))
    data["callers"] = [Role.objects.get(name="sales-manager").pk]
    assert send(dora, url, data).status_code == 302
    assert rita.post("/api/sales/accounts", {"name": "A"}).status_code == 403


def test_an_endpoint_for_another_entity_is_made_only_by_clicking(dora: Client, rita: Caller) -> None:
    sales = Module.objects.get(segment="sales")
    exposed = filled(page(dora, add_url("exposedentity")))
    exposed |= {"module": sales.pk, "entity": "contact", "segment": "people"}
    assert send(dora, add_url("exposedentity"), exposed).status_code == 302
    new = filled(page(dora, add_url("endpoint")))
    new |= {
        "kind": "create",
        "entity": ExposedEntity.objects.get(segment="people").pk,
        "title": "Add a person",
    }
    added = send(dora, add_url("endpoint"), new)
    endpoint = Endpoint.objects.get(title="Add a person")
    assert added.status_code == 302
    assert added["Location"] == change_url(endpoint)
    assert rita.post("/api/sales/people", {}).status_code == 404
    data = filled(page(dora, change_url(endpoint)))
    add_row(data, "inputs", name="lastName", type="String", required="on")
    add_row(data, "bindings", attribute="lastname", source="input", value_text="lastName")
    data["enabled"] = "on"
    saved = send(dora, change_url(endpoint), data)
    assert saved.status_code == 302, errors(saved)
    assert rita.post("/api/sales/people", {"lastName": "Click"}).status_code == 200


def test_an_option_set_is_made_on_one_page(dora: Client, anonymous: Caller) -> None:
    data = filled(page(dora, add_url("optionset")))
    data |= {"name": "urgency", "settings__option_set": "new_priority", "settings__include_inactive": "on"}
    saved = send(dora, add_url("optionset"), data)
    assert saved.status_code == 302, errors(saved)
    assert len(anonymous.get("/optionsets/urgency").json()) == 5


def test_enabling_what_cannot_work_is_refused_with_every_reason_and_nothing_is_lost(dora: Client) -> None:
    url = change_url(_accounts_endpoint())
    data = filled(page(dora, url))
    data |= {"description": "Typed with care", "inputs-1-max_length": "9", "inputs-1-min_length": "10"}
    add_row(data, "bindings", attribute="telephone2", source="input", value_text="nowhere")
    refused = send(dora, url, data)
    messages = " ".join(errors(refused))
    assert "“telephone2” takes @nowhere, which is not defined" in messages
    assert "minimum length above its maximum" in messages
    assert {place for place, _ in blocking(refused)} == {"inputs-1-min_length", "bindings-5-value_text"}
    assert "Typed with care" in refused.content.decode()
    # Once, at the top of the page: the marks say the rest.
    assert refused.content.decode().count("Not saved") == 1
    assert "errornote" not in refused.content.decode()
    assert "\nnowhere</textarea>" in refused.content.decode()
    assert not Binding.objects.filter(attribute="telephone2").exists()


def test_a_draft_may_be_wrong(dora: Client) -> None:
    url = change_url(_accounts_endpoint())
    data = filled(page(dora, url))
    del data["enabled"]
    add_row(data, "bindings", attribute="telephone2", source="input", value_text="nowhere")
    assert send(dora, url, data).status_code == 302
    assert "takes @nowhere" in page(dora, url).content.decode()


def test_values_are_kept_to_the_last_digit(dora: Client) -> None:
    url = change_url(_accounts_endpoint())
    data = filled(page(dora, url))
    data |= {"inputs-2-maximum": "922337203685477.5807", "inputs-2-default_text": "922337203685477.5807"}
    assert send(dora, url, data).status_code == 302
    revenue = Input.objects.get(endpoint=_accounts_endpoint(), name="revenue")
    assert str(revenue.maximum) == "922337203685477.5807"
    assert revenue.default == "922337203685477.5807"
    shown = filled(page(dora, url))
    assert str(shown["inputs-2-maximum"]) == shown["inputs-2-default_text"] == "922337203685477.5807"


@pytest.mark.parametrize("value", ["007", 7, Decimal("0.1"), True, ["a"], {"type": "account"}, "[1]", '"x"'])
def test_opening_and_saving_changes_no_value(dora: Client, value: Any) -> None:
    row = _accounts_endpoint()
    row.inputs.filter(name="name").update(required=False, default=value, allowed=[value])
    row.enabled = False
    row.save()
    assert send(dora, change_url(row), filled(page(dora, change_url(row)))).status_code == 302
    saved = row.inputs.get(name="name")
    assert (saved.default, saved.allowed) == (value, [value])
    assert type(saved.default) is type(value)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("String", "007", "007"),
        ("String", "[1]", "[1]"),
        ("Integer", "7", 7),
        ("Integer", "seven", "seven"),
        ("Money", "0.10", Decimal("0.1")),
        ("Boolean", "true", True),
        ("MultiOptionSet", "[1, 2]", [1, 2]),
        ("Date", "2026-01-31", "2026-01-31"),
    ],
)
def test_a_typed_default_is_a_value_of_its_type(dora: Client, kind: str, text: str, value: Any) -> None:
    row = _accounts_endpoint()
    data = filled(page(dora, change_url(row)))
    del data["enabled"]
    add_row(data, "inputs", name="extra", type=kind, default_text=text)
    assert send(dora, change_url(row), data).status_code == 302
    assert row.inputs.get(name="extra").default == value


@pytest.mark.parametrize(
    ("operator", "value"), [("in", ["Contoso", "Fabrikam"]), ("eq", '["Contoso", "Fabrikam"]')]
)
def test_a_typed_default_of_a_list_is_an_array(dora: Client, rita: Caller, operator: str, value: Any) -> None:
    """Only where the query compares with a list: elsewhere the same text is a text."""
    for name in ("Contoso", "Fabrikam"):
        an_account(name=name, fax="default")
    query = accounts(
        f'<filter><condition attribute="name" operator="{operator}" value="@names"/>'
        '<condition attribute="fax" operator="eq" value="default"/></filter>'
    )
    path = a_query("multi", query, {"name": "names"})
    row = Endpoint.objects.get(name="tested")
    data = filled(page(dora, change_url(row)))
    answer = send(dora, change_url(row), data | {"inputs-0-default_text": '["Contoso", "Fabrikam"]'})
    assert answer.status_code == 302, errors(answer)
    assert row.inputs.get().default == value
    assert len(body(rita, path)) == (2 if operator == "in" else 0)


def test_a_change_that_would_block_another_endpoint_is_refused_and_names_it(dora: Client) -> None:
    role = Role.objects.get(name="support")
    leads = UserProperty.objects.get(name="email", caller_type__name="user")
    Binding.objects.create(
        endpoint=_accounts_endpoint(), attribute="emailaddress1", source="user", value="email"
    )
    data = filled(page(dora, change_url(leads)))
    refused = send(dora, change_url(leads), data | {"name": "mail"})
    assert "No caller type that the endpoint admits has the user property “email”" in " ".join(
        errors(refused)
    )
    assert send(dora, change_url(role), filled(page(dora, change_url(role)))).status_code == 302


def test_a_role_in_use_cannot_be_deleted(dora: Client) -> None:
    role = Role.objects.get(name="sales-rep")
    dora.post(reverse("admin:designer_role_delete", args=[role.pk]), {"post": "yes"})
    assert Role.objects.filter(name="sales-rep").exists()


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (lambda: Role.objects.get(name="sales-rep"), "role"),
        (lambda: Module.objects.get(segment="sales"), "module"),
        (lambda: ExposedEntity.objects.get(segment="accounts"), "exposedentity"),
    ],
    ids=["a role", "a module", "an entity"],
)
def test_the_page_that_would_delete_what_endpoints_need_names_and_links_them(
    dora: Client, row: Callable[[], Any], name: str
) -> None:
    needed = row()
    url = reverse(f"admin:designer_{name}_delete", args=[needed.pk])
    shown = dora.get(url).content.decode()
    needing = list(needed.endpoints.all())
    assert needing
    assert "cannot be deleted, because these items use it" in shown
    for endpoint in needing:
        assert f'<a href="{change_url(endpoint)}">{escape(str(endpoint))}</a>' in shown
    dora.post(url, {"post": "yes"})
    assert type(needed).objects.filter(pk=needed.pk).exists()


def test_of_thousands_of_endpoints_that_need_a_row_the_first_are_named(
    dora: Client, django_assert_max_num_queries: Any
) -> None:
    # The metadata is known then: tests before this one may have had it read anew.
    page(dora, reverse("admin:index"))
    sales = Module.objects.get(segment="sales")
    count = sales.endpoints.count()
    Endpoint.objects.bulk_create(
        Endpoint(kind="global-action", module=sales, name=f"many-{number}") for number in range(1000)
    )
    with django_assert_max_num_queries(50):
        shown = dora.get(reverse("admin:designer_module_delete", args=[sales.pk])).content.decode()
    assert f"… and {count + 950} more" in shown


def test_the_page_that_would_delete_an_endpoint_says_who_would_miss_it(dora: Client) -> None:
    endpoint = _accounts_endpoint()
    url = reverse("admin:designer_endpoint_delete", args=[endpoint.pk])
    assert "Nobody called it in the last 35 days." in page(dora, url).content.decode()
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    key = load().endpoints[endpoint.pk].definition.key
    for ago, calls in ((1, 5), (40 * 24, 100)):
        at = hour - dt.timedelta(hours=ago)
        EndpointCalls.objects.create(endpoint=key, hour=at, calls=calls, last_at=at)

    shown = page(dora, url).content.decode()

    assert "POST /api/sales/accounts" in shown
    last = timezone.localtime(hour - dt.timedelta(hours=1))
    assert f"5 calls in the last 35 days, the last one at {last:%Y-%m-%d %H:%M}." in shown
    assert "Calls are answered with 404 as soon as it is deleted." in shown
    assert "The message that confirms the deletion offers “Undo”." in shown


def test_the_page_that_would_delete_a_disabled_endpoint_says_that_nobody_calls_it(dora: Client) -> None:
    endpoint = _accounts_endpoint()
    Endpoint.objects.filter(pk=endpoint.pk).update(enabled=False)
    shown = page(dora, reverse("admin:designer_endpoint_delete", args=[endpoint.pk])).content.decode()
    assert "It is disabled, so nobody can call it." in shown
    assert "answered with 404" not in shown


def test_the_page_that_would_delete_endpoints_says_who_would_miss_them(dora: Client) -> None:
    """And it asks about the calls, so that nobody is asked again who confirms."""
    url = reverse("admin:designer_endpoint_changelist")
    called, other = Endpoint.objects.filter(enabled=True, kind="read")[:2]
    Endpoint.objects.filter(pk=other.pk).update(enabled=False)
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    served = load().endpoints[called.pk]
    EndpointCalls.objects.create(endpoint=served.definition.key, hour=hour, calls=7, last_at=hour)
    chosen = {"action": "delete_selected", "_selected_action": [other.pk, called.pk]}

    asked = dora.post(url, chosen)

    assert [
        (one.methods_and_path, one.calls, one.is_served) for one in asked.context["deleted_endpoints"]
    ] == [
        (served.methods_and_path, 7, True),
        (load().endpoints[other.pk].methods_and_path, 0, False),
    ]
    shown = asked.content.decode()
    assert f"{timezone.localtime(hour):%Y-%m-%d %H:%M}" in shown
    assert "It is disabled, so nobody can call it." in shown
    assert "Calls are answered with 404 as soon as they are deleted." in shown
    assert "The message that confirms the deletion offers “Undo”." in shown
    sent = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', shown))
    answer = dora.post(url, {**sent, **chosen}, follow=True)
    assert not Endpoint.objects.filter(pk__in=[called.pk, other.pk]).exists()
    assert "Undo" in answer.content.decode()


def test_of_many_endpoints_that_would_be_deleted_the_most_called_are_named(dora: Client) -> None:
    sales = Module.objects.get(segment="sales")
    rows = Endpoint.objects.bulk_create(
        Endpoint(kind="global-action", module=sales, name=f"many-{number}") for number in range(60)
    )
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    key = load().endpoints[rows[-1].pk].definition.key
    EndpointCalls.objects.create(endpoint=key, hour=hour, calls=7, last_at=hour)
    chosen = {"action": "delete_selected", "_selected_action": [row.pk for row in rows]}
    asked = dora.post(reverse("admin:designer_endpoint_changelist"), chosen)
    assert asked.context["deleted_endpoints"][0].calls == 7
    assert "… and 10 more" in asked.content.decode()


def test_a_user_property_in_use_cannot_be_deleted(dora: Client) -> None:
    row = UserProperty.objects.get(name="email", caller_type__name="user")
    endpoint = _accounts_endpoint()
    Binding.objects.create(endpoint=endpoint, attribute="emailaddress1", source="user", value="email")
    url = reverse("admin:designer_userproperty_delete", args=[row.pk])
    assert f'<a href="{change_url(endpoint)}">' in dora.get(url).content.decode()
    dora.post(url, {"post": "yes"})
    assert UserProperty.objects.filter(name="email").exists()


def test_an_endpoint_is_not_moved_to_the_place_of_another_one(dora: Client) -> None:
    """The form has only the segment: the kind and the entity make the place with it."""
    row = _accounts_endpoint()
    other = Endpoint.objects.create(kind="create", module=row.module, entity=row.entity, segment="others")
    answer = send(dora, change_url(other), filled(page(dora, change_url(other))) | {"segment": row.segment})
    assert "There is an endpoint of this kind at this place already." in errors(answer)


@pytest.mark.parametrize("kind", ["delete", "update"])
def test_a_new_endpoint_by_which_every_caller_could_write_any_record_stays_a_draft(
    dora: Client, kind: str
) -> None:
    module = Module.objects.create(segment="open")
    for segment, roles in (("all", []), ("chosen", [Role.objects.get(name="sales-rep").pk])):
        entity = ExposedEntity.objects.create(module=module, entity="phonecall", segment=segment)
        new = filled(page(dora, add_url("endpoint"))) | {"kind": kind, "entity": entity.pk, "callers": roles}
        assert new["enabled"] == "on"
        assert send(dora, add_url("endpoint"), new).status_code == 302
    rows = Endpoint.objects.filter(entity__module=module)
    assert set(rows.values_list("entity__segment", "enabled")) == {("all", False), ("chosen", True)}
    # Whoever means it switches it on.
    open_row = rows.get(entity__segment="all")
    data = filled(page(dora, change_url(open_row)))
    assert send(dora, change_url(open_row), data | {"enabled": "on"}).status_code == 302
    open_row.refresh_from_db()
    assert open_row.enabled


def test_two_endpoints_of_one_place_are_refused_at_a_field_that_their_kind_has(dora: Client) -> None:
    """The page hides the fields that are no part of the path of the kind."""
    new = filled(page(dora, add_url("endpoint")))
    for row in {row.kind: row for row in Endpoint.objects.all()}.values():
        place = {"module": row.module_id or "", "entity": row.entity_id or ""}
        again = {"kind": row.kind, "segment": row.segment, "name": row.name, **place}
        answer = send(dora, add_url("endpoint"), new | again)
        ((field, said),) = answer.context["adminform"].form.errors.items()
        assert said == ["There is an endpoint of this kind at this place already."]
        assert row.operation is not None
        assert f"{{{field}}}" in row.operation.path


def test_a_path_that_is_taken_is_refused_at_its_segment(dora: Client) -> None:
    leads = Endpoint.objects.get(kind="create", entity__segment="leads")
    data = filled(page(dora, change_url(leads)))
    refused = send(dora, change_url(leads), data | {"segment": "accounts"})
    assert "POST /api/sales/accounts is the path of sales.accounts.create already." in errors(refused)


@pytest.mark.parametrize("kind", ["create", "local-option-set"])
def test_a_new_endpoint_asks_for_what_its_kind_needs(dora: Client, kind: str) -> None:
    new = filled(page(dora, add_url("endpoint"))) | {"kind": kind}
    assert any("belongs to an entity" in message for message in errors(send(dora, add_url("endpoint"), new)))
