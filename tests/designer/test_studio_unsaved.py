"""What is done with an endpoint's page before it is saved: its query runs, its calls are tried."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from crmbox.demo.people import MAX_MANAGER, RITA_REP
from designer.access_control.groups import for_real
from designer.models import AuditEntry, Endpoint
from tests.designer.studio import add_row, change_url, filled, page

FETCH = (
    "<fetch><entity name='account'><attribute name='name'/><attribute name='telephone1' alias='phone'/>"
    "<filter><condition attribute='name' operator='like' value='@like'/></filter>"
    "<order attribute='name'/></entity></fetch>"
)


@pytest.fixture
def query(portico: None) -> Endpoint:
    return Endpoint.objects.get(kind="paginated-query", name="accounts")


def _unsaved(dora: Client, row: Endpoint, **changes: Any) -> str:
    return urlencode(filled(page(dora, change_url(row))) | changes, doseq=True)


def _run(dora: Client, row: Endpoint, unsaved: str, **given: Any) -> Any:
    url = reverse("admin:designer_endpoint_run", args=[row.pk])
    return dora.post(url, {"_unsaved": unsaved, **given})


def _other_query(dora: Client, row: Endpoint) -> str:
    """The page with another query, which takes `like` alone and answers two columns."""
    data = filled(page(dora, change_url(row)))
    gone = (name for name in data if re.fullmatch(r"(columns|inputs)-\d+-id", name))
    data |= {name.replace("-id", "-DELETE"): "on" for name in list(gone)}
    add_row(data, "inputs", name="like", type="String", required="on")
    return urlencode(data | {"settings__query": FETCH, "settings__orders": "", "row_rule": ""}, doseq=True)


def test_a_query_runs_as_the_page_has_it(dora: Client, query: Endpoint) -> None:
    before = query.settings
    unsaved = _other_query(dora, query)
    answer = _run(dora, query, unsaved, run="1", user=RITA_REP, query__like="A%")
    assert answer.context["columns"] == ["name", "phone"]
    names = [name for name, _ in answer.context["rows"]]
    assert 10 < len(names) <= 20
    assert all(name.startswith("A") for name in names)
    assert "<fetch" in answer.context["outcome"].calls[-1].request
    query.refresh_from_db()
    assert query.settings == before


def test_a_list_beyond_its_cap_is_shown_from_its_beginning(dora: Client) -> None:
    row = Endpoint.objects.get(kind="multi-query", name="account-contacts")
    data = filled(page(dora, change_url(row)))
    gone = [name for name in data if re.fullmatch(r"(columns|inputs)-\d+-id", name)]
    data |= {name.replace("-id", "-DELETE"): "on" for name in gone}
    every = "<fetch><entity name='account'><attribute name='name'/></entity></fetch>"
    data |= {"settings__query": every, "settings__orders": "", "settings__cap": "5", "row_rule": ""}
    shown = _run(dora, row, urlencode(data, doseq=True), run="1", user=RITA_REP)
    assert "problems" not in shown.context, shown.context["problems"]
    assert (len(shown.context["rows"]), shown.context["total"]) == (20, None)


def test_pages_smaller_than_what_is_shown_are_shown(dora: Client, query: Endpoint) -> None:
    unsaved = _unsaved(dora, query, settings__page_size="3", settings__max_page_size="3")
    shown = _run(dora, query, unsaved, run="1", user=RITA_REP)
    assert "problems" not in shown.context, shown.context["problems"]
    assert len(shown.context["rows"]) == 3


def test_a_run_that_lacks_a_value_says_which(dora: Client, query: Endpoint) -> None:
    answer = _run(dora, query, _other_query(dora, query), run="1", user=RITA_REP)
    assert any(problem.startswith("like: ") for problem in answer.context["problems"])
    assert "rows" not in answer.context


def test_rows_are_those_that_the_chosen_user_may_see(dora: Client, query: Endpoint) -> None:
    own = "<filter><condition attribute='ownerid' operator='eq-userid'/></filter>"
    unsaved = _unsaved(dora, query, row_rule=own)
    seen = [_run(dora, query, unsaved, run="1", user=user).context for user in (RITA_REP, MAX_MANAGER)]
    assert seen[0]["total"] != seen[1]["total"]


def test_running_is_noted_and_asks_for_its_own_permission(dora: Client, query: Endpoint) -> None:
    unsaved = _unsaved(dora, query)
    _run(dora, query, unsaved, run="1", user=RITA_REP)
    noted = AuditEntry.objects.get(action="run")
    assert (noted.account, noted.detail) == ("designer", f"{RITA_REP}; 200")
    User.objects.get(username="designer").user_permissions.remove(*for_real())
    assert _run(dora, query, unsaved, run="1").status_code == 403
    assert "data-run-url" not in page(dora, change_url(query)).content.decode()


def test_what_a_query_asks_for_is_asked_for(dora: Client, query: Endpoint) -> None:
    unsaved = filled(page(dora, change_url(query)))
    asked = _run(dora, query, urlencode(unsaved, doseq=True))
    names = [name for name in asked.context["form"].fields if name != "user"]
    assert names == [f"query__{parameter.name}" for parameter in query.inputs.all()]
    assert "outcome" not in asked.context


def test_a_call_is_tried_as_the_page_has_it(dora: Client) -> None:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    unsaved = _unsaved(dora, row, **{"inputs-0-name": "company", "bindings-0-value_text": "company"})
    url = reverse("admin:designer_endpoint_try", args=[row.pk])
    opened = dora.post(url, {"_unsaved": unsaved})
    assert "body__company" in opened.context["form"].fields
    assert not opened.context["form"].is_bound
    given = {"caller": "token", "roles": ["sales-rep"], "user": RITA_REP, "mode": "dry", "body__company": "A"}
    tried = dora.post(url, {"_unsaved": opened.context["unsaved"], **given})
    (call,) = [call for call in tried.context["outcome"].calls if not call.sent]
    assert '"name": "A"' in call.request
    assert row.inputs.filter(name="company").count() == 0


def test_a_page_that_cannot_be_served_says_why_and_runs_nothing(dora: Client, query: Endpoint) -> None:
    unsaved = _unsaved(dora, query, settings__query="<fetch><entity name='nothing'/></fetch>")
    answer = _run(dora, query, unsaved, run="1")
    assert "nothing" in answer.context["preview"].problem
    assert "outcome" not in answer.context


def test_a_data_fetcher_runs_with_what_it_reads(dora: Client) -> None:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    data = filled(page(dora, change_url(row)))
    equal = FETCH.replace("'like' value='@like'", "'eq' value='@fetch.like.name'")
    add_row(data, "fetchers", name="like", query=FETCH.replace("@like", "@name"), first="on")
    add_row(data, "fetchers", name="same", query=equal)
    unsaved = urlencode(data, doseq=True)
    asked = _run(dora, row, unsaved, _fetcher="same")
    assert [name for name in asked.context["form"].fields if name != "user"] == ["query__name"]
    shown = _run(dora, row, unsaved, _fetcher="like", run="1", query__name="A%").context["rows"]
    assert len(shown) > 1
    context = _run(dora, row, unsaved, _fetcher="same", run="1", query__name="A%").context
    assert (context["columns"], context["rows"]) == (["name", "phone"], shown[:1])
    assert row.fetchers.count() == 0


def test_a_data_fetcher_that_cannot_run_says_what_to_do(dora: Client) -> None:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    data = filled(page(dora, change_url(row)))
    add_row(data, "fetchers", name="empty", query="")
    unsaved = urlencode(data, doseq=True)
    for name, said in (("", "a name first"), ("empty", "no query yet")):
        assert said in _run(dora, row, unsaved, _fetcher=name).content.decode()


def test_only_queries_run(dora: Client) -> None:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    assert _run(dora, row, "").status_code == 404
