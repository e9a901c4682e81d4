"""The studio's pages with many rows, broken rows, accounts that may only look, a platform that is away."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from crmbox.platform import EmbeddedPlatform
from crmclient.errors import Unavailable
from designer.models import Endpoint, ExposedEntity, Module, OptionSet, Role, UserProperty
from tests.designer.rows import endpoint
from tests.designer.studio import add_url, change_url, errors, filled, page, send

MODELS = (Module, ExposedEntity, Endpoint, OptionSet, Role, UserProperty)


def _list(model: Any) -> str:
    return reverse(f"admin:designer_{model._meta.model_name}_changelist")


def _queries(client: Client, url: str) -> int:
    page(client, url)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        page(client, url)
    return len(captured)


@pytest.fixture
def viewer(portico: None) -> Client:
    """A studio account that may look at everything and change nothing."""
    user = User.objects.create_user("vera", is_staff=True)
    may = Permission.objects.filter(content_type__app_label="designer", codename__startswith="view_")
    user.user_permissions.set(may)
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.parametrize("model", MODELS)
def test_a_list_costs_the_same_queries_whatever_its_length(dora: Client, model: Any) -> None:
    before = _queries(dora, _list(model))
    for at in range(8):
        endpoint(f"many-{at}", title=str(at)).roles.set(Role.objects.all())
        OptionSet.objects.create(name=f"many-{at}", settings={"option_set": "new_priority"})
        Role.objects.create(name=f"role-{at}")
        UserProperty.objects.create(name=f"property{at}", attribute="fullname")
        Module.objects.create(segment=f"module-{at}")
    assert _queries(dora, _list(model)) <= before + 1
    assert before < 30


def test_a_thousand_endpoints_are_listed_by_their_page(dora: Client) -> None:
    module = Module.objects.get(segment="sales")
    exposed = ExposedEntity.objects.bulk_create(
        ExposedEntity(module=module, entity="account", segment=f"bulk-{at}") for at in range(1000)
    )
    others = Endpoint.objects.count()
    Endpoint.objects.bulk_create(Endpoint(kind="create", module=module, entity=entity) for entity in exposed)
    text = page(dora, _list(Endpoint)).content.decode()
    assert text.count("Blocked") >= 50 - others
    assert "/api<wbr>/sales<wbr>/bulk-0" in text


@pytest.mark.parametrize("model", MODELS)
def test_who_may_look_sees_every_page_and_can_save_none(viewer: Client, model: Any) -> None:
    page(viewer, _list(model))
    for row in model.objects.all():
        page(viewer, change_url(row))
        assert send(viewer, change_url(row), {"title": "changed"}).status_code == 403
    assert viewer.get(add_url(model._meta.model_name)).status_code == 403


def test_pages_without_a_login_ask_for_one(portico: None) -> None:
    answer = Client().get(_list(Endpoint))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/admin/login/")


@pytest.mark.parametrize(
    "broken", [{"settings": {"odd": 1}}, {"settings": []}, {"settings": "text"}, {"kind": "teleport"}]
)
def test_a_row_that_cannot_be_read_is_shown_and_can_be_mended(dora: Client, broken: dict[str, Any]) -> None:
    row = Endpoint.objects.get(kind="local-option-set")
    whole = row.settings
    Endpoint.objects.filter(pk=row.pk).update(**broken)
    assert "Blocked" in page(dora, _list(Endpoint)).content.decode()
    opened = page(dora, change_url(row))
    if "kind" in broken:
        assert "Unknown: teleport" in opened.content.decode()
        return
    data = filled(opened) | {"settings__option_set": "industrycode"}
    saved = send(dora, change_url(row), data)
    assert saved.status_code == 302, errors(saved)
    row.refresh_from_db()
    assert row.settings == whole


@pytest.fixture
def away(portico: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The platform's metadata cannot be read."""

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise Unavailable("no answer")

    for name in ("entities", "attributes", "option_set", "option_sets", "relationships", "security_roles"):
        monkeypatch.setattr(EmbeddedPlatform, name, fail)


@pytest.mark.parametrize("model", MODELS)
def test_a_platform_that_is_away_loses_no_choice_made_before(dora: Client, away: None, model: Any) -> None:
    page(dora, _list(model))
    for row in model.objects.all():
        data = filled(page(dora, change_url(row)))
        saved = send(dora, change_url(row), data)
        assert saved.status_code == 302, (row, errors(saved))
        again = filled(page(dora, change_url(row)))
        assert again == data


def test_labels_from_the_platform_and_from_people_are_escaped(dora: Client) -> None:
    hostile = "<script>alert(1)</script>"
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    row.title = hostile
    row.save()
    row.inputs.filter(name="phone").update(description=hostile, default=hostile)
    Module.objects.update(title=hostile)
    for url in (_list(Endpoint), change_url(row), _list(Module)):
        assert hostile not in page(dora, url).content.decode()


def test_the_tree_names_its_branches_and_modules(dora: Client) -> None:
    text = page(dora, "/admin/").content.decode()
    branches = ("User properties", "Roles", "Global option sets", "Entities", "All endpoints")
    for branch in (*branches, "Sales", "Everything"):
        assert branch in text


def test_unknown_rows_answer_as_django_does(dora: Client) -> None:
    url = reverse("admin:designer_endpoint_change", args=[10**9])
    assert dora.get(url).status_code == 302
