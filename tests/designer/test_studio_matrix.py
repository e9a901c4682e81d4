"""The permission matrix: who may call what, and changing it with a click."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from designer.access_matrix import ANONYMOUS, AUTHENTICATED
from designer.models import AuditEntry, Endpoint, Role, Version
from designer.studio.pages.csv_cells import harmless
from tests.callers import Caller
from tests.designer.counting import queries
from tests.designer.studio import page


def _create() -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts")


def _click(client: Client, row: Endpoint, column: str) -> Any:
    return client.post(reverse("studio:matrix"), {"cell": f"{row.pk}:{column}"}, follow=True)


def _table(client: Client) -> dict[str, dict[str, str]]:
    """The CSV by method and path."""
    text = page(client, reverse("studio:matrix_csv")).content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    return {f"{row['method']} {row['path']}": row for row in rows}


def test_the_matrix_shows_every_endpoint_and_marks_anonymous_writes(dora: Client) -> None:
    text = page(dora, reverse("studio:matrix")).content.decode()
    assert text.count('<th scope="row">') == Endpoint.objects.count()
    assert text.count("anyone may write") == 1


def test_the_file_says_who_may_call(dora: Client) -> None:
    table = _table(dora)
    create = table["POST /api/sales/accounts"]
    assert (create["anonymous"], create["authenticated"], create["sales-rep"]) == ("", "", "yes")
    assert create["support"] == ""
    open_to_all = table["POST /api/sales/leads"]
    assert (open_to_all["anonymous"], open_to_all["support"], open_to_all["writes"]) == ("yes", "yes", "yes")


def test_a_click_gives_a_role_the_right_at_once_and_the_versions_lead_back(dora: Client, aya: Caller) -> None:
    assert aya.post("/api/sales/accounts", {"name": "A"}).status_code == 403
    _click(dora, _create(), "support")
    assert aya.post("/api/sales/accounts", {"name": "A"}).status_code == 200
    change = Version.objects.all()[0].changes.get()
    assert AuditEntry.objects.filter(action="access", detail="support").exists()
    restore = reverse("studio:restore_version", args=[change.version_id])
    dora.post(restore, {"change": change.pk, "to": "before"})
    assert aya.post("/api/sales/accounts", {"name": "A"}).status_code == 403


def test_anonymous_and_back_leaves_every_authenticated_caller(dora: Client, anonymous: Caller) -> None:
    _click(dora, _create(), ANONYMOUS)
    assert anonymous.post("/api/sales/accounts", {"name": "A"}).status_code == 200
    _click(dora, _create(), ANONYMOUS)
    assert anonymous.post("/api/sales/accounts", {"name": "A"}).status_code == 401
    assert not _create().roles.exists()


def test_the_last_role_is_not_taken_by_a_click(dora: Client) -> None:
    row = Endpoint.objects.get(kind="action")
    text = _click(dora, row, "sales-manager").content.decode()
    assert "every caller with a token" in text
    assert [role.name for role in row.roles.all()] == ["sales-manager"]
    _click(dora, row, AUTHENTICATED)
    assert not row.roles.exists()


@pytest.mark.parametrize("cell", ["", "x:support", "999999:support", "{row}:nobody", "{row}:"])
def test_a_cell_that_there_is_not_is_not_found(dora: Client, cell: str) -> None:
    answer = dora.post(reverse("studio:matrix"), {"cell": cell.format(row=_create().pk)})
    assert answer.status_code == 404


def test_a_viewer_sees_it_and_changes_nothing(portico: None) -> None:
    vera = User.objects.create_user("vera", is_staff=True)
    vera.groups.add(Group.objects.get(name="Viewer"))
    client = Client()
    client.force_login(vera, backend="django.contrib.auth.backends.ModelBackend")
    assert "studio-cell" not in page(client, reverse("studio:matrix")).content.decode()
    assert _click(client, _create(), "support").status_code == 403
    assert not _create().roles.filter(name="support").exists()


def test_a_click_without_the_token_against_forgery_is_refused(portico: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(
        User.objects.get(username="designer"), backend="django.contrib.auth.backends.ModelBackend"
    )
    assert _click(client, _create(), "support").status_code == 403


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1"])
def test_no_cell_of_the_file_is_a_formula(text: str) -> None:
    assert harmless(text) == f"'{text}"
    assert harmless("sales-rep") == "sales-rep"


def test_many_roles_and_endpoints_cost_the_same_queries(dora: Client) -> None:
    before = queries(dora, reverse("studio:matrix"))
    Role.objects.bulk_create(Role(name=f"role-{at}") for at in range(10))
    assert queries(dora, reverse("studio:matrix")) <= before
