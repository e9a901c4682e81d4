"""The ways in which people change what is configured, by the module that lets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin, messages
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from designer.history.recording import record_outside
from designer.models import (
    Endpoint,
    ExposedEntity,
    Module,
    Release,
    Role,
    UserProperty,
    Version,
)
from tests.designer.proposing import create_endpoint, document, member, save, upload
from tests.designer.studio import change_url, filled, page
from tests.row_rules import only_rule

KEY = "sales.accounts.create"
RULE = '<filter><condition attribute="name" operator="not-null"/></filter>'

Way = Callable[[Client], object]
# By the module that lets people change the configuration: the ways that go through it.
WAYS: dict[str, list[Way]] = {}


def through(module: str) -> Callable[[Way], Way]:
    def add(way: Way) -> Way:
        WAYS.setdefault(module, []).append(way)
        return way

    return add


def _post(client: Client, name: str, data: dict[str, Any], *args: Any) -> None:
    client.post(reverse(name, args=args), data)


def _deleted(client: Client, row: Any) -> None:
    _post(client, f"admin:designer_{row._meta.model_name}_delete", {"post": "yes"}, row.pk)


def version_noted(title: str) -> Version:
    return Version.objects.get(changes__key=KEY, note=title)


@through("designer.studio.saving.checked_save")
def a_form(client: Client) -> None:
    save(client, create_endpoint(), title="Other")


@through("designer.studio.saving.checked_save")
def a_draft_enabled(client: Client) -> None:
    save(client, Endpoint.objects.get(title="A draft"), enabled="on")


@through("designer.studio.saving.checked_save")
def a_deletion(client: Client) -> None:
    _deleted(client, create_endpoint())


@through("designer.studio.saving.checked_save")
def deletions_from_the_list(client: Client) -> None:
    data = {"action": "delete_selected", "_selected_action": [create_endpoint().pk], "post": "yes"}
    _post(client, "admin:designer_endpoint_changelist", data)


@through("designer.studio.saving.checked_save")
def an_action_of_a_package(client: Client) -> None:
    data = {"action": "retitle_them", "_selected_action": [create_endpoint().pk]}
    _post(client, "admin:designer_endpoint_changelist", data)


@through("designer.studio.saving.checked_save")
def a_path_changed(client: Client) -> None:
    save(client, create_endpoint(), segment="elsewhere")


@through("designer.studio.saving.checked_save")
def its_module_renamed(client: Client) -> None:
    save(client, Module.objects.get(segment="sales"), segment="trade")


@through("designer.studio.saving.checked_save")
def its_entity_renamed(client: Client) -> None:
    save(client, _accounts(), segment="firms")


@through("designer.studio.saving.checked_save")
def its_row_rule_removed(client: Client) -> None:
    data = filled(page(client, change_url(_accounts())))
    data["row_rule-0-DELETE"] = "on"
    client.post(change_url(_accounts()), data | {"_opens": "on"})


@through("designer.studio.saving.checked_save")
def its_role_renamed(client: Client) -> None:
    save(client, Role.objects.get(name="sales-rep"), name="seller")


@through("designer.studio.saving.checked_save")
def its_role_deleted(client: Client) -> None:
    _deleted(client, Role.objects.get(name="sales-rep"))


@through("designer.studio.saving.checked_save")
def a_user_property_that_it_uses(client: Client) -> None:
    save(client, UserProperty.objects.get(name="used"), attribute="internalemailaddress")


@through("designer.studio.pages.matrix")
def the_matrix(client: Client) -> None:
    cell = {"cell": f"{create_endpoint().pk}:support"}
    answer = client.post(reverse("studio:matrix"), cell)
    if answer.status_code == 200:
        _post(client, "studio:matrix", {**cell, "confirmed": answer.context["edit"].digest})


@through("designer.studio.pages.translations")
def a_translation(client: Client) -> None:
    url = reverse("studio:translations_of", args=[create_endpoint().pk])
    client.post(f"{url}?language=1031", {"title": "Ein Konto"})


@through("designer.studio.pages.attribute_pages")
def an_attribute_replaced_everywhere(client: Client) -> None:
    url = f"{reverse('studio:attribute')}?entity=account&attribute=telephone1"
    asked = client.post(url, {"new": "fax"})
    client.post(url, {"new": "fax", "confirmed": asked.context["digest"]})


@through("designer.studio.pages.expose_page")
def an_entity_exposed(client: Client) -> None:
    data = {
        "module": "sales", "segment": "more", "operations": ["create"],
        "attributes": ["name"], "caller_types": ["user"], "roles": ["support"], "enabled": "on",
    }  # fmt: skip
    client.post(reverse("studio:expose") + "?entity=account", data)


@through("designer.studio.pages.new_query")
def a_query_added(client: Client) -> None:
    fetch = '<fetch><entity name="account"><attribute name="name"/></entity></fetch>'
    data = {
        "query": fetch, "kind": "multi-query", "module": "sales", "name": "more",
        "caller_types": ["user"], "roles": ["support"], "enabled": "on",
    }  # fmt: skip
    _post(client, "studio:new_query", data)


@through("designer.studio.pages.import_page")
def an_import(client: Client) -> None:
    raw = _retitled()
    planned = client.post(reverse("studio:import"), {"document": upload(raw)})
    _post(client, "studio:import", {"document": upload(raw), "digest": planned.context["trial"].digest})


@through("designer.studio.pages.versions")
def a_version_restored(client: Client) -> None:
    _post(client, "studio:restore_version", {}, version_noted("before").pk)


@through("designer.studio.pages.versions")
def an_item_restored(client: Client) -> None:
    version = version_noted("before")
    change = version.changes.get(key=KEY)
    _post(client, "studio:restore_version", {"change": change.pk, "to": "after"}, version.pk)


@through("designer.studio.pages.release_pages")
def a_release_restored(client: Client) -> None:
    _post(client, "studio:restore_release", {}, Release.objects.get().pk)


@through("designer.studio.pages.undo_page")
def a_version_undone(client: Client) -> None:
    _post(client, "studio:undo", {"version": version_noted("after").pk})


@through("designer.studio.pages.undo_page")
def a_change_undone(client: Client) -> None:
    _post(client, "studio:undo", {"change": version_noted("after").changes.get(key=KEY).pk})


@through("designer.studio.trying.kept_calls")
def an_example_call_removed(client: Client) -> None:
    url = reverse("admin:designer_endpoint_example-call", args=[create_endpoint().pk])
    client.post(f"{url}?name=kept", {"_remove": "1"})


@through("designer.studio.saving.acknowledgements")
def an_acknowledgement_withdrawn(client: Client) -> None:
    _post(client, "admin:designer_endpoint_acknowledge", {"withdraw": "contact"}, create_endpoint().pk)


@through("designer.management.commands.importconfig")
def the_import_of_a_shell(client: Client) -> None:
    _command("importconfig", _written(_retitled()))


@through("designer.management.commands.restoreconfig")
def the_restore_of_a_shell(client: Client) -> None:
    _command("restoreconfig", str(version_noted("before").pk))


def _accounts() -> ExposedEntity:
    return ExposedEntity.objects.get(segment="accounts", module__segment="sales")


def _retitled() -> bytes:
    return document(lambda endpoints: endpoints[KEY].update(title="Imported"))


def _written(raw: bytes) -> str:
    file = Path(_folder[0]) / "c.json"
    file.write_bytes(raw)
    return str(file)


_folder: list[Path] = []


def _command(name: str, *arguments: str) -> None:
    with pytest.raises(CommandError):
        call_command(name, *arguments, stdout=StringIO())


@pytest.fixture
def paul(portico: None, tmp_path: Path) -> Iterator[Client]:
    """A publisher, in a system that has a history, an example call and all that a way needs."""

    def retitle_them(pages: Any, request: Any, rows: Any) -> None:
        rows.update(title="By an action")
        pages.message_user(request, "Retitled.", messages.SUCCESS)

    _folder[:] = [tmp_path]
    paul = member("paul", "Publisher")
    only_rule(RULE, segment="accounts", module="sales")
    UserProperty.objects.create(name="used", attribute="fullname")
    row = create_endpoint()
    row.example_calls = [{"name": "kept", "roles": ["sales-rep"], "status": 403, "body": {"name": "A"}}]
    row.acknowledgements = [{"entity": "contact", "reason": "on purpose"}]
    row.save()
    binding = row.bindings.create(attribute="description", source="expression", value="user.used")
    assert binding.pk
    Endpoint.objects.create(
        kind="option-set", name="drafted", title="Elsewhere", settings={"option_set": "new_priority"}
    )
    draft = Endpoint.objects.get(kind="read", entity=_accounts())
    draft.enabled, draft.title = False, "A draft"
    draft.save()
    record_outside()
    assert save(paul, create_endpoint(), title="Before", _why="before").status_code == 302
    proposed = page(paul, reverse("studio:new_release")).context["form"]
    data = {bound.html_name: "" if bound.value() is None else bound.value() for bound in proposed}
    assert client_made(paul.post(reverse("studio:new_release"), data))
    assert save(paul, create_endpoint(), title="After", _why="after").status_code == 302
    admin.site.add_action(retitle_them, "retitle_them")
    yield paul
    admin.site.disable_action("retitle_them")
    del admin.site._global_actions["retitle_them"]


def client_made(answer: Any) -> bool:
    return bool(answer.status_code == 302)


ALL = [way for ways in WAYS.values() for way in ways]
