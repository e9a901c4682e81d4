"""*What may this caller do?* and *Compare two roles*: said as requests are then answered."""

from __future__ import annotations

import csv
import io
import logging
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from crmbox.demo.people import RITA_REP
from designer.models import AuditEntry, Endpoint, Role, Version
from runtime.callers.issuers.registration import Registration
from runtime.callers.keys.key_callers import subject_of
from runtime.callers.own_tokens import issue_access_token, revoke_all
from runtime.models import ApiAccount, ApiKey, FailedLogins
from tests.callers import Caller, account
from tests.designer.counting import queries
from tests.designer.studio import page
from tests.designer.test_studio_issuers import member
from tests.row_rules import by_roles

OWN = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'
PAGE = "/admin/caller-rights/"
_ID = "00000000-0000-0000-0000-000000000001"


@pytest.fixture
def root(portico: None) -> Client:
    return member("Administrator")


def _key(name: str, *roles: str, **values: Any) -> tuple[ApiKey, str]:
    key = ApiKey(name=name, **values)
    secret = key.make()
    key.save()
    key.roles.set(Role.objects.filter(name__in=roles))
    return key, secret


def _lists(answer: Any) -> tuple[dict[str, str], dict[str, str]]:
    """What may be called with the records reached, and what may not with the reason."""
    context = answer.context
    may = {one.rights.methods_and_path: "; ".join(one.records) for one in context["may"]}
    return may, {one.rights.methods_and_path: one.why_not for one in context["may_not"]}


def _of_account(client: Client, name: str) -> tuple[dict[str, str], dict[str, str]]:
    return _lists(page(client, f"{PAGE}?account={name}"))


@pytest.mark.parametrize("name", ["rep", "agent", "customer"])
def test_an_account_is_told_what_its_requests_are_answered(root: Client, name: str) -> None:
    caller = account(name)
    may, may_not = _of_account(root, name)
    assert len(may) + len(may_not) == Endpoint.objects.count()
    for named in (*may, *may_not):
        methods, path = named.rsplit(" ", 1)
        url = re.sub(r"{[^}]*}", _ID, path)
        for method in methods.split(", "):
            status = caller.request(method, url, {}).status_code
            assert (status in (401, 403)) == (named in may_not), (named, status)


def test_why_not_is_said_of_role_type_and_draft(root: Client) -> None:
    _may, may_not = _of_account(root, "agent")
    assert may_not["POST /api/sales/accounts"] == (
        "The caller has none of the roles that the endpoint asks for (403): sales-manager, sales-rep."
    )
    Endpoint.objects.filter(kind="create", entity__segment="accounts").update(enabled=False)
    assert _of_account(root, "agent")[1]["POST /api/sales/accounts"].startswith("The endpoint is a draft.")
    Endpoint.objects.filter(kind="read", entity__segment="accounts").update(caller_types=["service"])
    assert (
        "does not admit callers of type user" in _of_account(root, "rep")[1]["GET /api/sales/accounts/{id}"]
    )


def test_the_row_rule_entries_of_the_caller_are_named(root: Client) -> None:
    by_roles([(OWN, ["sales-rep"]), ("", ["sales-manager"])])
    read = "GET /api/sales/accounts/{id}"
    assert _of_account(root, "rep")[0][read] == "sales-rep: Owner is the caller"
    assert _of_account(root, "manager")[0][read] == "all records"
    Endpoint.objects.get(kind="read", entity__segment="accounts").roles.add(Role.objects.get(name="support"))
    assert "no entry of the row rule is for this caller" in _of_account(root, "agent")[0][read]


def test_an_api_key_is_asked_by_its_name_and_pasted_as_it_is(root: Client) -> None:
    key, secret = _key("Nightly", "sales-rep")
    Endpoint.objects.filter(kind="create", entity__segment="accounts").update(caller_types=["service"])
    named = page(root, f"{PAGE}?key=Nightly")
    assert "POST /api/sales/accounts" in _lists(named)[0]
    pasted = root.post(PAGE, {"token": f"Authorization: Bearer {secret}"})
    assert _lists(pasted) == _lists(named)
    key.active = False
    key.save()
    assert "Every request of this caller is refused now" in page(root, f"{PAGE}?key=Nightly").content.decode()
    wrong = root.post(PAGE, {"token": secret[:-1] + ("0" if secret[-1] != "0" else "1")})
    assert wrong.status_code == 422
    assert not FailedLogins.objects.exists()


