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
    IdempotencyRecord.objects.update(
        status=None, content=b"", deadline=timezone.now() - dt.timedelta(seconds=1)
    )
    answer = send(rita, notes(account), idempotency_key="k1")
    assert (answer.status_code, answer.json()["id"]) == (200, first), answer.content
    assert [note["id"] for note in rita.get(notes(account)).json()] == [first]
    assert content(rita.get(f"{notes(account)}/{first}")) == PDF


def test_a_key_is_for_one_file(rita: Caller, account: str) -> None:
    key = str(uuid.uuid4())
    assert send(rita, notes(account), idempotency_key=key).status_code == 200
    assert send(rita, notes(account), PDF + b"x", idempotency_key=key).json()["code"] == "key_reused"
    assert send(rita, notes(account), name="b.pdf", idempotency_key=key).json()["code"] == "key_reused"
