"""“Try it” beside the form of an endpoint: of the page as it stands, and without a page around it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from designer.access_control.groups import for_real
from designer.models import AuditEntry, Endpoint
from tests.designer.studio import change_url, filled, page
from tests.runtime.accounts import endpoint

pytestmark = pytest.mark.usefixtures("portico")


def _asked(client: Client, row: Endpoint, page_has: dict[str, Any] | None = None, **given: Any) -> Any:
    unsaved = urlencode(filled(page(client, change_url(row))) | (page_has or {}), doseq=True)
    url = reverse("admin:designer_endpoint_try", args=[row.pk])
    answer = client.post(url, {"_docked": "1", "_unsaved": unsaved, **given}, follow=True)
    assert answer.status_code == 200
    return answer


def _call(**given: str) -> dict[str, Any]:
    return {"caller": "token", "roles": ["sales-rep"], "mode": "dry", **given}


def test_the_form_follows_the_page_and_keeps_what_was_typed(dora: Client) -> None:
    answer = _asked(
        dora, endpoint("create"), {"inputs-0-name": "title"}, _refill="1", **_call(body__phone="+49")
    )
    assert "<html" not in answer.content.decode()
    form = answer.context["form"]
    assert "body__title" in form.fields
    assert form["body__phone"].value() == "+49"
    assert form["roles"].value() == ["sales-rep"]
    assert not form.errors
    assert answer.context["outcome"] is None
    assert not AuditEntry.objects.filter(action=AuditEntry.Action.TRY).exists()


def test_what_is_wrong_with_a_value_stands_at_its_field(dora: Client) -> None:
    answer = _asked(dora, endpoint("create"), **_call(body__name="Contoso", body__revenue="much"))
    assert answer.context["outcome"].status == 400
    assert list(answer.context["form"].errors) == ["body__revenue"]
    inside = _asked(
        dora, endpoint("create"), **_call(body__name="A", body__contacts='[{"email": "x@example.org"}]')
    )
    assert str(inside.context["form"].errors["body__contacts"][0]).startswith("0/lastName: ")


@pytest.mark.parametrize(
    ("kind", "field"), [("create", "body__industry"), ("paginated-query", "query__industry")]
)
def test_options_are_chosen_by_their_labels(dora: Client, kind: str, field: str) -> None:
    row = endpoint(kind) if kind == "create" else Endpoint.objects.get(kind=kind, name="accounts")
    choices = dict(_asked(dora, row).context["form"].fields[field].choices)
    assert choices["1"] == "Accounting (1)"


def test_the_answer_of_a_call_for_real_is_shown_as_a_table_too(dora: Client) -> None:
    User.objects.get(username="designer").user_permissions.add(*for_real())
    row = Endpoint.objects.get(kind="local-option-set")
    token = _asked(dora, row).context["token"]
    answer = _asked(dora, row, **_call(caller="anonymous", mode="real", _call=token))
    table = answer.context["table"]
    assert table.columns == ["name", "value"]
    assert table.rows[0] == ["Accounting", "1"]
    assert "<html" not in answer.content.decode()
