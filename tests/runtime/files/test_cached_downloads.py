"""Cached downloads: whole files of a moderate size, under the tag, type and name that they always have."""

from __future__ import annotations

import re
from typing import Any

import pytest

from designer.models import Endpoint
from tests.callers import Caller
from tests.runtime.files.sending import PDF, column, content, notes, send

KEPT = ("Content-Type", "Content-Disposition", "Content-Length", "ETag", "X-Content-Type-Options")


@pytest.fixture
def cached(account: str) -> str:
    for row in Endpoint.objects.filter(kind="download"):
        row.settings = {**row.settings, "cache": {"seconds": 60}}
        row.save()
    assert Caller().get("/optionsets/priorities").status_code == 200
    return account


def status(answer: Any) -> str:
    return re.sub(r"ttl=\d+", "ttl=…", answer["Cache-Status"])


def test_a_file_is_kept_until_another_takes_its_place(rita: Caller, cached: str) -> None:
    assert send(rita, column(cached), name="a.pdf").status_code == 200
    first = rita.get(column(cached))
    assert (status(first), content(first)) == ("Portico; fwd=uri-miss; stored", PDF)
    second = rita.get(column(cached))
    assert (status(second), content(second)) == ("Portico; hit; ttl=…", PDF)
    assert {name: second[name] for name in KEPT} == {name: first[name] for name in KEPT}
    assert rita.get(column(cached), if_none_match=first["ETag"]).status_code == 304
    assert rita.get(column(cached), accept="text/plain").status_code == 406
    assert send(rita, column(cached), name="b.pdf").status_code == 200
    third = rita.get(column(cached))
    assert "b.pdf" in third["Content-Disposition"]
    assert third["ETag"] != first["ETag"]


def test_heads_and_parts_are_asked_for_each_time_and_never_kept(rita: Caller, cached: str) -> None:
    assert send(rita, column(cached), name="a.pdf").status_code == 200
    head = rita.request("HEAD", column(cached))
    assert (status(head), head.content, head["Content-Length"]) == ("Portico; fwd=method", b"", str(len(PDF)))
    part = rita.get(column(cached), range="bytes=0-3")
    assert (part.status_code, content(part), part["Cache-Status"]) == (206, PDF[:4], "Portico; fwd=method")
    whole = rita.get(column(cached))
    assert (status(whole), content(whole)) == ("Portico; fwd=uri-miss; stored", PDF)
    part = rita.get(column(cached), range="bytes=0-3")
    assert (part.status_code, content(part)) == (206, PDF[:4])


def test_a_large_file_is_sent_and_not_kept(rita: Caller, cached: str) -> None:
    large = PDF + b"\n" * (4 * 1024 * 1024)
    assert send(rita, column(cached), large, name="large.pdf").status_code == 200
    for _ in range(2):
        answer = rita.get(column(cached))
        assert (answer["Cache-Status"], content(answer)) == ("Portico; fwd=uri-miss", large)


def test_the_list_of_notes_ends_with_a_new_one(rita: Caller, cached: str) -> None:
    assert send(rita, notes(cached), name="a.pdf").status_code == 200
    assert [file["fileName"] for file in rita.get(notes(cached)).json()] == ["a.pdf"]
    assert status(rita.get(notes(cached))) == "Portico; hit; ttl=…"
    assert send(rita, notes(cached), name="b.pdf").status_code == 200
    assert [file["fileName"] for file in rita.get(notes(cached)).json()] == ["a.pdf", "b.pdf"]