def test_a_pasted_token_is_nowhere_afterwards(root: Client, rita: Caller, caplog: Any) -> None:
    assert rita.token is not None
    with caplog.at_level(logging.DEBUG):
        answer = root.post(PAGE, {"token": rita.token})
    assert _lists(answer) == _of_account(root, "rep")
    assert answer.context["caller"].name == "The API account “rep”"
    signature = rita.token.rpartition(".")[2]
    assert signature not in answer.content.decode() + caplog.text
    assert answer.headers["Cache-Control"].startswith("max-age=0")
    entry = AuditEntry.objects.latest("id")
    assert (entry.account, entry.subject) == ("one-administrator", "what a caller may do")
    assert signature not in entry.detail


def test_a_token_of_a_login_that_has_ended_is_refused_and_told_all_the_same(
    root: Client, rita: Caller
) -> None:
    revoke_all(ApiAccount.objects.get(user__username="rep").user)
    answer = root.post(PAGE, {"token": rita.token})
    assert answer.context["caller"].refused
    assert "POST /api/sales/accounts" in _lists(answer)[0]
    assert rita.get("/api/context").status_code == 401


def test_a_token_of_a_key_is_that_of_the_key(root: Client) -> None:
    key, _secret = _key("Nightly", "support")
    answer = root.post(PAGE, {"token": issue_access_token(subject_of(key)).access})
    assert answer.context["caller"].name == "The API key “Nightly”"


@pytest.mark.parametrize("token", ["", "no.token.atall", "x" * 9000])
def test_what_is_no_token_is_said(root: Client, token: str) -> None:
    answer = root.post(PAGE, {"token": token})
    assert answer.status_code == 422
    assert answer.context["problems"]


def test_a_record_is_asked_for_everybody_who_calls_as_it(root: Client) -> None:
    row = ApiAccount.objects.get(user__username="rep")
    _key("Of Rita", "support", caller_type_id="user", record=row.record)
    sent = {"caller_type": "user", "user": str(row.record)}
    answer = root.post(PAGE, sent)
    assert [one.name for one in answer.context["callers"]][:2] == [
        "The API account “rep”",
        "The API key “Of Rita”",
    ]
    assert _lists(answer) == _of_account(root, "rep")
    other = root.post(PAGE, {**sent, "as": "1"})
    assert other.context["caller"].roles == ("support",)
    assert str(row.record) == RITA_REP
    assert AuditEntry.objects.latest("id").detail == f"user {RITA_REP}"


def test_nothing_is_made_by_asking(root: Client, rita: Caller) -> None:
    before = Version.objects.count(), Registration.objects.count()
    root.post(PAGE, {"token": rita.token})
    assert (Version.objects.count(), Registration.objects.count()) == before


def test_only_who_may_see_callers_asks_for_one(portico: None, rita: Caller) -> None:
    viewer = member("Viewer")
    text = page(viewer, PAGE).content.decode()
    assert 'name="account"' not in text
    assert 'name="token"' not in text
    assert viewer.get(f"{PAGE}?account=rep").status_code == 403
    assert viewer.get(f"{PAGE}?key=x").status_code == 403
    assert viewer.post(PAGE, {"token": rita.token}).status_code == 403


def test_a_name_that_nobody_has_is_said(root: Client) -> None:
    answer = root.get(f"{PAGE}?account=nobody")
    assert answer.status_code == 404
    assert "There is no API account “nobody”." in answer.content.decode()


def test_the_list_can_be_downloaded(root: Client) -> None:
    text = page(root, f"{PAGE}?account=rep&csv=1").content.decode("utf-8-sig")
    rows = {f"{row['method']} {row['path']}": row for row in csv.DictReader(io.StringIO(text))}
    assert rows["POST /api/sales/accounts"]["may call"] == "yes"
    assert len(rows) == Endpoint.objects.count()


