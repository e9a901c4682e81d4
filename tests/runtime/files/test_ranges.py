"""Files in ranges, and only where the caller does not hold them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.files.names import attachment, name_in
from runtime.files.ranges import Unsatisfiable, requested_span
from tests.callers import Caller
from tests.runtime.files.sending import PDF, column, content, notes, send


@pytest.mark.parametrize(
    ("header", "status", "part"),
    [
        ("bytes=0-0", 206, slice(0, 1)),
        ("bytes=0-99", 206, slice(0, 100)),
        ("bytes=100-", 206, slice(100, None)),
        ("bytes=-10", 206, slice(-10, None)),
        ("bytes=-99999999", 206, slice(0, None)),
        ("bytes=0-99999999", 206, slice(0, None)),
        ("Bytes= 5-9", 206, slice(5, 10)),
        ("bytes=0-1,5-6", 200, slice(0, None)),
        ("bytes=9-5", 200, slice(0, None)),
        ("bytes=-", 200, slice(0, None)),
        ("bytes=a-b", 200, slice(0, None)),
        ("lines=0-1", 200, slice(0, None)),
        ("bytes=٣-٥", 200, slice(0, None)),
    ],
)
def test_a_range_is_the_bytes_asked_for(
    rita: Caller, account: str, header: str, status: int, part: slice
) -> None:
    send(rita, column(account))
    answer = rita.get(column(account), range=header)
    assert answer.status_code == status
    body = content(answer)
    assert body == PDF[part]
    assert answer["Content-Length"] == str(len(body))
    if status == 206:
        start = part.indices(len(PDF))[0]
        assert answer["Content-Range"] == f"bytes {start}-{start + len(body) - 1}/{len(PDF)}"


@pytest.mark.parametrize("header", [f"bytes={len(PDF)}-", "bytes=-0", "bytes=" + "9" * 90 + "-"])
def test_a_range_behind_the_end_is_416(rita: Caller, account: str, header: str) -> None:
    send(rita, column(account))
    answer = rita.get(column(account), range=header)
    assert answer.status_code == 416
    assert answer["Content-Range"] == f"bytes */{len(PDF)}"
    assert answer.json()["code"] == "range_not_satisfiable"


@given(
    size=st.integers(0, 40),
    first=st.none() | st.integers(0, 50),
    last=st.none() | st.integers(0, 50),
)
def test_ranges_are_what_slices_are(size: int, first: int | None, last: int | None) -> None:
    data = bytes(range(size))
    header = f"bytes={'' if first is None else first}-{'' if last is None else last}"
    if (first is None and last is None) or (first is not None and last is not None and last < first):
        assert requested_span(header, size) is None
        return
    if first is not None:
        expected = data[first : None if last is None else last + 1]
    else:
        expected = data[-last:] if last else b""
    if not expected:
        with pytest.raises(Unsatisfiable):
            requested_span(header, size)
        return
    span = requested_span(header, size)
    assert span is not None
    assert data[span.start : span.start + span.length] == expected
    assert len(expected) == span.length


@given(st.text(max_size=60))
def test_no_range_header_breaks_anything(header: str) -> None:
    try:
        span = requested_span(header, 10)
    except Unsatisfiable:
        return
    assert span is None or 0 < span.length <= 10 - span.start


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=100))
def test_every_name_goes_into_a_header_and_comes_back(name: str) -> None:
    header = attachment(name)
    assert header.isascii()
    assert header.isprintable()
    kept = name.replace("\\", "/").split("/")[-1].strip()
    if kept not in {"", ".", ".."} and not any(
        "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069" for c in kept
    ):
        assert name_in(header) == kept


def test_if_range_of_another_file_gets_the_whole(rita: Caller, account: str) -> None:
    send(rita, column(account))
    tag = rita.get(column(account))["ETag"]
    assert rita.get(column(account), range="bytes=0-4", if_range=tag).status_code == 206
    for other in ('"other"', f"W/{tag}", "Sat, 21 Nov 2026 09:00:00 GMT"):
        answer = rita.get(column(account), range="bytes=0-4", if_range=other)
        assert (answer.status_code, content(answer)) == (200, PDF)


def test_a_file_that_the_caller_holds_is_not_sent_again(rita: Caller, account: str) -> None:
    send(rita, column(account))
    tag = rita.get(column(account))["ETag"]
    answer = rita.get(column(account), if_none_match=tag, range="bytes=0-4")
    assert (answer.status_code, answer["ETag"], answer.content) == (304, tag, b"")
    send(rita, column(account), PDF)
    assert rita.get(column(account), if_none_match=tag).status_code == 200


def test_if_match_replaces_the_file_that_is_meant_or_none(rita: Caller, account: str) -> None:
    assert send(rita, column(account), if_match="*").status_code == 412
    send(rita, column(account))
    tag = rita.get(column(account))["ETag"]
    for wrong in ('"other"', f"W/{tag}"):
        assert send(rita, column(account), if_match=wrong).json()["code"] == "version_mismatch"
    assert send(rita, column(account), if_match="nonsense").json()["code"] == "invalid_if_match"
    assert rita.get(column(account))["ETag"] == tag
    assert send(rita, column(account), if_match=f'"other", {tag}').status_code == 200
    assert send(rita, column(account), if_match=tag).status_code == 412
    assert send(rita, column(account), if_match="*").status_code == 200


def test_head_says_what_get_would_without_a_body(rita: Caller, account: str) -> None:
    note = send(rita, notes(account)).json()["id"]
    send(rita, column(account))
    for path in (column(account), f"{notes(account)}/{note}"):
        get, head = rita.get(path), rita.request("HEAD", path, range="bytes=0-4")
        assert head.status_code == 200
        assert head.content == b""
        same = ("Content-Length", "Content-Type", "ETag", "Content-Disposition", "Accept-Ranges")
        assert [head[name] for name in same] == [get[name] for name in same]
    assert rita.request("HEAD", notes(account))["Content-Length"] == str(
        len(rita.get(notes(account)).content)
    )
