"""Who may call what writes is a publisher's decision, in however many steps it is changed."""

from __future__ import annotations

import html
import importlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse

from designer.access_control.access_matrix import ANONYMOUS
from designer.documents.document_writer import export, to_bytes
from designer.history.recording import record_outside
from designer.loading import load
from designer.models import (
    Endpoint,
    EndpointAccess,
    ExposedEntity,
    Issuer,
    Module,
    PathAccess,
    Release,
    Role,
    Version,
)
from designer.studio.saving.checked_save import CheckedAdmin
from designer.triggers.tables import WATCHED
from runtime.models import ApiAccount
from tests.callers import Caller
from tests.designer.studio import add_row, add_url, change_url, confirmed, filled, page, send_and_let_in
from tests.row_rules import only_rule, ruled

PATH = "/api/sales/accounts"


def _member(group: str) -> Client:
    """An account of `group` that may also restore and import, which by itself says nothing about access."""
    user = User.objects.create_user(f"a-{group.lower()}", is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    user.user_permissions.add(*Permission.objects.filter(codename__in=("restore", "import_configuration")))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _create() -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts", entity__module__segment="sales")


def _support() -> Role:
    return Role.objects.get(name="support")


def _save(client: Client, row: Any, **changes: Any) -> Any:
    data = filled(page(client, change_url(row))) | changes
    data = {name: value for name, value in data.items() if value is not None}
    return send_and_let_in(client, change_url(row), data)


def _delete(client: Client, row: Any) -> None:
    url = reverse(f"admin:designer_{row._meta.model_name}_delete", args=[row.pk])
    assert client.post(url, {"post": "yes"}).status_code == 302


def _expose(client: Client, module: str, segment: str) -> Any:
    url = reverse("studio:expose") + "?entity=account"
    data = {
        "module": module,
        "segment": segment,
        "operations": ["create"],
        "attributes": ["name"],
        "caller_types": ["user"],
        "roles": ["support"],
        "enabled": "on",
    }
    return client.post(url, data)


def _document(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(to_bytes(export(load())))
    for endpoint in document["endpoints"]:
        if (endpoint["kind"], endpoint.get("exposure")) == ("create", "accounts"):
            endpoint |= changes
    return document


def _import(client: Client, document: Any) -> None:
    raw = json.dumps(document).encode()

    def send(**data: str) -> Any:
        return client.post(reverse("studio:import"), {"document": SimpleUploadedFile("c.json", raw), **data})

    planned = send()
    # Somebody who is refused the plan may still send what the plan's page would have.
    trial = planned.context.get("trial") if planned.context else None
    if trial is not None:
        # What the document takes back is meant.
        send(digest=trial.digest, later="take")


def _click(client: Client, row: Endpoint, column: str) -> None:
    answer = client.post(reverse("studio:matrix"), {"cell": f"{row.pk}:{column}"})
    if answer.status_code == 200:
        data = {"cell": f"{row.pk}:{column}", "confirmed": answer.context["edit"].digest}
        client.post(reverse("studio:matrix"), data)


def _opened_and_closed() -> Version:
    """The version in which a publisher had let support in, which another one ended."""
    publisher = User.objects.create_superuser("somebody")
    client = Client()
    client.force_login(publisher, backend="django.contrib.auth.backends.ModelBackend")
    roles = [role.pk for role in _create().roles.all()]
    assert _save(client, _create(), callers=[_support().pk]).status_code == 302
    opened = Version.objects.all()[0]
    propose = page(client, reverse("studio:new_release")).context["form"]
    data = {bound.html_name: "" if bound.value() is None else bound.value() for bound in propose}
    assert client.post(reverse("studio:new_release"), data).status_code == 302
    assert _save(client, _create(), callers=roles).status_code == 302
    return opened


def by_the_form(client: Client) -> None:
    _save(client, _create(), callers=[_support().pk])


def as_a_draft_in_between(client: Client) -> None:
    assert _save(client, _create(), enabled=None).status_code == 302
    assert _save(client, _create(), callers=[_support().pk]).status_code == 302
    _save(client, _create(), enabled="on")


def to_anyone_as_a_draft(client: Client) -> None:
    assert _save(client, _create(), enabled=None).status_code == 302
    assert _save(client, _create(), authentication_required=None, callers=[]).status_code == 302
    _save(client, _create(), enabled="on")


def deleted_and_exposed_anew(client: Client) -> None:
    _delete(client, _create())
    _expose(client, "sales", "accounts")


def deleted_and_added_anew(client: Client) -> None:
    entity = _create().entity
    assert entity is not None
    _delete(client, _create())
    client.post(add_url("endpoint"), {"kind": "create", "entity": entity.pk, "title": "Anew"})
    data = filled(page(client, change_url(_create())))
    add_row(data, "inputs", name="name", type="String", required="on", max_length="160")
    add_row(data, "bindings", attribute="name", source="input", value_text="name")
    send_and_let_in(client, change_url(_create()), data | {"enabled": "on"})


def renamed_and_made_anew(client: Client) -> None:
    assert _save(client, _create(), segment="accounts-old").status_code == 302
    entity = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    client.post(add_url("endpoint"), {"kind": "create", "entity": entity.pk, "title": "Anew"})
    anew = Endpoint.objects.get(title="Anew")
    data = filled(page(client, change_url(anew)))
    add_row(data, "inputs", name="name", type="String", required="on", max_length="160")
    add_row(data, "bindings", attribute="name", source="input", value_text="name")
    send_and_let_in(client, change_url(anew), data | {"enabled": "on", "callers": [_support().pk]})


def another_endpoint_renamed_to_its_path(client: Client) -> None:
    assert _expose(client, "sales", "clients").status_code == 302
    _delete(client, _create())
    other = Endpoint.objects.get(kind="create", entity__segment="clients")
    _save(client, other, segment="accounts")


def another_module_renamed_to_its_own(client: Client) -> None:
    assert _expose(client, "portal", "accounts").status_code == 302
    assert _save(client, Module.objects.get(segment="sales"), segment="sales-old").status_code == 302
    _save(client, Module.objects.get(segment="portal"), segment="sales")


def its_module_renamed_and_made_anew(client: Client) -> None:
    assert _save(client, Module.objects.get(segment="sales"), segment="sales-old").status_code == 302
    _expose(client, "sales", "accounts")


def another_entity_renamed_to_its_own(client: Client) -> None:
    assert _expose(client, "sales", "clients").status_code == 302
    accounts = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    assert _save(client, accounts, segment="accounts-old").status_code == 302
    _save(client, ExposedEntity.objects.get(segment="clients"), segment="accounts")


def moved_and_widened_there_and_moved_back(client: Client) -> None:
    """By endpoint: its path is a new one when it is widened."""
    assert _save(client, _create(), enabled=None, segment="elsewhere").status_code == 302
    assert _save(client, _create(), callers=[_support().pk]).status_code == 302
    _save(client, _create(), enabled="on")
    if _create().enabled:
        _save(client, _create(), segment="")


def by_an_import(client: Client) -> None:
    _import(client, _document(access={"roles": ["support"]}))


def by_two_imports(client: Client) -> None:
    _import(client, _document(enabled=False, access={"roles": ["support"]}))
    assert not _create().enabled
    _import(client, _document(enabled=True))


def by_restoring_an_item(client: Client) -> None:
    opened = _opened_and_closed()
    change = opened.changes.get()
    url = reverse("studio:restore_version", args=[opened.pk])
    confirmed(client, url, {"change": change.pk, "to": "after"})


def by_restoring_a_version(client: Client) -> None:
    confirmed(client, reverse("studio:restore_version", args=[_opened_and_closed().pk]), {})


def by_restoring_a_release(client: Client) -> None:
    _opened_and_closed()
    confirmed(client, reverse("studio:restore_release", args=[Release.objects.get().pk]), {})


def by_the_matrix(client: Client) -> None:
    _click(client, _create(), "support")


def by_the_matrix_as_a_draft(client: Client) -> None:
    assert _save(client, _create(), enabled=None).status_code == 302
    _click(client, _create(), ANONYMOUS)
    assert not _create().authentication_required
    _save(client, _create(), enabled="on")


def by_a_renamed_role(client: Client) -> None:
    """The accounts of one role get the name of another."""
    clerk = Role.objects.create(name="clerk")
    _create().roles.set([clerk])
    record_outside()
    assert _save(client, _create(), enabled=None).status_code == 302
    assert _save(client, clerk, name="old-clerk").status_code == 302
    spare = Role.objects.create(name="spare")
    ApiAccount.objects.get(user__username="agent").roles.set([spare])
    assert _save(client, spare, name="clerk").status_code == 302
    assert _save(client, _create(), callers=[spare.pk]).status_code == 302
    _save(client, _create(), enabled="on")


def by_renaming_its_role(client: Client) -> None:
    clerk = Role.objects.create(name="clerk")
    _create().roles.set([clerk])
    ApiAccount.objects.get(user__username="agent").roles.clear()
    record_outside()
    _save(client, clerk, name="everyone")
    # Somebody who has had a role of that name, in the tokens of another issuer, or as here.
    ApiAccount.objects.get(user__username="agent").roles.set(Role.objects.filter(name="everyone"))


def by_an_action_of_the_list(client: Client) -> None:
    assert _save(client, _create(), enabled=None).status_code == 302
    assert _save(client, _create(), callers=[_support().pk]).status_code == 302
    data = {"action": "enable_them", "_selected_action": [_create().pk]}
    client.post(reverse("admin:designer_endpoint_changelist"), data)


WAYS: list[Callable[[Client], None]] = [
    *(by_the_form, as_a_draft_in_between, to_anyone_as_a_draft),
    *(deleted_and_exposed_anew, deleted_and_added_anew, renamed_and_made_anew),
    *(another_endpoint_renamed_to_its_path, another_module_renamed_to_its_own),
    *(its_module_renamed_and_made_anew, another_entity_renamed_to_its_own),
    *(moved_and_widened_there_and_moved_back, by_an_import, by_two_imports),
    *(by_restoring_an_item, by_restoring_a_version, by_restoring_a_release),
    *(by_the_matrix, by_the_matrix_as_a_draft, by_an_action_of_the_list),
    *(by_a_renamed_role, by_renaming_its_role),
]


@pytest.fixture(autouse=True)
def _with_an_action_that_enables() -> Iterator[None]:
    """The studio has none; a package that brings one passes the same gate."""

    def enable_them(pages: Any, request: Any, rows: Any) -> None:
        rows.update(enabled=True)
        pages.message_user(request, "Enabled.")

    admin.site.add_action(enable_them, "enable_them")
    yield
    admin.site.disable_action("enable_them")
    del admin.site._global_actions["enable_them"]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_designer_lets_nobody_in_to_what_writes(portico: None, aya: Caller, way: Any) -> None:
    way(_member("Designer"))
    assert aya.post(PATH, {"name": "A"}).status_code in (403, 404)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_publisher_may(portico: None, aya: Caller, way: Any) -> None:
    way(_member("Publisher"))
    assert aya.post(PATH, {"name": "A"}).status_code == 200


def test_the_refusal_names_the_endpoint_and_who_called_it(portico: None) -> None:
    client = _member("Designer")
    said = (
        "POST /api/sales/accounts writes, and only a publisher may change who calls it. "
        "When it was last enabled: sales-manager, sales-rep. Choose that again, or ask a publisher."
    )
    located = _save(client, _create(), callers=[]).context["located"]
    assert [item.finding.message for item in located if item.finding.is_blocking][-1] == said
    _save(client, _create(), enabled=None)
    _save(client, _create(), callers=[])
    data = {"action": "enable_them", "_selected_action": [_create().pk]}
    shown = client.post(reverse("admin:designer_endpoint_changelist"), data, follow=True)
    assert [str(message) for message in shown.context["messages"]] == [said]


def test_a_designer_switches_off_and_on_again_what_has_not_changed(portico: None) -> None:
    client = _member("Designer")
    assert _save(client, _create(), enabled=None).status_code == 302
    assert _save(client, _create(), enabled="on", title="Other").status_code == 302
    assert _create().enabled


def test_a_designer_may_undo_what_they_changed_of_a_draft(portico: None) -> None:
    client = _member("Designer")
    roles = [role.pk for role in _create().roles.all()]
    _save(client, _create(), enabled=None, callers=[])
    assert _save(client, _create(), enabled="on").status_code == 200
    assert _save(client, _create(), enabled="on", callers=roles).status_code == 302


def test_narrowing_in_steps_is_a_publishers_too(portico: None) -> None:
    client = _member("Designer")
    only = [Role.objects.get(name="sales-manager").pk]
    assert _save(client, _create(), enabled=None, callers=only).status_code == 302
    assert _save(client, _create(), enabled="on").status_code == 200


def test_a_renaming_keeps_its_callers(portico: None) -> None:
    client = _member("Designer")
    assert _save(client, _create(), segment="firms").status_code == 302
    assert PathAccess.objects.filter(method="POST", path="/api/sales/firms").exists()
    assert _save(client, Module.objects.get(segment="sales"), segment="trade").status_code == 302
    assert PathAccess.objects.filter(method="POST", path="/api/trade/firms").exists()


OUTSIDE = "settings__may_create_outside_rule"


def outside_by_the_form(client: Client) -> None:
    _save(client, _create(), **{OUTSIDE: "on"})


def outside_as_a_draft_in_between(client: Client) -> None:
    assert _save(client, _create(), enabled=None).status_code == 302
    assert _save(client, _create(), **{OUTSIDE: "on"}).status_code == 302
    _save(client, _create(), enabled="on")


def outside_at_another_path(client: Client) -> None:
    assert _save(client, _create(), enabled=None, segment="elsewhere", **{OUTSIDE: "on"}).status_code == 302
    _save(client, _create(), enabled="on")


def outside_where_nothing_was(client: Client) -> None:
    assert _expose(client, "portal", "accounts").status_code == 302
    _delete(client, _create())
    anew = Endpoint.objects.get(kind="create", entity__module__segment="portal", entity__segment="accounts")
    EndpointAccess.objects.filter(endpoint=anew.pk).delete()
    PathAccess.objects.filter(path="/api/portal/accounts").delete()
    _save(client, anew, **{OUTSIDE: "on"})


def outside_by_an_import(client: Client) -> None:
    _import(client, _document(settings={"may_create_outside_rule": True}))


OUTSIDE_WAYS: list[Callable[[Client], None]] = [
    *(outside_by_the_form, outside_as_a_draft_in_between, outside_at_another_path),
    *(outside_where_nothing_was, outside_by_an_import),
]


def _creates_outside() -> bool:
    """Whether an enabled endpoint may create outside its row rule."""
    made = [endpoint for endpoint in load().endpoints.values() if endpoint.definition.enabled]
    return any(endpoint.definition.settings.creates_outside_row_rule for endpoint in made)


@pytest.mark.parametrize("way", OUTSIDE_WAYS, ids=lambda way: way.__name__)
def test_a_designer_lets_nothing_be_created_outside_the_row_rule(portico: None, way: Any) -> None:
    way(_member("Designer"))
    assert not _creates_outside()


@pytest.mark.parametrize("way", OUTSIDE_WAYS, ids=lambda way: way.__name__)
def test_a_publisher_lets_records_be_created_outside_the_row_rule(portico: None, way: Any) -> None:
    way(_member("Publisher"))
    assert _creates_outside()


def test_the_refusal_is_at_the_setting(portico: None) -> None:
    located = _save(_member("Designer"), _create(), **{OUTSIDE: "on"}).context["located"]
    findings = [item.finding for item in located if item.finding.is_blocking]
    assert [(finding.message, finding.field) for finding in findings] == [
        (
            "Only a publisher may let POST /api/sales/accounts create records outside its row rule. "
            "Switch “May create outside its rule” off, or ask a publisher.",
            "settings.may_create_outside_rule",
        )
    ]


def test_a_designer_keeps_or_ends_creating_outside_the_row_rule(portico: None) -> None:
    outside_by_the_form(_member("Publisher"))
    client = _member("Designer")
    assert _save(client, _create(), enabled=None).status_code == 302
    assert _save(client, _create(), enabled="on", title="Other").status_code == 302
    assert _creates_outside()
    assert _save(client, _create(), **{OUTSIDE: None}).status_code == 302
    assert _save(client, _create(), **{OUTSIDE: "on"}).status_code == 200


MINE = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'
CONTROLLER = "controller"


def _narrowed() -> None:
    """Everyone reaches their own accounts, and no role reaches more."""
    Role.objects.get_or_create(name=CONTROLLER)
    Role.objects.get_or_create(name="spare")
    only_rule(MINE, segment="accounts", module="sales")
    record_outside()


def _accounts() -> ExposedEntity:
    return ExposedEntity.objects.get(segment="accounts", module__segment="sales")


def _all_for_controllers(client: Client) -> Any:
    data = filled(page(client, change_url(_accounts())))
    controller = Role.objects.get(name=CONTROLLER).pk
    add_row(data, "row_rule", callers=[controller], all_records="on")
    return client.post(change_url(_accounts()), data)


def _writing() -> list[Endpoint]:
    endpoints = Endpoint.objects.filter(entity=_accounts(), enabled=True)
    return [row for row in endpoints if row.operation is not None and row.operation.writes]


def _switched_off(client: Client) -> list[Endpoint]:
    rows = _writing()
    for row in rows:
        assert _save(client, row, enabled=None).status_code == 302
    return rows


def _with_rule(entries: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    document = _document()
    for entity in document["entities"]:
        if (entity.get("module"), entity["segment"]) == ("sales", "accounts"):
            entity["row_rule"] = entries
    for endpoint in document["endpoints"]:
        if (endpoint.get("module"), endpoint.get("exposure")) == ("sales", "accounts"):
            endpoint |= changes
    return document


OPEN_TO_CONTROLLERS: list[dict[str, Any]] = [{"filter": MINE}, {"roles": [CONTROLLER], "all_records": True}]


def an_entry_by_the_form(client: Client) -> None:
    _all_for_controllers(client)


def an_entry_while_all_are_drafts(client: Client) -> None:
    rows = _switched_off(client)
    assert _all_for_controllers(client).status_code == 302
    for row in rows:
        _save(client, row, enabled="on")


def an_entry_by_an_import(client: Client) -> None:
    _import(client, _with_rule(OPEN_TO_CONTROLLERS))


def an_entry_by_two_imports(client: Client) -> None:
    _import(client, _with_rule(OPEN_TO_CONTROLLERS, enabled=False))
    assert not _writing()
    _import(client, _with_rule(OPEN_TO_CONTROLLERS, enabled=True))


def an_entry_of_another_role_whose_name_is_taken(client: Client) -> None:
    """Who holds a role of that name in a token reaches all."""
    spare = Role.objects.get(name="spare")
    ruled(_accounts(), "", "spare")
    record_outside()
    assert _save(client, Role.objects.get(name=CONTROLLER), name="former").status_code == 302
    _save(client, spare, name=CONTROLLER)


def an_entry_restored(client: Client) -> None:
    entry = ruled(_accounts(), "", CONTROLLER)
    record_outside()
    opened = Version.objects.latest("pk")
    entry.delete()
    record_outside()
    address = reverse("studio:restore_version", args=[opened.pk])
    asked = client.post(address)
    if asked.context is not None and "digest" in asked.context:
        client.post(address, {"confirmed": asked.context["digest"]})


def a_rule_of_its_own_removed(client: Client) -> None:
    _open_but_for_rules_of_their_own()
    for row in _writing():
        _save(client, row, row_rule="")


def a_rule_of_its_own_removed_from_drafts(client: Client) -> None:
    _open_but_for_rules_of_their_own()
    for row in _switched_off(client):
        assert _save(client, row, row_rule="").status_code == 302
        _save(client, row, enabled="on")


def _open_but_for_rules_of_their_own() -> None:
    ruled(_accounts(), "", CONTROLLER)
    Endpoint.objects.filter(entity=_accounts()).exclude(kind="create").update(row_rule=MINE)
    Endpoint.objects.filter(entity=_accounts(), kind="create").delete()
    record_outside()


RECORD_WAYS: list[Callable[[Client], None]] = [
    *(an_entry_by_the_form, an_entry_while_all_are_drafts, an_entry_by_an_import, an_entry_by_two_imports),
    *(an_entry_of_another_role_whose_name_is_taken, an_entry_restored),
    *(a_rule_of_its_own_removed, a_rule_of_its_own_removed_from_drafts),
]


def _controllers_write_every_account() -> bool:
    served = (one for one in load().endpoints.values() if one.definition.enabled and one.kind.writes)
    return any(
        entry.all_records and CONTROLLER in entry.roles and one.definition.row_rule is None
        for one in served
        if one.entity is not None and one.entity.key == "sales.accounts"
        for entry in one.entity.row_rule
    )


@pytest.mark.parametrize("way", RECORD_WAYS, ids=lambda way: way.__name__)
def test_a_designer_lets_no_role_reach_every_record_of_what_writes(portico: None, way: Any) -> None:
    _narrowed()
    way(_member("Designer"))
    assert not _controllers_write_every_account()


@pytest.mark.parametrize("way", RECORD_WAYS, ids=lambda way: way.__name__)
def test_a_publisher_lets_a_role_reach_every_record(portico: None, way: Any) -> None:
    _narrowed()
    way(_member("Publisher"))
    assert _controllers_write_every_account()


def test_the_refusal_names_the_role_that_would_reach_every_record(portico: None) -> None:
    _narrowed()
    answer = _all_for_controllers(_member("Designer"))
    assert (
        "Only a publisher may let callers with the role controller reach every record of sales.accounts. "
        "Keep the entries of the row rule, or ask a publisher."
    ) in html.unescape(answer.content.decode())


def test_a_designer_keeps_and_narrows_an_entry_of_all_records(portico: None) -> None:
    _narrowed()
    ruled(_accounts(), "", CONTROLLER)
    record_outside()
    client = _member("Designer")
    assert _save(client, _accounts(), title="Other").status_code == 302
    assert _controllers_write_every_account()
    _import(client, _with_rule([{"filter": MINE}]))
    assert not _controllers_write_every_account()


TYPE_WAYS: list[Callable[[Client], None]] = []


def of_type(way: Callable[[Client], None]) -> Callable[[Client], None]:
    TYPE_WAYS.append(way)
    return way


@of_type
def a_type_by_the_form(client: Client) -> None:
    _save(client, _create(), caller_types=["user", "service", "contact"])


@of_type
def a_type_to_a_draft(client: Client) -> None:
    assert _save(client, _create(), enabled=None).status_code == 302
    assert _save(client, _create(), caller_types=["user", "service", "contact"]).status_code == 302
    _save(client, _create(), enabled="on")


@of_type
def a_type_by_two_imports(client: Client) -> None:
    access = {**_document_access(), "caller_types": ["contact", "service", "user"]}
    _import(client, _document(enabled=False, access=access))
    assert not _create().enabled
    _import(client, _document(enabled=True))


@of_type
def a_type_at_another_path(client: Client) -> None:
    assert _save(client, _create(), enabled=None, segment="elsewhere").status_code == 302
    assert _save(client, _create(), caller_types=["user", "service", "contact"]).status_code == 302
    _save(client, _create(), enabled="on")


@of_type
def a_type_narrowed_and_widened_again(client: Client) -> None:
    assert _save(client, _create(), caller_types=["user"]).status_code == 302
    _save(client, _create(), caller_types=["user", "contact"])


def _document_access() -> dict[str, Any]:
    (access,) = (
        endpoint["access"]
        for endpoint in _document()["endpoints"]
        if (endpoint["kind"], endpoint.get("module"), endpoint.get("exposure"))
        == ("create", "sales", "accounts")
    )
    typed_access: dict[str, Any] = access
    return typed_access


def _contacts_create() -> bool:
    return _create().enabled and "contact" in _create().caller_types


@pytest.mark.parametrize("way", TYPE_WAYS, ids=lambda way: way.__name__)
def test_a_designer_admits_no_other_type_of_caller_to_what_writes(portico: None, way: Any) -> None:
    way(_member("Designer"))
    assert not _contacts_create()


@pytest.mark.parametrize("way", TYPE_WAYS, ids=lambda way: way.__name__)
def test_a_publisher_admits_another_type_of_caller(portico: None, way: Any) -> None:
    way(_member("Publisher"))
    assert _contacts_create()


ISSUER = {"name": "Zest", "issuer": "https://zest.example", "audiences": ["zest"]}


def roles_of_every_caller(client: Client) -> None:
    url = change_url(Issuer.objects.get())
    client.post(url, filled(page(_member("Administrator"), url)) | {"roles": ["sales-rep"]})


def role_rules_by_an_import(client: Client) -> None:
    document = _document()
    (issuer,) = document["issuers"] or [ISSUER]
    issuer["role_rules"] = [{"claim": "roles", "as_named": True}]
    _import(client, {**document, "issuers": [issuer]})


def a_new_issuer_by_an_import(client: Client) -> None:
    new = {"name": "New", "issuer": "https://new.example", "audiences": ["x"], "roles": ["sales-rep"]}
    _import(client, {**_document(), "issuers": [new]})


def an_issuer_restored(client: Client) -> None:
    issuer = Issuer.objects.get()
    issuer.roles = ["sales-rep"]
    issuer.save()
    record_outside()
    opened = Version.objects.latest("pk")
    issuer.roles = []
    issuer.save()
    record_outside()
    address = reverse("studio:restore_version", args=[opened.pk])
    asked = client.post(address)
    if asked.context is not None and "digest" in asked.context:
        client.post(address, {"confirmed": asked.context["digest"]})


def another_entity_of_a_caller_type(client: Client) -> None:
    document = _document()
    document["caller_types"] = [
        {**one, "entity": "lead"} if one["name"] == "contact" else one
        for one in document.get("caller_types", [])
    ] or [{"name": "contact", "entity": "lead"}]
    _import(client, document)


IDENTITY_WAYS: list[Callable[[Client], None]] = [
    *(roles_of_every_caller, role_rules_by_an_import, a_new_issuer_by_an_import),
    *(an_issuer_restored, another_entity_of_a_caller_type),
]


@pytest.mark.parametrize("group", ["Designer", "Publisher"])
@pytest.mark.parametrize("way", IDENTITY_WAYS, ids=lambda way: way.__name__)
def test_who_callers_are_is_the_administrators(portico: None, group: str, way: Any) -> None:
    Issuer.objects.create(**ISSUER)
    record_outside()
    before = export(load())
    way(_member(group))
    now = export(load())
    assert (now.issuers, now.caller_types) == (before.issuers, before.caller_types)


def test_every_page_that_writes_the_configuration_passes_the_gate() -> None:
    """What is written past it would count as done outside, and be taken for granted."""
    watched = {
        model: pages for model, pages in admin.site._registry.items() if model._meta.db_table in WATCHED
    }
    assert {Endpoint, Role, Issuer, Module, ExposedEntity} <= set(watched)
    assert [model for model, pages in watched.items() if not isinstance(pages, CheckedAdmin)] == []


def test_a_role_that_restricts_a_draft_cannot_be_deleted(portico: None) -> None:
    """Its endpoints would be open to every caller with a token."""
    client = _member("Publisher")
    _save(client, _create(), enabled=None, callers=[_support().pk])
    url = reverse("admin:designer_role_delete", args=[_support().pk])
    client.post(url, {"post": "yes"})
    assert [role.name for role in _create().roles.all()] == ["support"]


def test_the_upgrade_takes_what_is_enabled(portico: None) -> None:
    """The migration knows by itself what the product keeps from then on."""
    Endpoint.objects.filter(kind="delete").update(enabled=False)
    record_outside()
    Module.objects.filter(segment="sales").update(title="Touched")
    EndpointAccess.objects.all().delete()
    PathAccess.objects.all().delete()
    record_outside()
    kept = _kept()
    assert len(kept) > 10
    EndpointAccess.objects.all().delete()
    PathAccess.objects.all().delete()
    importlib.import_module("designer.migrations.0007_write_access").fill(apps, connection.schema_editor())
    assert _kept() == kept


def test_documents_do_not_tell_what_was_last_enabled(portico: None) -> None:
    before = to_bytes(export(load()))
    PathAccess.objects.all().delete()
    assert to_bytes(export(load())) == before


def _kept() -> list[Any]:
    by_endpoint = EndpointAccess.objects.order_by("endpoint")
    by_path = PathAccess.objects.order_by("path", "method")
    return [
        *by_endpoint.values_list("endpoint", "authentication_required", "roles"),
        *by_path.values_list("method", "path", "authentication_required", "roles"),
    ]
