"""A POST sent twice under one `Idempotency-Key` is done once."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from crmclient import new_guid
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from designer.models import Endpoint, Fetcher, Precondition, Role
from designer.platform import get_platform
from runtime.models import IdempotencyRecord
from tests.callers import Caller
from tests.runtime.accounts import an_account, endpoint
from tests.runtime.queries import accounts, where

ACCOUNTS = "/api/sales/accounts"


def _count(name: str) -> int:
    condition = Condition("name", Operator.EQ, (name,))
    query = Query("account", columns=(Column("accountid"),), filter=Filter((condition,)))
    return len(get_platform().query(query).rows)


def test_a_repetition_gets_the_first_answer_and_says_so(rita: Caller) -> None:
    first = rita.post(ACCOUNTS, {"name": "Once"}, idempotency_key="k1")
    again = rita.post(ACCOUNTS, {"name": "Once"}, idempotency_key="k1")
    assert first.status_code == again.status_code == 200
    assert first.content == again.content
    assert "Idempotency-Replayed" not in first
    assert again["Idempotency-Replayed"] == "true"
    assert _count("Once") == 1


def test_another_body_under_the_same_key_is_refused(rita: Caller) -> None:
    rita.post(ACCOUNTS, {"name": "First"}, idempotency_key="k2")
    answer = rita.post(ACCOUNTS, {"name": "Second"}, idempotency_key="k2")
    assert answer.status_code == 422
    assert answer.json()["code"] == "key_reused"


def test_a_key_is_worth_nothing_to_another_caller(rita: Caller, max: Caller) -> None:
    first = rita.post(ACCOUNTS, {"name": "Mine"}, idempotency_key="k3")
    other = max.post(ACCOUNTS, {"name": "Mine"}, idempotency_key="k3")
    assert other.status_code == 200
    assert other.json()["id"] != first.json()["id"]


def test_invalid_inputs_may_be_mended_under_the_same_key(rita: Caller) -> None:
    assert rita.post(ACCOUNTS, {"nam": "typo"}, idempotency_key="k4").status_code == 400
    assert rita.post(ACCOUNTS, {"name": "Mended"}, idempotency_key="k4").status_code == 200


def test_a_replay_passes_the_roles_again(rita: Caller) -> None:
    rita.post(ACCOUNTS, {"name": "Then"}, idempotency_key="k5")
    Endpoint.objects.get(kind="create", entity__segment="accounts").roles.set(
        [Role.objects.get(name="sales-manager")]
    )
    assert rita.post(ACCOUNTS, {"name": "Then"}, idempotency_key="k5").status_code == 403


def test_a_key_in_flight_is_a_conflict_until_its_deadline(rita: Caller) -> None:
    rita.post(ACCOUNTS, {"name": "Slow"}, idempotency_key="k6")
    IdempotencyRecord.objects.update(status=None, content=b"")
    answer = rita.post(ACCOUNTS, {"name": "Slow"}, idempotency_key="k6")
    assert answer.status_code == 409
    assert answer.json()["code"] == "in_flight"
    assert int(answer["Retry-After"]) >= 1


def test_an_abandoned_create_is_taken_over_and_not_doubled(rita: Caller) -> None:
    """The first try reached the platform, and its process died before it could answer."""
    first = rita.post(ACCOUNTS, {"name": "Killed"}, idempotency_key="k7").json()["id"]
    IdempotencyRecord.objects.update(
        status=None, content=b"", deadline=timezone.now() - dt.timedelta(seconds=1)
    )
    answer = rita.post(ACCOUNTS, {"name": "Killed"}, idempotency_key="k7")
    assert answer.status_code == 200, answer.content
    assert answer.json()["id"] == first
    assert _count("Killed") == 1


def test_an_abandoned_create_is_not_refused_for_the_record_that_it_has_made(rita: Caller) -> None:
    """A pre-condition that finds duplicates would find the record of the first try."""
    create = endpoint("create")
    same = where('attribute="name" operator="eq" value="@name"')
    Fetcher.objects.create(endpoint=create, name="same", query=accounts(same), first=True)
    Precondition.objects.create(
        endpoint=create, expression="fetch.same.name == null", status=409, message="There is one already."
    )
    first = rita.post(ACCOUNTS, {"name": "Unique"}, idempotency_key="k9").json()["id"]
    IdempotencyRecord.objects.update(
        status=None, content=b"", deadline=timezone.now() - dt.timedelta(seconds=1)
    )
    answer = rita.post(ACCOUNTS, {"name": "Unique"}, idempotency_key="k9")
    assert (answer.status_code, answer.json().get("id")) == (200, first)
    assert rita.post(ACCOUNTS, {"name": "Unique"}, idempotency_key="k10").status_code == 409
    assert _count("Unique") == 1


def test_an_abandoned_create_that_never_reached_the_platform_is_done(rita: Caller) -> None:
    first = rita.post(ACCOUNTS, {"name": "Early"}, idempotency_key="k8").json()["id"]
    get_platform().delete("account", first)
    IdempotencyRecord.objects.update(
        status=None, content=b"", deadline=timezone.now() - dt.timedelta(seconds=1)
    )
    answer = rita.post(ACCOUNTS, {"name": "Early"}, idempotency_key="k8")
    assert answer.json()["id"] == first
    assert _count("Early") == 1


def test_a_key_is_forgotten_after_a_day(rita: Caller) -> None:
    first = rita.post(ACCOUNTS, {"name": "Old"}, idempotency_key="k9").json()["id"]
    IdempotencyRecord.objects.update(expires=timezone.now() - dt.timedelta(seconds=1))
    assert rita.post(ACCOUNTS, {"name": "Old"}, idempotency_key="k9").json()["id"] != first


def test_a_refusal_by_the_platform_is_remembered(rita: Caller) -> None:
    body = {"name": "A", "primaryContactId": "00000000-0000-4000-8000-000000000000"}
    assert rita.post(ACCOUNTS, body, idempotency_key="k10").status_code == 400
    assert rita.post(ACCOUNTS, body, idempotency_key="k10").status_code == 400


def test_a_key_that_is_no_text_is_refused(rita: Caller) -> None:
    assert rita.post(ACCOUNTS, {"name": "A"}, idempotency_key="").status_code == 400
    assert rita.post(ACCOUNTS, {"name": "A"}, idempotency_key="x" * 256).status_code == 400


def test_the_same_body_for_another_record_is_another_request(max: Caller) -> None:
    first, second = (f"{an_account()}/actions/approve" for _ in range(2))
    assert max.post(first, {"comment": "Fine"}, idempotency_key="k11").status_code == 200
    answer = max.post(second, {"comment": "Fine"}, idempotency_key="k11")
    assert answer.status_code == 422
    assert answer.json()["code"] == "key_reused"
    assert max.post(first, {"comment": "Fine"}, idempotency_key="k11")["Idempotency-Replayed"] == "true"


def test_a_file_for_another_record_is_another_request(rita: Caller) -> None:
    first, second = (f"{an_account()}/files/notes" for _ in range(2))
    sent = {"content_type": "application/pdf", "content_disposition": 'attachment; filename="a.pdf"'}
    assert rita.post(first, b"%PDF-1.4 x", idempotency_key="k12", **sent).status_code == 200
    assert rita.post(second, b"%PDF-1.4 x", idempotency_key="k12", **sent).status_code == 422
    assert len(rita.get(first).json()) == 1
    assert rita.get(second).json() == []


LEADS = "/api/sales/leads"
LEAD = {"topic": "Chairs", "lastName": "Somebody"}


@pytest.mark.parametrize("key", ["1", "order-1", "a" * 100, "12" * 50, "1234567890123456789"])
def test_a_caller_without_a_token_sends_no_key_that_others_guess(anonymous: Caller, key: str) -> None:
    answer = anonymous.post(LEADS, LEAD, idempotency_key=key)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_idempotency_key")
    assert "UUID" in answer.json()["detail"]
    assert not IdempotencyRecord.objects.exists()


def test_a_caller_without_a_token_repeats_with_a_uuid(anonymous: Caller) -> None:
    key = str(uuid.uuid4())
    first = anonymous.post(LEADS, LEAD, idempotency_key=key)
    again = anonymous.post(LEADS, LEAD, idempotency_key=key)
    assert first.status_code == 200, first.content
    assert (again.content, again["Idempotency-Replayed"]) == (first.content, "true")


@contextmanager
def _refusing(statement: str, times: int = 1000) -> Iterator[list[str]]:
    """The service's database is full for its first `times` statements that begin with `statement`."""
    refused: list[str] = []

    def on_query(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith(statement) and "idempotencyrecord" in sql and len(refused) < times:
            refused.append(sql)
            raise OperationalError("database or disk is full")
        return execute(sql, *rest)

    with connection.execute_wrapper(on_query):
        yield refused
    # The test has a transaction around the request, which the service has not.
    connection.set_rollback(False)


def test_a_record_that_was_created_is_answered_where_the_answer_cannot_be_kept(rita: Caller) -> None:
    with _refusing("UPDATE") as refused:
        answer = rita.post(ACCOUNTS, {"name": "Kept"}, idempotency_key="k20")
    assert refused
    assert answer.status_code == 200
    # The next request with the key goes on with the first one's record.
    IdempotencyRecord.objects.update(deadline=timezone.now() - dt.timedelta(seconds=1))
    assert rita.post(ACCOUNTS, {"name": "Kept"}, idempotency_key="k20").json() == answer.json()
    assert _count("Kept") == 1


def test_a_refusal_is_answered_as_it_is_where_the_claim_cannot_be_removed(rita: Caller) -> None:
    with _refusing("DELETE") as refused:
        answer = rita.post(ACCOUNTS, {"name": ""}, idempotency_key="k21")
    assert refused
    assert answer.status_code == 400


def test_the_later_of_two_repetitions_of_an_expired_key_is_told_that_the_first_is_under_way(
    rita: Caller,
) -> None:
    rita.post(ACCOUNTS, {"name": "Old"}, idempotency_key="k22")
    row = IdempotencyRecord.objects.get()
    past, day = timezone.now() - dt.timedelta(seconds=1), dt.timedelta(days=1)
    IdempotencyRecord.objects.update(expires=past)
    came = False

    def on_query(execute: Any, sql: str, *rest: Any) -> Any:
        nonlocal came
        done = execute(sql, *rest)
        if sql.startswith("DELETE") and "idempotencyrecord" in sql and not came:
            came = True
            # The other repetition has removed the row as well, and claims the key first.
            deadline = timezone.now() + day
            claim = {"record_id": new_guid(), "deadline": deadline, "expires": deadline}
            IdempotencyRecord.objects.create(digest=row.digest, body_digest=row.body_digest, **claim)
        return done

    with connection.execute_wrapper(on_query):
        answer = rita.post(ACCOUNTS, {"name": "Old"}, idempotency_key="k22")
    assert came
    assert (answer.status_code, answer.json()["code"]) == (409, "in_flight")
