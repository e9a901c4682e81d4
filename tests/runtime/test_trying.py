"""Calls that are tried in the studio: as whom, dry or real, and what each rule said."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from crmbox.demo.people import RITA_REP
from designer.loading import load
from designer.models import Endpoint, Fetcher, Precondition
from designer.platform import get_platform
from designer.ports import Attempt, Outcome
from runtime.studio import StudioRuntime
from tests.runtime.accounts import NOBODY, an_account, endpoint

pytestmark = pytest.mark.usefixtures("portico")


def _try(row: Endpoint, **attempt: Any) -> Outcome:
    configuration = load()
    given = {"roles": ("sales-rep",), "caller_record": RITA_REP, **attempt}
    return StudioRuntime().attempt(configuration.endpoints[row.pk], configuration, Attempt(**given))


def _verdicts(outcome: Outcome) -> dict[str, str]:
    return {step.title: step.verdict for step in outcome.steps}


def _accounts() -> int:
    from crmclient.query.ast import Column, Page, Query

    query = Query("account", (Column("accountid"),))
    return get_platform().query(query, Page(size=1, total=True)).total or 0


def test_a_dry_create_shows_what_it_would_write_and_writes_nothing() -> None:
    before = _accounts()
    outcome = _try(endpoint("create"), content=b'{"name": "Contoso", "phone": "123"}')
    assert outcome.status == 0
    (call,) = [call for call in outcome.calls if not call.sent]
    assert call.operation == "create"
    assert '"telephone1": "123"' in call.request
    assert _verdicts(outcome)["Platform"] == "skipped"
    assert _accounts() == before


def test_a_real_create_writes() -> None:
    before = _accounts()
    outcome = _try(endpoint("create"), content=b'{"name": "Contoso"}', dry=False)
    assert outcome.status == 200
    assert '"id"' in outcome.body
    assert set(_verdicts(outcome).values()) == {"passed"}
    assert _accounts() == before + 1


def test_an_answer_is_shown_line_by_line_and_digit_by_digit() -> None:
    path = an_account(name="Contoso", revenue=Decimal("922337203685477.5800"))
    record = path.rpartition("/")[2]
    lines = _try(endpoint("read"), record=record, dry=False).body.splitlines()
    assert '  "name": "Contoso",' in lines
    assert '  "revenue": 922337203685477.5800,' in lines


def test_a_caller_without_the_role_stops_there() -> None:
    outcome = _try(endpoint("create"), roles=("support",), content=b'{"name": "A"}', dry=False)
    assert outcome.status == 403
    assert _verdicts(outcome) == {
        "Authentication": "passed",
        "Roles": "refused",
        "Inputs": "skipped",
        "Answer": "refused",
    }
    assert outcome.calls == ()


def test_an_anonymous_caller_is_asked_for_a_token() -> None:
    outcome = _try(endpoint("create"), anonymous=True, content=b"{}")
    assert outcome.status == 401
    assert _verdicts(outcome)["Authentication"] == "refused"


def test_wrong_inputs_are_all_named() -> None:
    outcome = _try(endpoint("create"), content=b'{"phone": 5, "odd": 1}')
    (inputs,) = [step for step in outcome.steps if step.title == "Inputs"]
    assert inputs.verdict == "refused"
    assert all(place in inputs.detail for place in ("/name", "/phone", "/odd"))


def test_a_dry_read_ends_before_its_data_is_read() -> None:
    record = an_account(telephone1="555-SECRET").rpartition("/")[2]
    outcome = _try(endpoint("read"), record=record)
    assert outcome.status == 0
    assert [(call.operation, call.sent) for call in outcome.calls] == [("retrieve", False)]
    assert "SECRET" not in str(outcome)
    assert "SECRET" in _try(endpoint("read"), record=record, dry=False).body


def test_an_unknown_record_is_refused_at_the_record() -> None:
    outcome = _try(endpoint("read"), record=NOBODY, dry=False)
    assert (outcome.status, _verdicts(outcome)["Record"]) == (404, "refused")


@pytest.mark.parametrize("dry", [True, False])
def test_a_dry_delete_leaves_the_record(dry: bool) -> None:
    record = an_account().rpartition("/")[2]
    _try(endpoint("delete"), roles=("sales-manager",), record=record, headers={"If-Match": "*"}, dry=dry)
    status = _try(endpoint("read"), record=record, dry=False).status
    assert status == (200 if dry else 404)


def test_fetchers_and_pre_conditions_say_what_they_found() -> None:
    row = endpoint("create")
    fetch = '<fetch top="1"><entity name="account"><attribute name="name"/></entity></fetch>'
    Fetcher.objects.create(endpoint=row, name="other", query=fetch)
    Precondition.objects.create(endpoint=row, expression="fetch.other.name != ''", position=0)
    Precondition.objects.create(endpoint=row, expression="input.name == 'B'", position=1, status=409)
    outcome = _try(row, content=b'{"name": "A"}')
    assert outcome.status == 409
    fetched = [step for step in outcome.steps if step.title == "@fetch.other"]
    assert [(step.verdict, step.detail) for step in fetched] == [("passed", "Found.")]
    checked = [step.verdict for step in outcome.steps if step.title == "Pre-condition"]
    assert checked == ["passed", "refused"]
    assert any(call.operation == "query" and "<fetch" in call.request for call in outcome.calls)


def test_a_process_does_not_run_in_a_dry_run() -> None:
    row = endpoint("action")
    record = an_account().rpartition("/")[2]
    outcome = _try(row, roles=("sales-manager",), record=record, content=b'{"comment": "Good"}')
    (call,) = [call for call in outcome.calls if call.operation == "execute"]
    assert not call.sent
    assert "Good" in call.request


def test_what_is_broken_is_said_not_raised() -> None:
    row = endpoint("create")
    row.bindings.filter(attribute="name").update(source="expression", value="((")
    outcome = _try(row, content=b'{"name": "A"}')
    assert outcome.status == 503
    assert outcome.steps[-1].verdict == "refused"


def test_every_endpoint_of_the_demo_has_a_preview() -> None:
    for operation in load().endpoints.values():
        shown = StudioRuntime().preview(operation, "http://127.0.0.1")
        assert shown.problem == "", operation.path
        assert operation.path.split("/{id}")[0] in shown.curl
