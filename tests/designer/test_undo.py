"""Undo: every message about a change offers it, and so does a version, unless something was built on it."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from designer.documents.document_writer import export, to_bytes
from designer.history.recording import record_outside
from designer.loading import latest
from designer.models import (
    Endpoint,
    ExposedEntity,
    Issuer,
    ItemChange,
    Release,
    Role,
    RowRuleEntry,
    UserProperty,
    Version,
)
from tests.designer import rows
from tests.designer.studio import add_row, add_url, change_url, filled, page
from tests.designer.two_people import opened, save
from tests.row_rules import ruled

UNDO = "/admin/versions/undo/"


@pytest.fixture
def accounts(portico: None) -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts")


def _designer() -> Client:
    """Somebody who edits, and neither publishes nor restores."""
    account = User.objects.create_user("nora", is_staff=True)
    account.groups.add(Group.objects.get(name="Designer"))
    client = Client()
    client.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _offered(answer: Any) -> dict[str, str]:
    """What the button of the last message sends."""
    button = r'<form class="studio-undo".*?name="version" value="(\d+)">Undo<'
    return {"version": re.findall(button, answer.content.decode(), re.DOTALL)[-1]}


def _undo(client: Client, sent: dict[str, Any]) -> Any:
    return client.post(UNDO, sent, follow=True)


def _change() -> ItemChange:
    """The only one of the newest version."""
    return Version.objects.latest("id").changes.get()


def _configuration() -> bytes:
    return to_bytes(export(latest()))


def _definition(row: Endpoint) -> Any:
    return latest().endpoints[row.pk].definition


def test_the_message_after_a_save_undoes_it_and_its_own_message_does_it_again(
    portico: None, accounts: Endpoint
) -> None:
    nora = _designer()
    data = opened(nora, accounts)
    before = _configuration()
    saved = nora.post(change_url(accounts), data | {"title": "Other", "inputs-1-required": "on"}, follow=True)
    after = _configuration()
    undone = _undo(nora, _offered(saved))
    assert _configuration() == before
    number = Version.objects.latest("id").pk - 1
    assert f"Version {number} undone: endpoint sales.accounts.create." in undone.content.decode()
    assert Version.objects.latest("id").note == f"Undid version {number}: endpoint sales.accounts.create"
    _undo(nora, _offered(undone))
    assert _configuration() == after


def test_an_undo_of_much_says_how_much_more_it_undid(portico: None) -> None:
    nora = _designer()
    address = f"{reverse('studio:expose')}?entity=appointment"
    data = {bound.html_name: bound.value() for bound in page(nora, address).context["form"]}
    sent = {name: value for name, value in data.items() if value not in (None, False)}
    undone = _undo(nora, _offered(nora.post(address, sent, follow=True)))
    # An entity and four endpoints.
    assert re.search(r"Version \d+ undone: [^<]*, and 2 more\.", undone.content.decode())


def test_a_save_that_changes_nothing_offers_no_undo(dora: Client, accounts: Endpoint) -> None:
    answer = dora.post(change_url(accounts), opened(dora, accounts), follow=True)
    assert "studio-undo" not in answer.content.decode()


def test_what_was_added_and_what_was_deleted_is_undone(dora: Client) -> None:
    before = _configuration()
    data = filled(page(dora, add_url("role"))) | {"name": "guest", "title": "Guests"}
    added = dora.post(add_url("role"), data, follow=True)
    role = Role.objects.get(name="guest")
    deleted = dora.post(reverse("admin:designer_role_delete", args=[role.pk]), {"post": "yes"}, follow=True)
    assert _configuration() == before
    _undo(dora, _offered(deleted))
    assert Role.objects.get(name="guest").title == "Guests"
    _undo(dora, _offered(added))
    refused = _undo(dora, _offered(added))
    assert _configuration() == before
    assert "Nothing to undo" in refused.content.decode()


def test_a_change_out_of_the_middle_is_undone_and_later_ones_stay(dora: Client, accounts: Endpoint) -> None:
    before = _definition(accounts)
    save(dora, accounts, opened(dora, accounts) | {"inputs-1-required": "on", "title": "Other"})
    middle = _change()
    save(dora, accounts, opened(dora, accounts) | {"inputs-1-description": "Office", "description": "Later"})
    shown = page(dora, reverse("studio:version", args=[middle.version_id])).content.decode()
    assert "Undo this change" in shown
    _undo(dora, {"change": middle.pk})
    made = _definition(accounts)
    assert (made.title, made.inputs[1].required) == (before.title, before.inputs[1].required)
    assert (made.description, made.inputs[1].description) == ("Later", "Office")


def test_a_version_offers_each_way_back_once(dora: Client, accounts: Endpoint) -> None:
    """Of what has not been changed since, undoing is the way back; the version itself is there."""
    save(dora, accounts, opened(dora, accounts) | {"title": "Other"})
    address = reverse("studio:version", args=[_change().version_id])
    ways = re.compile(
        r"(Undo this change|Remove it again|Back to before this change|Back to this version)</button>"
    )
    assert ways.findall(page(dora, address).content.decode()) == ["Undo this change"]
    save(dora, accounts, opened(dora, accounts) | {"description": "Later"})
    everyone = ["Undo this change", "Back to before this change", "Back to this version"]
    assert ways.findall(page(dora, address).content.decode()) == everyone


def test_what_was_built_on_is_not_undone_and_that_is_named(dora: Client, accounts: Endpoint) -> None:
    save(dora, accounts, opened(dora, accounts) | {"title": "First"})
    first = _change()
    save(dora, accounts, opened(dora, accounts) | {"title": "Second"})
    second = Version.objects.latest("id").pk
    answer = _undo(dora, {"change": first.pk}).content.decode()
    assert f"version {second} (designer) builds on it (title: “First” → “Second”)" in answer
    assert _definition(accounts).title == "Second"


def test_a_role_that_an_endpoint_needs_by_now_is_not_undone(dora: Client, accounts: Endpoint) -> None:
    added = dora.post(add_url("role"), filled(page(dora, add_url("role"))) | {"name": "guest"}, follow=True)
    guest = Role.objects.get(name="guest").pk
    data = opened(dora, accounts)
    data["callers"] = [*data["callers"], guest]
    asked = dora.post(change_url(accounts), data)
    save(dora, accounts, data | {"_opened_access": asked.context["questions"][0].value})
    answer = _undo(dora, _offered(added)).content.decode()
    assert "sales.accounts.create" in answer
    assert Role.objects.filter(pk=guest).exists()


def test_undoing_what_lets_callers_in_asks_first(dora: Client, accounts: Endpoint) -> None:
    data = opened(dora, accounts)
    save(dora, accounts, data | {"callers": [Role.objects.get(name="sales-manager").pk]})
    change = _change()
    asked = dora.post(UNDO, {"change": change.pk})
    assert "sales.accounts.create writes, and more callers may call it." in asked.content.decode()
    assert _definition(accounts).access.roles == ("sales-manager",)
    _undo(dora, {"change": change.pk, "confirmed": asked.context["digest"]})
    assert _definition(accounts).access.roles == ("sales-manager", "sales-rep")


def test_undoing_what_serves_a_write_again_asks_first(dora: Client, accounts: Endpoint) -> None:
    before = _configuration()
    off = {name: value for name, value in opened(dora, accounts).items() if name != "enabled"}
    save(dora, accounts, off)
    again = "sales.accounts.create writes, and is served again. May call it: sales-manager, sales-rep."
    asked = dora.post(UNDO, {"change": _change().pk})
    assert again in asked.content.decode()
    assert not _definition(accounts).enabled
    _undo(dora, {"change": _change().pk, "confirmed": asked.context["digest"]})
    assert _configuration() == before
    delete = reverse("admin:designer_endpoint_delete", args=[accounts.pk])
    assert dora.post(delete, {"post": "yes"}).status_code == 302
    asked = dora.post(UNDO, {"change": _change().pk})
    assert again in asked.content.decode()
    assert not Endpoint.objects.filter(entity__segment="accounts", kind="create").exists()
    _undo(dora, {"change": _change().pk, "confirmed": asked.context["digest"]})
    assert _configuration() == before


def test_undoing_what_needs_no_confirmation_serves_a_read_again(dora: Client) -> None:
    read = Endpoint.objects.get(kind="read", entity__segment="accounts", entity__module__segment="sales")
    before = _configuration()
    save(dora, read, {name: value for name, value in opened(dora, read).items() if name != "enabled"})
    _undo(dora, {"change": _change().pk})
    assert _configuration() == before


def test_undoing_what_opens_a_read_to_anybody_asks_first(dora: Client) -> None:
    read = Endpoint.objects.get(kind="read", entity__segment="accounts", entity__module__segment="sales")
    read.roles.clear()
    Endpoint.objects.filter(pk=read.pk).update(authentication_required=False)
    save(dora, read, opened(dora, read) | {"authentication_required": "on"})
    asked = dora.post(UNDO, {"change": _change().pk})
    assert "sales.accounts.read needs no token: anybody may call it." in asked.content.decode()
    assert _definition(read).access.authentication_required


def test_undoing_what_serves_a_read_to_anybody_again_asks_first(dora: Client) -> None:
    read = Endpoint.objects.get(kind="read", entity__segment="accounts", entity__module__segment="sales")
    read.roles.clear()
    Endpoint.objects.filter(pk=read.pk).update(authentication_required=False)
    save(dora, read, {name: value for name, value in opened(dora, read).items() if name != "enabled"})
    asked = dora.post(UNDO, {"change": _change().pk})
    assert "sales.accounts.read needs no token: anybody may call it." in asked.content.decode()
    _undo(dora, {"change": _change().pk, "confirmed": asked.context["digest"]})
    assert _definition(read).enabled
    dora.post(reverse("admin:designer_endpoint_delete", args=[read.pk]), {"post": "yes"})
    asked = dora.post(UNDO, {"change": _change().pk})
    assert "sales.accounts.read needs no token: anybody may call it." in asked.content.decode()
    assert not Endpoint.objects.filter(pk=read.pk).exists()


def test_undoing_a_row_rule_asks_first(dora: Client) -> None:
    exposed = ExposedEntity.objects.get(module__segment="sales", segment="accounts")
    data = opened(dora, exposed)
    add_row(data, "row_rule", callers=[Role.objects.get(name="sales-manager").pk], all_records="on")
    save(dora, exposed, data)
    asked = dora.post(UNDO, {"change": _change().pk})
    assert "All callers reach every record of sales.accounts." in asked.content.decode()


ONLY_BIG = '<filter><condition attribute="revenue" operator="gt" value="1"/></filter>'
ONLY_SMALL = ONLY_BIG.replace("gt", "lt")


def _entry_removed(rule: QuerySet[RowRuleEntry]) -> None:
    rule.filter(roles__name="sales-manager").delete()


def _entry_filtered(rule: QuerySet[RowRuleEntry]) -> None:
    rule.filter(roles__name="sales-manager").update(filter=ONLY_BIG, all_records=False)


def _one_of_two_entries_removed(rule: QuerySet[RowRuleEntry]) -> None:
    rule.filter(filter=ONLY_SMALL).delete()


@pytest.mark.parametrize("narrow", [_entry_removed, _entry_filtered, _one_of_two_entries_removed])
def test_undoing_what_hid_records_from_a_role_asks_first(dora: Client, narrow: Any) -> None:
    exposed = ExposedEntity.objects.get(module__segment="sales", segment="accounts")
    rule = RowRuleEntry.objects.filter(exposed=exposed)
    rule.delete()
    ruled(exposed, ONLY_BIG, "sales-rep")
    ruled(exposed, ONLY_SMALL, "sales-rep")
    ruled(exposed, "", "sales-manager")
    record_outside()
    before = _configuration()
    narrow(rule)
    record_outside()
    asked = dora.post(UNDO, {"change": _change().pk})
    assert "Callers may reach more records of sales.accounts." in asked.content.decode()
    assert _configuration() != before
    _undo(dora, {"change": _change().pk, "confirmed": asked.context["digest"]})
    assert _configuration() == before
    # What only hides records is not asked about.
    assert dora.post(UNDO, {"change": _change().pk}).status_code == 302


def test_undoing_what_kept_creates_within_the_row_rule_asks_first(dora: Client, accounts: Endpoint) -> None:
    settings = {**accounts.settings, "may_create_outside_rule": True}
    Endpoint.objects.filter(pk=accounts.pk).update(settings=settings)
    record_outside()
    Endpoint.objects.filter(pk=accounts.pk).update(settings=accounts.settings)
    record_outside()
    asked = dora.post(UNDO, {"change": _change().pk})
    assert "sales.accounts.create may create records outside its row rule." in asked.content.decode()
    assert not _definition(accounts).settings.creates_outside_row_rule


def _item(narrowed: Version, release: Release) -> tuple[str, dict[str, Any]]:
    address = reverse("studio:restore_version", args=[narrowed.pk])
    return address, {"change": narrowed.changes.get().pk, "to": "before"}


def _version(narrowed: Version, release: Release) -> tuple[str, dict[str, Any]]:
    return reverse("studio:restore_version", args=[narrowed.pk - 1]), {}


def _release(narrowed: Version, release: Release) -> tuple[str, dict[str, Any]]:
    return reverse("studio:restore_release", args=[release.pk]), {}


@pytest.mark.parametrize("way", [_item, _version, _release])
def test_every_way_back_that_lets_callers_in_asks_first(dora: Client, accounts: Endpoint, way: Any) -> None:
    save(dora, accounts, opened(dora, accounts) | {"title": "Other"})
    release = Release.objects.create(major=9, minor=0, document=_configuration().decode())
    save(dora, accounts, opened(dora, accounts) | {"callers": [Role.objects.get(name="sales-manager").pk]})
    address, sent = way(Version.objects.latest("id"), release)
    for answer in ({}, {"confirmed": "another question's"}):
        asked = dora.post(address, sent | answer)
        assert "sales.accounts.create writes, and more callers may call it." in asked.content.decode()
        assert _definition(accounts).access.roles == ("sales-manager",)
    dora.post(address, {**asked.context["sent"], "confirmed": asked.context["digest"]})
    assert _definition(accounts).access.roles == ("sales-manager", "sales-rep")


def test_undoing_what_an_issuer_does_not_accept_any_more_asks_first(
    admin_client: Client, portico: None
) -> None:
    issuer = Issuer.objects.create(name="Customers", issuer="https://login.example.com", audiences=["portal"])
    off = {name: value for name, value in opened(admin_client, issuer).items() if name != "enabled"}
    save(admin_client, issuer, off)
    asked = html.unescape(admin_client.post(UNDO, {"change": _change().pk}).content.decode())
    assert f"Tokens of the issuer “{issuer.name}” are accepted again." in asked
    save(admin_client, issuer, opened(admin_client, issuer) | {"enabled": "on"})
    save(admin_client, issuer, opened(admin_client, issuer) | {"audiences": "another"})
    asked = html.unescape(admin_client.post(UNDO, {"change": _change().pk}).content.decode())
    assert f"The issuer “{issuer.name}” gets other rules" in asked
    save(admin_client, issuer, opened(admin_client, issuer) | {"description": "Of the portal"})
    assert admin_client.post(UNDO, {"change": _change().pk}).status_code == 302


def test_the_last_property_comes_back_after_another_was_added(dora: Client, portico: None) -> None:
    Endpoint.objects.all().delete()
    ExposedEntity.objects.all().delete()
    last = UserProperty.objects.get(name="title")
    UserProperty.objects.exclude(pk=last.pk).delete()
    record_outside()
    dora.post(reverse("admin:designer_userproperty_delete", args=[last.pk]), {"post": "yes"})
    removal = Version.objects.latest("id")
    assert not UserProperty.objects.exists()
    UserProperty.objects.create(name="another", caller_type_id="user", kind="field", attribute="fullname")
    record_outside()
    _undo(dora, {"version": removal.pk})
    assert {row.name for row in UserProperty.objects.all()} == {last.name, "another"}


def test_only_a_publisher_undoes_what_publishers_do(dora: Client, accounts: Endpoint) -> None:
    save(dora, accounts, opened(dora, accounts) | {"callers": [Role.objects.get(name="sales-manager").pk]})
    nora, change = _designer(), _change()
    asked = nora.post(UNDO, {"change": change.pk})
    refused = _undo(nora, {"change": change.pk, "confirmed": asked.context["digest"]})
    assert "only a publisher may change who calls it" in refused.content.decode()
    assert _definition(accounts).access.roles == ("sales-manager",)


def test_who_may_only_look_undoes_nothing(dora: Client, accounts: Endpoint) -> None:
    save(dora, accounts, opened(dora, accounts) | {"title": "Other"})
    account = User.objects.create_user("vera", is_staff=True)
    account.groups.add(Group.objects.get(name="Viewer"))
    vera = Client()
    vera.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    assert vera.post(UNDO, {"change": _change().pk}).status_code == 403
    shown = page(vera, reverse("studio:version", args=[_change().version_id])).content.decode()
    assert "Undo this change" not in shown


def test_what_is_no_version_is_not_found(dora: Client) -> None:
    for sent in ({}, {"version": "x"}, {"version": "999999"}, {"change": "999999"}):
        assert dora.post(UNDO, sent).status_code == 404


def test_going_back_says_to_what(dora: Client, accounts: Endpoint) -> None:
    save(dora, accounts, opened(dora, accounts) | {"title": "Other"})
    change = _change()
    url = reverse("studio:restore_version", args=[change.version_id])
    answer = dora.post(url, {"change": change.pk, "to": "before"}, follow=True)
    said = f"Endpoint sales.accounts.create went back to before version {change.version_id}"
    assert f"{said}." in answer.content.decode()
    assert Version.objects.latest("id").note == said
    _undo(dora, _offered(answer))
    assert _definition(accounts).title == "Other"


def test_nothing_that_is_done_to_a_draft_is_breaking(dora: Client) -> None:
    draft = rows.endpoint(enabled=False)
    save(dora, draft, opened(dora, draft) | {"inputs-0-type": "Integer", "title": "Draft"})
    version = Version.objects.latest("id")
    assert version.effect == "additive"
    assert "breaking" not in page(dora, reverse("studio:version", args=[version.pk])).content.decode()
