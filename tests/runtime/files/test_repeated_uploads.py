"""An upload under an Idempotency-Key is done once."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest
from django.utils import timezone

from runtime.idempotency.models import IdempotencyRecord
from tests.callers import Caller
from tests.runtime.files.sending import PDF, column, content, form, notes, send, stored


@pytest.mark.parametrize("place", [column, notes])
def test_a_repeated_upload_with_a_key_is_answered_again_and_done_once(
    rita: Caller, account: str, place: Any
) -> None:
    key = str(uuid.uuid4())
    first = form(rita, place(account), ("file", "a.pdf", PDF), boundary="one", idempotency_key=key)
    before = stored()
    again = form(rita, place(account), ("file", "a.pdf", PDF), boundary="two", idempotency_key=key)
    assert first.status_code == again.status_code == 200
    assert again["Idempotency-Replayed"] == "true"
    assert again.json() == first.json()
    assert stored() == before


def test_an_abandoned_upload_is_taken_over_and_not_doubled(rita: Caller, account: str) -> None:
    """The first try made the note, and its process died before it could answer."""
    first = send(rita, notes(account), idempotency_key="k1").json()["id"]
    abandon()
    answer = send(rita, notes(account), idempotency_key="k1")
    assert (answer.status_code, answer.json()["id"]) == (200, first), answer.content
    assert [note["id"] for note in rita.get(notes(account)).json()] == [first]
    assert content(rita.get(f"{notes(account)}/{first}")) == PDF


def test_an_abandoned_replacement_is_answered_for_the_file_that_it_has_stored(
    rita: Caller, account: str
) -> None:
    """With If-Match, the file of the first try would be in the way of the second."""
    place = column(account)
    send(rita, place, PDF + b"before")
    condition = {"if_match": rita.get(place)["ETag"], "idempotency_key": "k1"}
    first = send(rita, place, **condition)
    abandon()

    again = send(rita, place, **condition)

    assert (again.status_code, again.json()) == (200, first.json())
    assert content(rita.get(place)) == PDF


def test_an_abandoned_replacement_leaves_the_file_of_somebody_else(rita: Caller, account: str) -> None:
    place = column(account)
    send(rita, place, PDF + b"before")
    condition = {"if_match": rita.get(place)["ETag"], "idempotency_key": "k1"}
    send(rita, place, **condition)
    abandon()
    other = PDF[:-1] + b"?"
    assert send(rita, place, other).status_code == 200

    again = send(rita, place, **condition)

    assert (again.status_code, again.json()["code"]) == (412, "version_mismatch")
    assert content(rita.get(place)) == other


def abandon() -> None:
    """As if the processes had died before they could answer."""
    IdempotencyRecord.objects.update(
        status=None, content=b"", deadline=timezone.now() - dt.timedelta(seconds=1)
    )


def test_a_key_is_for_one_file(rita: Caller, account: str) -> None:
    key = str(uuid.uuid4())
    assert send(rita, notes(account), idempotency_key=key).status_code == 200
    assert send(rita, notes(account), PDF + b"x", idempotency_key=key).json()["code"] == "key_reused"
    assert send(rita, notes(account), name="b.pdf", idempotency_key=key).json()["code"] == "key_reused"