def test_the_page_costs_the_same_queries_however_many_endpoints(root: Client) -> None:
    before = queries(root, f"{PAGE}?account=rep")
    entity = Endpoint.objects.get(kind="create", entity__segment="accounts").entity
    Endpoint.objects.bulk_create(
        Endpoint(kind="action", entity=entity, name=f"more{at}", enabled=False) for at in range(20)
    )
    page(root, PAGE)
    assert queries(root, f"{PAGE}?account=rep") <= before


def _compared(client: Client, one: str, other: str) -> dict[str, tuple[str, str]]:
    answer = page(client, f"{reverse('studio:compare_roles')}?one={one}&other={other}")
    return {
        difference.what: (difference.one, difference.other) for difference in answer.context["differences"]
    }


def test_two_roles_are_compared_by_their_differences_alone(dora: Client) -> None:
    Endpoint.objects.get(kind="read", entity__segment="accounts").roles.set(
        Role.objects.filter(name__in=("sales-rep", "sales-manager"))
    )
    by_roles([(OWN, ["sales-rep"]), ("", ["sales-manager"])])
    differences = _compared(dora, "sales-rep", "sales-manager")
    assert differences["Records of sales/accounts"] == ("sales-rep: Owner is the caller", "all records")
    assert differences["DELETE /api/sales/accounts/{id}"] == ("may not call", "may call")
    assert "GET /api/sales/accounts/{id}" not in differences
    Role.objects.filter(name="sales-rep").update(rate=7)
    assert _compared(dora, "sales-rep", "sales-manager")["Requests a minute"] == (
        "7",
        "as the service allows",
    )


def test_a_role_is_no_different_from_itself(dora: Client) -> None:
    address = f"{reverse('studio:compare_roles')}?one=support&other=support"
    assert "No difference" in page(dora, address).content.decode()
    assert dora.get(f"{reverse('studio:compare_roles')}?one=support&other=nobody").status_code == 404


def test_the_differences_can_be_downloaded(dora: Client) -> None:
    address = f"{reverse('studio:compare_roles_csv')}?one=sales-rep&other=*anonymous"
    text = page(dora, address).content.decode("utf-8-sig")
    [head, *rows] = list(csv.reader(io.StringIO(text)))
    assert head == ["what", "sales-rep", "a caller without a token"]
    assert ["POST /api/sales/accounts", "may call", "may not call"] in rows


def test_the_matrix_shows_the_row_rules_of_its_entities(dora: Client) -> None:
    by_roles([(OWN, ["sales-rep"]), ("", ["sales-manager"])])
    answer = page(dora, f"{reverse('studio:matrix')}?module=sales")
    columns = [name for name, _ in answer.context["columns"]]
    [cells] = [rule.cells for rule, _ in answer.context["groups"] if rule and rule.name == "sales/accounts"][
        :1
    ]
    said = dict(zip(columns, (cell.texts for cell in cells), strict=True))
    assert said["sales-rep"] == ["sales-rep: Owner is the caller"]
    assert said["sales-manager"] == ["all records"]
    assert said["*anonymous"] == ["no record"]


def test_the_matrix_of_one_role_says_which_records_it_reaches(dora: Client) -> None:
    by_roles([(OWN, ["sales-rep"]), ("", ["sales-manager"])])
    address = f"{reverse('studio:matrix')}?role=sales-rep"
    answer = page(dora, address)
    assert answer.context["columns"] == [("sales-rep", "sales-rep")]
    text = answer.content.decode()
    assert "Owner is the caller" in text
    row = Endpoint.objects.get(kind="read", entity__segment="accounts")
    row.roles.set(Role.objects.filter(name__in=("sales-rep", "support")))
    changed = dora.post(address, {"cell": f"{row.pk}:sales-rep"})
    assert changed.headers["Location"] == address
    assert [role.name for role in row.roles.all()] == ["support"]
    assert dora.get(f"{reverse('studio:matrix')}?role=nobody").status_code == 404
