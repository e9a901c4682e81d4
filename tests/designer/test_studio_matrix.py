"""The permission matrix: who may call what, and changing it with a click."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from designer.access_control.access_matrix import ANONYMOUS, AUTHENTICATED
from designer.models import AuditEntry, Endpoint, Role, Version
from designer.studio.pages.csv_cells import harmless
from tests.callers import Caller
from tests.designer.counting import queries
from tests.designer.studio import change_url, errors, filled, page, send

ACCOUNT = "00000000-0000-0000-0000-000000000001"


def _create() -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts")


def _click(client: Client, row: Endpoint, column: str) -> Any:
    return client.post(reverse("studio:matrix"), {"cell": f"{row.pk}:{column}"}, follow=True)


def _confirm(client: Client, question: Any) -> Any:
    """Send the form of the question, as a browser does, with or without scripts."""
    text = question.content.decode()
    sent = re.findall(r'name="(cell|undo|confirmed)" value="([^"]+)"', text)
    assert len(sent) == 2, sent
    return client.post(reverse("studio:matrix"), dict(sent), follow=True)


def _widen(client: Client, row: Endpoint, column: str) -> Any:
    return _confirm(client, _click(client, row, column))


def _undo(client: Client, answer: Any) -> Any:
    """Press *Undo* in the message."""
    number = re.search(r'name="undo" value="(\d+)">Undo<', answer.content.decode())
    assert number is not None
    return client.post(reverse("studio:matrix"), {"undo": number[1]}, follow=True)


def _said(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]*>", "", str(message)) for message in answer.context["messages"])


def _access(row: Endpoint) -> tuple[bool, list[str]]:
    row.refresh_from_db()
    return row.authentication_required, sorted(row.roles.values_list("name", flat=True))


def _table(client: Client) -> dict[str, dict[str, str]]:
    """The CSV by method and path."""
    text = page(client, reverse("studio:matrix_csv")).content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    return {f"{row['method']} {row['path']}": row for row in rows}


def test_the_matrix_shows_every_endpoint_and_marks_anonymous_writes(dora: Client) -> None:
    text = page(dora, reverse("studio:matrix")).content.decode()
    assert text.count('<th scope="row">') == Endpoint.objects.count()
    assert text.count("anyone may write") == 1


def test_the_file_says_which_types_of_caller_are_admitted(dora: Client) -> None:
    row = _create()
    Endpoint.objects.filter(pk=row.pk).update(caller_types=["contact", "user"])
    assert _table(dora)["POST /api/sales/accounts"]["caller types"] == "contact, user"
    Endpoint.objects.filter(pk=row.pk).update(authentication_required=False)
    assert _table(dora)["POST /api/sales/accounts"]["caller types"] == "any"


def test_the_file_says_who_may_call(dora: Client) -> None:
    table = _table(dora)
    create = table["POST /api/sales/accounts"]
    assert (create["anonymous"], create["authenticated"], create["sales-rep"]) == ("", "", "yes")
    assert create["support"] == ""
    open_to_all = table["POST /api/sales/leads"]
    assert (open_to_all["anonymous"], open_to_all["support"], open_to_all["writes"]) == ("yes", "yes", "yes")


def test_a_click_gives_a_role_the_right_at_once_and_the_versions_lead_back(dora: Client, aya: Caller) -> None:
    assert aya.post("/api/sales/accounts", {"name": "A"}).status_code == 403
    _widen(dora, _create(), "support")
    assert aya.post("/api/sales/accounts", {"name": "A"}).status_code == 200
    change = Version.objects.all()[0].changes.get()
    entry = AuditEntry.objects.get(action="access")
    assert (entry.account, entry.subject) == ("designer", "POST /api/sales/accounts")
    assert entry.detail == "sales-manager, sales-rep → sales-manager, sales-rep, support"
    restore = reverse("studio:restore_version", args=[change.version_id])
    dora.post(restore, {"change": change.pk, "to": "before"})
    assert aya.post("/api/sales/accounts", {"name": "A"}).status_code == 403


def test_letting_more_callers_write_asks_first_in_words(dora: Client, anonymous: Caller) -> None:
    row = Endpoint.objects.get(kind="delete", entity__segment="accounts")
    before = _access(row)
    versions, entries = Version.objects.count(), AuditEntry.objects.count()
    question = _click(dora, row, ANONYMOUS)
    assert (_access(row), Version.objects.count()) == (before, versions)
    assert AuditEntry.objects.count() == entries
    text = question.content.decode()
    assert "DELETE /api/sales/accounts/{id}" in text
    assert re.search(r"May call it now</dt><dd>sales-manager</dd>", text)
    assert re.search(r"after the change</dt><dd><strong>anyone, even without a token</strong>", text)
    assert anonymous.delete(f"/api/sales/accounts/{ACCOUNT}").status_code == 401
    answer = _confirm(dora, question)
    assert not _access(row)[0]
    assert _said(answer).startswith(
        "Callers of DELETE /api/sales/accounts/{id} changed "
        "from “sales-manager” to “anyone, even without a token”."
    )


def test_the_question_names_the_types_of_callers_where_only_these_change(dora: Client) -> None:
    row = _create()
    data = filled(page(dora, change_url(row)))
    (field,) = [name for name in data if name.endswith("caller_types")]
    assert data[field] == ["user"]
    asked = errors(send(dora, change_url(row), data | {field: ["service", "user"]}))[0]
    assert "May call it now: sales-manager, sales-rep (types: user)." in asked
    assert "May call it after the change: sales-manager, sales-rep (types: service, user)." in asked


def test_the_form_of_an_endpoint_asks_before_more_callers_write(dora: Client, aya: Caller) -> None:
    row, before = _create(), _access(_create())
    data = filled(page(dora, change_url(row)))
    support = Role.objects.get(name="support").pk
    widened = data | {"callers": [*data["callers"], support]}
    refused = send(dora, change_url(row), widened)
    asked = errors(refused)[0]
    assert "This endpoint writes. The change lets in callers who may not call it now." in asked
    assert "May call it now: sales-manager, sales-rep." in asked
    assert "May call it after the change: sales-manager, sales-rep, support." in asked
    assert _access(row) == before
    answered = widened | {"_opened_access": refused.context["questions"][0].value}
    # The answer is to one question: another one is asked again, and its tick is empty.
    anybody = {name: value for name, value in answered.items() if name != "authentication_required"}
    again = send(dora, change_url(row), anybody | {"callers": []})
    assert "opens the endpoint to the whole internet" in errors(again)[0]
    assert not again.context["questions"][0].is_ticked
    assert _access(row) == before
    assert send(dora, change_url(row), answered).status_code == 302
    assert _access(row) == (True, ["sales-manager", "sales-rep", "support"])
    assert aya.post("/api/sales/accounts", {"name": "A"}).status_code == 200


def test_the_form_of_an_endpoint_asks_before_anybody_reads(dora: Client) -> None:
    row = Endpoint.objects.get(kind="read", entity__segment="accounts")
    data = filled(page(dora, change_url(row)))
    del data["authentication_required"]
    data["callers"] = []
    asked = errors(send(dora, change_url(row), data))[0]
    assert "anybody may call it without a token" in asked
    assert "This endpoint writes" not in asked
    assert "draft" not in asked
    draft = {name: value for name, value in data.items() if name != "enabled"}
    assert (
        "It is a draft: the change counts from when it is enabled."
        in errors(send(dora, change_url(row), draft))[0]
    )


def test_the_form_of_an_endpoint_asks_nothing_where_fewer_may_call(dora: Client) -> None:
    data = filled(page(dora, change_url(_create())))
    data["callers"] = data["callers"][:1]
    assert send(dora, change_url(_create()), data).status_code == 302


@pytest.mark.parametrize("column", [AUTHENTICATED, "support"])
def test_every_way_to_let_more_callers_write_asks(dora: Client, column: str) -> None:
    before = _access(_create())
    assert "Let more callers in?" in _click(dora, _create(), column).content.decode()
    assert _access(_create()) == before


def test_an_answer_counts_for_the_question_that_was_asked(dora: Client) -> None:
    """What has changed meanwhile is asked again."""
    question = _click(dora, _create(), "support")
    _click(dora, _create(), "sales-manager")
    again = _confirm(dora, question)
    assert "Let more callers in?" in again.content.decode()
    assert _access(_create()) == (True, ["sales-rep"])
    _confirm(dora, again)
    assert _access(_create()) == (True, ["sales-rep", "support"])


def test_narrowing_and_letting_more_token_holders_read_ask_nothing(dora: Client) -> None:
    _click(dora, _create(), "sales-manager")
    assert _access(_create()) == (True, ["sales-rep"])
    read = Endpoint.objects.get(kind="read", entity__segment="accounts")
    _click(dora, read, AUTHENTICATED)
    assert _access(read) == (True, [])


def test_opening_what_reads_to_anybody_asks(dora: Client, anonymous: Caller) -> None:
    read = Endpoint.objects.get(kind="read", entity__segment="accounts")
    before = _access(read)
    question = _click(dora, read, ANONYMOUS)
    text = question.content.decode()
    assert _access(read) == before
    assert "opens the endpoint to the whole internet: anybody may call it without a token" in text
    assert "This endpoint writes" not in text
    assert anonymous.get(f"/api/sales/accounts/{ACCOUNT}").status_code == 401
    _confirm(dora, question)
    assert _access(read) == (False, [])
    # Called, and the row rule shows nothing to callers without a record.
    assert anonymous.get(f"/api/sales/accounts/{ACCOUNT}").status_code == 404


@pytest.mark.parametrize(
    "kind", ["create", "read", "update", "delete", "action", "upload", "paginated-query"]
)
def test_a_second_click_restores_exactly(dora: Client, kind: str) -> None:
    row = Endpoint.objects.filter(kind=kind, roles__isnull=False).first()
    assert row is not None
    for column in (ANONYMOUS, AUTHENTICATED, "support", "sales-rep", "sales-manager"):
        before = _access(row)
        for _ in range(2):
            question = _click(dora, row, column)
            if "Let more callers in?" in question.content.decode():
                _confirm(dora, question)
        assert _access(row) == before, column


def test_clicks_within_clicks_are_taken_back_one_after_the_other(dora: Client) -> None:
    row = Endpoint.objects.get(kind="delete", entity__segment="accounts")
    before = _access(row)
    for column in (AUTHENTICATED, ANONYMOUS, ANONYMOUS, AUTHENTICATED):
        question = _click(dora, row, column)
        if "Let more callers in?" in question.content.decode():
            _confirm(dora, question)
    assert _access(row) == before


def test_a_second_click_restores_what_anyone_could_call(dora: Client, anonymous: Caller) -> None:
    """Both ways: that lets more callers write, so it asks."""
    row = Endpoint.objects.get(kind="create", entity__segment="leads")
    _click(dora, row, "support")
    assert _access(row) == (True, ["support"])
    _widen(dora, row, "support")
    assert _access(row) == (False, [])


def test_a_change_in_between_does_not_lose_what_was_before(dora: Client) -> None:
    before = _access(_create())
    _widen(dora, _create(), ANONYMOUS)
    Endpoint.objects.filter(pk=_create().pk).update(title="Other")
    _click(dora, _create(), ANONYMOUS)
    assert _access(_create()) == before


def test_a_role_that_is_gone_is_not_restored(dora: Client) -> None:
    row = _create()
    row.roles.set([Role.objects.create(name="short-lived")])
    _widen(dora, row, ANONYMOUS)
    Role.objects.get(name="short-lived").delete()
    _click(dora, row, ANONYMOUS)
    assert _access(row) == (True, [])


def test_undo_restores_exactly(dora: Client, aya: Caller) -> None:
    before = _access(_create())
    answer = _widen(dora, _create(), "support")
    undone = _undo(dora, answer)
    assert _access(_create()) == before
    assert "to “sales-manager, sales-rep”" in _said(undone)
    assert AuditEntry.objects.filter(action="access").count() == 2
    assert aya.post("/api/sales/accounts", {"name": "A"}).status_code == 403


def test_an_undo_that_lets_callers_in_asks_first(dora: Client) -> None:
    row = Endpoint.objects.get(kind="delete", entity__segment="accounts")
    before = _access(row)
    _widen(dora, row, ANONYMOUS)
    opened = _access(row)
    # The second click closes it again; to undo that would open it.
    closed = _click(dora, row, ANONYMOUS)
    question = _undo(dora, closed)
    assert (_access(row), "Let more callers in?" in question.content.decode()) == (before, True)
    assert "“anyone, even without a token”" in _said(_confirm(dora, question))
    assert _access(row) == opened


def test_undo_restores_nothing_when_something_has_changed_since(dora: Client) -> None:
    answer = _widen(dora, _create(), "support")
    Endpoint.objects.filter(pk=_create().pk).update(title="Other")
    assert "has been changed since" in _said(_undo(dora, answer))
    assert "support" in _access(_create())[1]
    # And once it is undone, it is not undone again.
    answer = _click(dora, _create(), "support")
    _confirm(dora, _undo(dora, answer))
    assert "has been changed since" in _said(_undo(dora, answer))
    assert "support" in _access(_create())[1]


def test_undo_is_for_changes_of_access_alone(dora: Client) -> None:
    _click(dora, _create(), "sales-manager")
    Endpoint.objects.filter(pk=_create().pk).update(title="Other")
    page(dora, reverse("studio:versions"))
    outside = Version.objects.all()[0].changes.get()
    for number in (outside.pk, 999999, "x"):
        assert dora.post(reverse("studio:matrix"), {"undo": number}).status_code == 404


def test_the_last_role_is_not_taken_by_a_click(dora: Client) -> None:
    row = Endpoint.objects.get(kind="action", entity__segment="accounts")
    said = _said(_click(dora, row, "sales-manager"))
    assert "“sales-manager” is the last role of POST /api/sales/accounts/{id}/actions/" in said
    assert _access(row) == (True, ["sales-manager"])
    _widen(dora, row, AUTHENTICATED)
    assert _access(row) == (True, [])


def test_what_is_so_already_is_said(dora: Client) -> None:
    row = Endpoint.objects.get(kind="global-action")
    assert "may call POST /api/sales/actions/ping already" in _said(_click(dora, row, AUTHENTICATED))


def test_a_designer_is_refused_before_being_asked(portico: None) -> None:
    dave = User.objects.create_user("dave", is_staff=True)
    dave.groups.add(Group.objects.get(name="Designer"))
    client = Client()
    client.force_login(dave, backend="django.contrib.auth.backends.ModelBackend")
    before = _access(_create())
    answer = _click(client, _create(), ANONYMOUS)
    assert "only a publisher may change who calls it" in _said(answer)
    assert _access(_create()) == before


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


def test_a_click_on_what_somebody_else_has_changed_meanwhile_changes_nothing(dora: Client) -> None:
    """It would give back the role that both wanted to take away."""
    row = Endpoint.objects.get(kind="read", entity__segment="accounts")
    row.roles.set(Role.objects.filter(name__in=("sales-rep", "support")))
    shown = dora.get(reverse("studio:matrix")).content.decode()
    cell = re.search(rf'name="cell" value="({row.pk}:support#[^"]+)"', shown)[1]  # type: ignore[index]
    for _person in range(2):
        answer = dora.post(reverse("studio:matrix"), {"cell": cell}, follow=True)
    assert "since you opened this page: sales-rep. Nothing was changed." in answer.content.decode()
    assert [role.name for role in row.roles.all()] == ["sales-rep"]
