"""Every address of the studio, found in the URL conf: 24, 41 and 33 of what THREAT_MODEL.md lists."""

from __future__ import annotations

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import reverse

from designer.documents.document_reader import LARGEST_DOCUMENT
from designer.models import AuditEntry, Version
from tests.designer.pages import ARGUMENT, routes

# The provider sends a browser there with GET alone; who logs out needs no page to come from.
_NO_FORM = {"studio:signed_in"}
_EVERY_ADDRESS = [
    ARGUMENT.sub("1", route.path)
    for route in routes()
    if "?P<" not in route.path and route.name not in _NO_FORM
]


def _signed_in(username: str, *, enforce_csrf_checks: bool = False) -> Client:
    client = Client(enforce_csrf_checks=enforce_csrf_checks)
    client.force_login(
        User.objects.get(username=username), backend="django.contrib.auth.backends.ModelBackend"
    )
    return client


@pytest.fixture
def onlooker(portico: None) -> User:
    """May look at everything, and change nothing."""
    user = User.objects.create_user("onlooker", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    return user


@pytest.mark.parametrize("address", _EVERY_ADDRESS)
def test_24_no_post_to_the_studio_is_taken_without_its_token(portico: None, address: str) -> None:
    newest, versions = AuditEntry.objects.latest("pk").pk, Version.objects.count()

    answer = _signed_in("admin", enforce_csrf_checks=True).post(address, {"action": "delete_selected"})

    assert answer.status_code in (403, 404, 405), address
    assert not AuditEntry.objects.filter(pk__gt=newest).exists()
    assert Version.objects.count() == versions


@pytest.mark.parametrize("address", _EVERY_ADDRESS)
def test_41_no_address_of_the_studio_opens_without_a_login(portico: None, address: str) -> None:
    if reverse("admin:login") in address or address in _OPEN:
        return
    answer = Client().get(address)
    assert answer.status_code in (302, 403, 404, 405), address
    if answer.status_code == 302:
        assert not answer["Location"].startswith("http"), address
        assert _leads_to_a_login(answer["Location"]), (address, answer["Location"])


# Where somebody logs in, or chooses a language before that.
_OPEN = {reverse("studio:sign_in"), reverse("studio:login"), reverse("studio:set_language")}


def _leads_to_a_login(location: str) -> bool:
    # An address without its slash is told the one with it, which asks.
    return "/login/" in location or re.fullmatch(r"/admin/[\w/-]*/", location) is not None


@pytest.mark.parametrize("model", sorted(admin.site._registry, key=str), ids=str)
def test_41_every_action_asks_for_a_right_of_its_own(onlooker: User, model: type) -> None:
    request: HttpRequest = RequestFactory().get("/admin/")
    request.user = onlooker

    assert dict(admin.site.get_model_admin(model).get_actions(request)) == {}


def test_41_a_chosen_action_changes_nothing_for_who_may_only_look(onlooker: User) -> None:
    client = _signed_in("onlooker")
    newest = AuditEntry.objects.latest("pk").pk
    for model, page in admin.site._registry.items():
        listed = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        rows = sorted(model._default_manager.values_list("pk", flat=True)[:3])
        for action in ("delete_selected", *(name for name in page.actions or () if isinstance(name, str))):
            client.post(listed, {"action": action, "_selected_action": rows, "post": "yes"})
        assert sorted(model._default_manager.filter(pk__in=rows).values_list("pk", flat=True)) == rows
    assert not AuditEntry.objects.filter(pk__gt=newest).exists()


# What people do not type, and programs that look for holes send: a number that no column holds, NUL, markup.
_HOSTILE = ["9" * 500, "account\0", "'\"><script>"]
_PARAMETERS = [
    *("account", "action", "all", "app_label", "as", "attribute", "attributes", "change", "days", "e"),
    *("entity", "extended", "field_name", "from", "id", "key", "kind", "language", "list", "model_name"),
    *("module", "next", "o", "p", "page", "q", "role", "roles", "s", "search", "state", "term", "to"),
    *("version", "_popup", "_to_field", "_changelist_filters", "entity__module__id__exact"),
    *("enabled__exact", "user__password__startswith"),
]


@pytest.mark.parametrize("value", _HOSTILE, ids=["long", "nul", "script"])
def test_28_no_parameter_of_an_address_makes_it_fail(portico: None, value: str) -> None:
    admin_client = _signed_in("admin")
    for address in _EVERY_ADDRESS:
        if address.endswith("/logout/"):
            continue
        answer = admin_client.get(address, dict.fromkeys(_PARAMETERS, value))
        assert answer.status_code < 500, address
        if answer["Content-Type"].startswith("text/html"):
            assert '"><script>' not in answer.content.decode(), address


@pytest.mark.parametrize("id", ["9" * 500, "1%00", "..%2Fx"], ids=["long", "nul", "path"])
def test_28_no_id_in_an_address_makes_it_fail(portico: None, id: str) -> None:
    admin_client = _signed_in("admin")
    newest = AuditEntry.objects.latest("pk").pk
    for route in routes():
        if not ARGUMENT.search(route.path):
            continue
        address = ARGUMENT.sub(id, route.path)
        for ask in (admin_client.get, admin_client.post):
            assert ask(address).status_code in (301, 302, 403, 404, 405, 410), address
    assert not AuditEntry.objects.filter(pk__gt=newest).exists()


def test_33_a_document_that_is_too_large_is_refused_unread(portico: None) -> None:
    document = SimpleUploadedFile("large.json", b" " * (LARGEST_DOCUMENT + 1))

    answer = _signed_in("admin").post(reverse("studio:import"), {"document": document})

    assert "at most" in answer.content.decode()
    assert not AuditEntry.objects.filter(action="import").exists()
