"""“View as”: the API that a role sees."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from designer.models import Endpoint
from tests.designer.studio import change_url, page
from tests.runtime.accounts import endpoint

pytestmark = pytest.mark.usefixtures("portico")


def _seen(client: Client, *roles: str, type: str = "") -> set[tuple[str, str]]:
    query = "&".join([*(f"role={role}" for role in roles), *([f"type={type}"] if type else [])])
    groups: dict[str, Any] = page(client, f"{reverse('studio:view_as')}?{query}").context["groups"]
    return {(seen.method, seen.path) for group in groups.values() for seen in group}


def test_a_role_sees_what_it_may_call_and_no_more(dora: Client) -> None:
    create = ("POST", "/api/sales/accounts")
    assert create in _seen(dora, "sales-rep")
    assert create not in _seen(dora, "support")
    assert create not in _seen(dora)
    assert ("DELETE", "/api/sales/accounts/{id}") not in _seen(dora, "sales-rep")


def test_nobody_sees_the_public_endpoints(dora: Client) -> None:
    seen = _seen(dora, "anonymous")
    assert ("GET", "/optionsets/priorities") in seen
    assert ("POST", "/api/sales/accounts") not in seen


def test_a_type_sees_what_admits_it(dora: Client) -> None:
    row, create = endpoint("create"), ("POST", "/api/sales/accounts")
    Endpoint.objects.update(caller_types=["user"])
    url = reverse("studio:view_as")
    assert "type" not in page(dora, url).context["form"].fields
    Endpoint.objects.filter(pk=row.pk).update(caller_types=["contact"])
    field = page(dora, url).context["form"].fields["type"]
    assert [name for name, _ in field.choices] == ["user", "contact"]
    assert create not in _seen(dora, "sales-rep")
    assert create in _seen(dora, "sales-rep", type="contact")
    assert create not in _seen(dora, "anonymous", type="contact")
    document = dora.get(f"{reverse('studio:view_as_document')}?role=sales-rep&type=contact").json()
    assert list(document["paths"]["/api/sales/accounts"]) == ["post"]
    role = row.roles.all()[0].name
    link = f"/admin/view-as/?role={role}&amp;type=contact"
    assert link in page(dora, change_url(row)).content.decode()
    chosen = page(dora, f"{url}?role=sales-rep&type=contact").context["form"]["type"]
    assert chosen.value() == "contact"


def test_the_document_itself_can_be_had(dora: Client) -> None:
    answer = dora.get(f"{reverse('studio:view_as_document')}?role=support")
    assert answer["Content-Disposition"].startswith("attachment")
    assert "/api/sales/accounts" not in answer.json()["paths"]


def test_an_endpoints_page_leads_there_as_one_of_its_roles(dora: Client) -> None:
    assert "/admin/view-as/?role=sales-" in page(dora, change_url(endpoint("create"))).content.decode()
