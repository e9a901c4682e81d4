"""Whatever way breaks callers, somebody is asked first: by a form, a message, or the page with the button."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib import admin, messages
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from designer.loading import latest
from designer.models import (
    Endpoint,
    EndpointCalls,
    ExposedEntity,
    Issuer,
    Module,
    OptionSet,
    Release,
    Role,
    Version,
)
from tests.designer.proposing import create_endpoint, document, live, member, newest, save, step, upload
from tests.designer.studio import add_url, filled, page
from tests.designer.test_protection import PUBLISHING
from tests.designer.ways_of_change import (
    KEY,
    WAYS,
    paul,  # noqa: F401  a fixture
)

ASKED = re.compile(r"Not done yet: this change (breaks|gives another address).*in the last 35 days\)")
# Who sends a form, or presses the last button of a page: by module, in the words of the ways of change.
Way = Callable[[Client], Any]
BREAKING: dict[str, list[Way]] = {}
# Modules by whose ways nobody can lose, or that ask elsewhere.
NOBODY_LOSES = {
    "designer.studio.pages.translations": "Texts for people.",
    "designer.studio.pages.expose_page": "It adds.",
    "designer.studio.pages.new_query": "It adds.",
    "designer.studio.trying.kept_calls": "Examples are no part of what is served.",
    "designer.studio.saving.acknowledgements": "They change what is found, and nothing that is served.",
    "designer.management.commands.importconfig": "A shell has a dry run, and nobody who answers.",
    "designer.management.commands.restoreconfig": "A shell has a dry run, and nobody who answers.",
    "designer.proposals.publication": "Its pages ask; see below.",
    # These show who is affected beside the button; see below.
    "designer.studio.pages.import_page": "The plan tells the calls.",
}


def through(module: str) -> Callable[[Way], Way]:
    def add(way: Way) -> Way:
        BREAKING.setdefault(module, []).append(way)
        return way

    return add


def _call_all() -> None:
    """Every endpoint has been called."""
    now = timezone.now()
    hour = now.replace(minute=0, second=0, microsecond=0)
    EndpointCalls.objects.all().delete()
    EndpointCalls.objects.bulk_create(
        EndpointCalls(
            endpoint=KEY if row.pk == create_endpoint().pk else _key(row), hour=hour, calls=7, last_at=now
        )
        for row in Endpoint.objects.all()
    )


def _key(row: Endpoint) -> str:

    return latest().endpoints[row.pk].definition.key


def _draft() -> Endpoint:
    return Endpoint.objects.get(title="A draft")


def _enabled(client: Client) -> Version:
    """What can be taken back by restoring and undoing: somebody has switched a draft on."""
    assert save(client, _draft(), enabled="on", _why="enabled").status_code == 302
    return Version.objects.get(note="enabled")


@through("designer.studio.saving.checked_save")
def an_endpoint_switched_off(client: Client) -> Any:
    return save(client, create_endpoint(), enabled=None)


@through("designer.studio.saving.checked_save")
def an_option_set_switched_off(client: Client) -> Any:
    row = OptionSet.objects.filter(enabled=True, kind="option-set").first()
    return save(client, row, enabled=None)


@through("designer.studio.saving.checked_save")
def endpoints_deleted_from_the_list(client: Client) -> Any:
    data = {"action": "delete_selected", "_selected_action": [create_endpoint().pk], "post": "yes"}
    return client.post(reverse("admin:designer_endpoint_changelist"), data)


@through("designer.studio.saving.checked_save")
def endpoints_switched_off_by_an_action(client: Client) -> Any:
    data = {"action": "switch_them_off", "_selected_action": [create_endpoint().pk]}
    return client.post(reverse("admin:designer_endpoint_changelist"), data)


@through("designer.studio.saving.checked_save")
def a_path_changed(client: Client) -> Any:
    return save(client, create_endpoint(), segment="elsewhere")


@through("designer.studio.saving.checked_save")
def a_module_renamed(client: Client) -> Any:
    return save(client, Module.objects.get(segment="sales"), segment="trade")


@through("designer.studio.saving.checked_save")
def an_entity_renamed(client: Client) -> Any:
    row = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    return save(client, row, segment="firms")


@through("designer.studio.saving.checked_save")
def a_role_renamed(client: Client) -> Any:
    return save(client, Role.objects.get(name="sales-rep"), name="seller")


@through("designer.studio.saving.checked_save")
def an_issuer_switched_off(client: Client) -> Any:
    ada = member("ada", "Administrator")
    data = filled(page(ada, add_url("issuer")))
    typed = {"name": "Staff", "issuer": "https://login.example.com/", "audiences": "api", "enabled": "on"}
    assert ada.post(add_url("issuer"), data | typed).status_code == 302
    client.cookies = ada.cookies
    return save(client, Issuer.objects.get(name="Staff"), enabled=None)


@through("designer.studio.pages.matrix")
def a_role_taken_away(client: Client) -> Any:
    row = create_endpoint()
    assert row.roles.count() > 1
    return client.post(reverse("studio:matrix"), {"cell": f"{row.pk}:sales-rep"})


@through("designer.studio.pages.attribute_pages")
def an_attribute_removed_everywhere(client: Client) -> Any:
    url = f"{reverse('studio:attribute')}?entity=account&attribute=telephone1"
    asked = client.post(url, {"do": "remove"})
    return client.post(url, {"do": "remove", "confirmed": asked.context["digest"]})


@through("designer.studio.pages.versions")
def a_version_restored(client: Client) -> Any:
    _enabled(client)
    before = Version.objects.get(changes__key=KEY, note="after").pk
    return client.post(reverse("studio:restore_version", args=[before]), {})


@through("designer.studio.pages.versions")
def an_item_restored(client: Client) -> Any:
    version = _enabled(client)
    change = version.changes.get(collection="endpoints")
    data = {"change": change.pk, "to": "before"}
    return client.post(reverse("studio:restore_version", args=[version.pk]), data)


@through("designer.studio.pages.release_pages")
def a_release_restored(client: Client) -> Any:
    _enabled(client)
    return client.post(reverse("studio:restore_release", args=[Release.objects.get().pk]), {})


@through("designer.studio.pages.undo_page")
def a_version_undone(client: Client) -> Any:
    return client.post(reverse("studio:undo"), {"version": _enabled(client).pk})


@through("designer.studio.pages.undo_page")
def a_change_undone(client: Client) -> Any:
    change = _enabled(client).changes.get(collection="endpoints")
    return client.post(reverse("studio:undo"), {"change": change.pk})


@pytest.fixture
def pia(paul: Client) -> Iterator[Client]:  # noqa: F811
    """A publisher, where a package brings an action."""

    def switch_them_off(pages: Any, request: Any, rows: Any) -> None:
        rows.update(enabled=False)
        pages.message_user(request, "Switched off.", messages.SUCCESS)

    admin.site.add_action(switch_them_off, "switch_them_off")
    yield paul
    admin.site.disable_action("switch_them_off")
    del admin.site._global_actions["switch_them_off"]


ALL = [way for ways in BREAKING.values() for way in ways]


@pytest.mark.parametrize("way", ALL, ids=lambda way: way.__name__)
def test_each_way_of_breaking_callers_asks_first(pia: Client, way: Way) -> None:
    client = _Counted()
    client.cookies = pia.cookies
    asked = way(client)
    before = client.before
    assert live() == before
    shown = asked if asked.status_code == 200 else client.get(asked["Location"])
    text = html.unescape(shown.content.decode())
    assert ASKED.search(text), text
    _answer(client, text)
    assert live() != before


class _Counted(Client):
    """A client with which everything has been called before its last request: ways prepare theirs before."""

    before = b""

    def post(self, *args: Any, **kwargs: Any) -> Any:
        _call_all()
        self.before, self.sent = live(), args
        return super().post(*args, **kwargs)


def _answer(client: _Counted, text: str) -> None:
    """Press “Change it anyway”, or tick what the form asks and send it again."""
    if offer := re.search(r'(?s)<form method="post" action="([^"]+)" class="studio-undo">(.*?)</form>', text):
        assert "Change it anyway" in offer[2]
        fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', offer[2])
        client.post(offer[1], dict(fields))
        return
    ticks = re.findall(r'type="checkbox" name="(_breaks|_moves)" value="1">', text)
    assert ticks, text
    address, data = client.sent
    assert client.post(address, data | dict.fromkeys(ticks, "1")).status_code == 302


def test_an_endpoint_is_deleted_by_a_page_that_tells_its_calls(pia: Client) -> None:
    _call_all()
    url = reverse("admin:designer_endpoint_delete", args=[create_endpoint().pk])
    assert "7 calls in the last 35 days" in page(pia, url).content.decode()
    before = live()
    assert pia.post(url, {"post": "yes"}).status_code == 302
    assert live() != before


def test_an_import_breaks_only_what_its_plan_has_told(pia: Client) -> None:
    raw = document(lambda endpoints: endpoints[KEY].update(enabled=False))
    unaware = pia.post(reverse("studio:import"), {"document": upload(raw)}).context["trial"]
    assert not unaware.answered
    _call_all()
    before = live()
    data = {"document": upload(raw), "digest": unaware.digest}
    refused = pia.post(reverse("studio:import"), data)
    assert ASKED.search(html.unescape(refused.content.decode()))
    assert live() == before
    shown = pia.post(reverse("studio:import"), {"document": upload(raw)})
    answered = dict(re.findall(r'form="import-form" name="(_\w+)" value="(1)"', shown.content.decode()))
    assert set(answered) == {"_moves", "_breaks"}
    data = {"document": upload(raw), "digest": shown.context["trial"].digest, **answered}
    assert pia.post(reverse("studio:import"), data).status_code == 302
    assert live() != before


def test_a_proposal_breaks_only_what_its_page_has_told(pia: Client) -> None:
    raw = document(lambda endpoints: endpoints[KEY].update(enabled=False))
    pia.post(reverse("studio:new_proposal"), {"title": "T", "document": upload(raw)})
    proposal = newest()
    address = reverse("studio:proposal", args=[proposal.pk])
    assert 'name="_breaks"' not in page(pia, address).content.decode()
    _call_all()
    before = live()
    assert ASKED.search(html.unescape(step(pia, proposal, "publish").content.decode()))
    assert live() == before
    assert 'name="_breaks" value="1"' in page(pia, address).content.decode()
    step(pia, proposal, "publish", _breaks="1", _moves="1")
    published = live()
    assert published != before
    # The way back is another change.
    save(pia, _draft(), enabled="on")
    assert step(pia, proposal, "go_back").status_code == 200
    assert live() != published


def test_every_way_of_change_asks_or_has_a_reason() -> None:
    assert set(BREAKING) & set(NOBODY_LOSES) == set()
    assert {*BREAKING, *NOBODY_LOSES} == {*WAYS, *PUBLISHING}
