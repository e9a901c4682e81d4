"""Files up and down: columns and notes, by form and by raw body, whole and in ranges."""

from __future__ import annotations

import datetime as dt
import io
import json
import uuid
import zipfile
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.client import encode_multipart
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from crmclient import Reference
from crmclient.query.ast import Column, Query
from designer.models import Endpoint, ExposedEntity
from designer.platform import get_platform
from runtime.files.names import attachment, name_in
from runtime.files.ranges import Unsatisfiable, requested
from runtime.idempotency.models import IdempotencyRecord
from tests.callers import Caller

PDF = b"%PDF-1.7\n" + bytes(range(256)) * 40
EXE = b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00" + b"\0" * 400
NOBODY = "11111111-1111-4111-8111-111111111111"
NAMES = [
    "contract.pdf",
    "Vertrag für Müller.pdf",
    "契約書.pdf",
    "عقد.pdf",
    '🖋 it\'s; "signed".pdf',
    "a%20b.pdf",
]


@pytest.fixture
def account(portico: None) -> str:
    return get_platform().create("account", {"name": "Files Ltd"}).id


def column(account: str) -> str:
    return f"/api/sales/accounts/{account}/files/contract"


def notes(account: str) -> str:
    return f"/api/sales/accounts/{account}/files/notes"


def send(caller: Caller, path: str, content: bytes = PDF, name: str = "a.pdf", **headers: str) -> Any:
    """As a raw body."""
    named = {"content_disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return caller.request("POST", path, content, **{"content_type": "application/pdf", **named, **headers})


def form(
    caller: Caller,
    path: str,
    *parts: tuple[str, str | None, bytes],
    boundary: str = "frontier",
    **headers: str,
) -> Any:
    """As a form of (field name, file name, content)."""
    body = b""
    for field, name, content in parts:
        file_name = "" if name is None else f'; filename="{name}"'
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"{file_name}\r\n\r\n'
        body += head.encode() + content + b"\r\n"
    body += f"--{boundary}--\r\n".encode()
    headers = {"content_type": f"multipart/form-data; boundary={boundary}", **headers}
    return caller.request("POST", path, body, **headers)


def content(answer: Any) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def stored() -> tuple[int, int, int]:
    """How many files, blocks and notes there are."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT (SELECT COUNT(*) FROM crm_file), (SELECT COUNT(*) FROM crm_file_block)")
        files, blocks = cursor.fetchone()
    return files, blocks, len(get_platform().query(_ALL_NOTES).rows)


_ALL_NOTES = Query("annotation", columns=(Column("annotationid"),))


@pytest.mark.parametrize("name", NAMES)
def test_a_raw_body_comes_back_under_its_name(rita: Caller, account: str, name: str) -> None:
    sent = send(rita, column(account), name=name)
    assert sent.status_code == 200, sent.content
    assert sent.json() == {
        "id": sent.json()["id"],
        "fileName": name,
        "contentType": "application/pdf",
        "size": len(PDF),
    }
    answer = rita.get(column(account))
    assert answer.status_code == 200
    assert content(answer) == PDF
    assert answer["Content-Length"] == str(len(PDF))
    assert answer["Content-Type"] == "application/pdf"
    assert answer["ETag"] == f'"{sent.json()["id"]}"'
    assert answer["Accept-Ranges"] == "bytes"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "private, no-cache"
    disposition = answer["Content-Disposition"]
    assert disposition.startswith('attachment; filename="')
    assert disposition.isascii()
    assert name_in(disposition) == name


@pytest.mark.parametrize("name", ["contract.pdf", "Müller.pdf", "契約書.pdf"])
def test_a_form_comes_back_under_its_name(rita: Caller, account: str, name: str) -> None:
    sent = form(rita, column(account), ("file", name, PDF))
    assert sent.status_code == 200, sent.content
    assert sent.json()["fileName"] == name
    assert sent.json()["contentType"] == "application/pdf"
    assert content(rita.get(column(account))) == PDF


def test_a_form_as_django_writes_it_is_taken(rita: Caller, account: str) -> None:
    file = io.BytesIO(PDF)
    file.name = "as django.pdf"
    body = encode_multipart("frontier", {"file": file})
    sent = rita.request("POST", column(account), body, content_type="multipart/form-data; boundary=frontier")
    assert sent.status_code == 200, sent.content


def test_unescaped_utf_8_in_a_header_is_understood(rita: Caller, account: str) -> None:
    header = 'attachment; filename="Müller.pdf"'.encode().decode("latin-1")
    sent = send(rita, column(account), content_disposition=header)
    assert sent.json()["fileName"] == "Müller.pdf"


def test_a_second_upload_takes_the_place_of_the_first(rita: Caller, account: str) -> None:
    first = send(rita, column(account)).json()
    before = stored()
    second = send(rita, column(account), PDF + b"more", "b.pdf").json()
    assert second["id"] != first["id"]
    assert content(rita.get(column(account))) == PDF + b"more"
    assert stored()[0] == before[0]


def test_a_note_is_listed_and_its_file_comes_back(rita: Caller, account: str) -> None:
    sent = [form(rita, notes(account), ("file", f"{n}.txt", b"text %d" % n)).json() for n in (1, 2)]
    listed = rita.get(notes(account))
    assert listed.status_code == 200
    found = [{key: note[key] for key in sent[0]} for note in listed.json()]
    # Those of one second come in any order.
    assert sorted(found, key=lambda note: note["fileName"]) == sent
    assert all(note["createdOn"].endswith("Z") for note in listed.json())
    answer = rita.get(f"{notes(account)}/{sent[1]['id']}")
    assert answer.status_code == 200
    assert content(answer) == b"text 2"
    assert name_in(answer["Content-Disposition"]) == "2.txt"
    note = get_platform().retrieve("annotation", sent[0]["id"], ("subject", "objectid")).values
    assert note["subject"] == "1.txt"
    assert isinstance(note["objectid"], Reference)
    assert note["objectid"].id == account


def test_a_record_without_notes_has_an_empty_list(rita: Caller, account: str) -> None:
    assert rita.get(notes(account)).json() == []


def test_a_note_without_a_file_is_no_file(rita: Caller, account: str) -> None:
    note = get_platform().create(
        "annotation", {"subject": "Words", "objectid": Reference("account", account)}
    )
    assert rita.get(notes(account)).json() == []
    assert rita.get(f"{notes(account)}/{note.id}").status_code == 404


def _without_ids(answer: Any) -> Any:
    return {key: value for key, value in answer.json().items() if key not in ("instance", "requestId")}


def test_a_note_belongs_to_the_record_of_the_path(rita: Caller, account: str) -> None:
    other = get_platform().create("account", {"name": "Other Ltd"}).id
    contact = get_platform().create("contact", {"lastname": "Doe"}, id=other).id
    note = form(rita, notes(other), ("file", "secret.txt", b"secret")).json()["id"]
    of_contact = (
        get_platform().create("annotation", {"subject": "x", "objectid": Reference("contact", contact)}).id
    )
    get_platform().upload(
        "annotation",
        of_contact,
        "documentbody",
        io.BytesIO(b"x"),
        file_name="x.txt",
        content_type="text/plain",
    )
    unknown = rita.get(f"{notes(account)}/{NOBODY}")
    assert unknown.status_code == 404
    for path in (f"{notes(account)}/{note}", f"{notes(other)}/{of_contact}", f"{notes(NOBODY)}/{note}"):
        answer = rita.get(path)
        assert answer.status_code == 404
        assert _without_ids(answer) == _without_ids(unknown)
    assert [listed["id"] for listed in rita.get(notes(other)).json()] == [note]


@pytest.mark.parametrize("place", [column, notes])
def test_an_unknown_record_is_404_and_nothing_is_left(rita: Caller, place: Any, portico: None) -> None:
    before = stored()
    assert send(rita, place(NOBODY)).status_code == 404
    assert rita.get(place(NOBODY)).status_code == 404
    assert stored() == before


def test_an_empty_column_is_404(rita: Caller, account: str) -> None:
    answer = rita.get(column(account))
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


def test_a_column_has_no_paths_of_items(rita: Caller, account: str) -> None:
    sent = send(rita, column(account)).json()["id"]
    assert rita.get(f"{column(account)}/{sent}").status_code == 404


def test_ids_that_are_none_are_400(rita: Caller, account: str) -> None:
    for path in (column("x"), notes("x"), f"{notes(account)}/x"):
        answer = rita.get(path)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_id")
    assert send(rita, column("x")).json()["code"] == "invalid_id"


def test_roles_are_judged_before_the_body(aya: Caller, anonymous: Caller, account: str) -> None:
    assert send(aya, column(account)).status_code == 403
    assert send(anonymous, column(account)).status_code == 401
    assert aya.get(notes(account)).status_code == 403
    assert anonymous.get(f"{notes(account)}/{NOBODY}").status_code == 401


def test_a_wrong_method_says_which_are_right(rita: Caller, account: str) -> None:
    answer = rita.delete(column(account))
    assert answer.status_code == 405
    assert answer["Allow"] == "GET, POST, HEAD, OPTIONS"
    assert rita.post(f"{notes(account)}/{NOBODY}")["Allow"] == "GET, HEAD, OPTIONS"


# What is refused


def test_an_unknown_parameter_is_refused(rita: Caller, account: str) -> None:
    assert send(rita, column(account) + "?x=1").json()["code"] == "invalid_parameter"
    assert rita.get(column(account) + "?x=1").json()["code"] == "invalid_parameter"


def settings_of(kind: str, name: str, **changed: object) -> None:
    endpoint = Endpoint.objects.get(kind=kind, name=name, entity__segment="accounts")
    endpoint.settings = {**endpoint.settings, **changed}
    endpoint.save()


@pytest.mark.parametrize("place", [column, notes])
def test_a_file_over_the_limit_is_refused_and_leaves_nothing(rita: Caller, account: str, place: Any) -> None:
    for name in ("contract", "notes"):
        settings_of("upload", name, max_size=1000)
    before = stored()
    answers = [
        send(rita, place(account), b"%PDF-" + b"x" * 996),
        form(rita, place(account), ("file", "a.pdf", b"%PDF-" + b"x" * 996)),
        form(rita, place(account), ("file", "a.pdf", b"%PDF-" + b"x" * 100_000)),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(413, "too_large")] * 3
    assert stored() == before
    assert send(rita, place(account), b"%PDF-" + b"x" * 995).status_code == 200
    assert form(rita, place(account), ("file", "a.pdf", b"%PDF-" + b"x" * 995)).status_code == 200


def test_the_limit_of_json_bodies_is_not_that_of_files(rita: Caller, account: str) -> None:
    large = b"%PDF-" + b"x" * 3_000_000
    assert send(rita, column(account), large).status_code == 200
    assert content(rita.get(column(account))) == large


def _docx() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<document/>")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("a.pdf", PDF, 200),
        ("A.PDF", PDF, 200),
        ("a.docx", _docx(), 200),
        ("a.exe", EXE, 415),
        ("a.pdf", EXE, 415),
        ("a.pdf", b"", 415),
        ("a.pdf", b"plain text", 415),
        ("a.docx", PDF, 415),
        ("a.pdf.exe", PDF, 415),
        ("pdf", PDF, 415),
        (".pdf", PDF, 415),
    ],
)
def test_extension_and_content_must_be_of_an_allowed_kind(
    rita: Caller, account: str, name: str, body: bytes, status: int
) -> None:
    answer = send(rita, column(account), body, name)
    assert answer.status_code == status, answer.content
    assert form(rita, column(account), ("file", name, body)).status_code == status


@pytest.mark.parametrize(
    ("declared", "body", "status"),
    [
        ("image/png", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, 200),
        ("image/png; charset=x", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, 200),
        ("image/png", EXE, 415),
        ("image/svg+xml", EXE, 415),
        ("text/csv", b"a;b\n1;2\n", 200),
        ("text/csv", "a;b\n1;ü\n".encode("utf-16"), 200),
        ("text/csv", EXE, 415),
        ("text/html", b"<html>", 415),
        ("application/pdf", PDF, 415),
        ("", b"a;b\n", 200),
        ("application/octet-stream", b"a;b\n", 200),
    ],
)
def test_content_types_are_held_to_the_content(
    rita: Caller, account: str, declared: str, body: bytes, status: int
) -> None:
    settings_of("upload", "notes", content_types=["image/*", "text/csv"])
    answer = send(rita, notes(account), body, "a.csv", content_type=declared)
    assert answer.status_code == status, answer.content
    if status == 415:
        assert answer.json()["code"] == "unsupported_file_type"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\fakepath\\a.pdf", "a.pdf"),
        ("a/b/c.pdf", "c.pdf"),
        ("  a.pdf ", "a.pdf"),
        ("a\r\nSet-Cookie: x=1.pdf", None),
        ("a\0b.pdf", None),
        ("a\u202efdp.exe", None),
        ("a\x7f.pdf", None),
        ("..", None),
        ("a/", None),
        ("", None),
        ("x" * 256, None),
        ("x" * 251 + ".pdf", "x" * 251 + ".pdf"),
    ],
)
def test_hostile_names_are_cut_to_a_name_or_refused(
    rita: Caller, account: str, name: str, kept: str | None
) -> None:
    answer = send(rita, notes(account), b"text", name, content_type="text/plain")
    if kept is None:
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_file_name")
    else:
        assert answer.json()["fileName"] == kept


@pytest.mark.parametrize(
    "header",
    [
        "",
        "attachment",
        "attachment; filename=",
        "attachment; filename*=nonsense''x.pdf",
        ";;;===",
        "x" * 20_000,
    ],
)
def test_a_raw_body_must_be_named(rita: Caller, account: str, header: str) -> None:
    answer = send(rita, column(account), content_disposition=header)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_file_name")


FRONTIER = b'--frontier\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
HOSTILE_FORMS = {
    "no part": b"--frontier--\r\n",
    "not a form": b"x" * 5000,
    "never ends": FRONTIER + b"text",
    "ends in a boundary": FRONTIER + b"text\r\n--frontier",
    "another part's name": FRONTIER.replace(b'"file"', b'"other"') + b"text\r\n--frontier--\r\n",
    "no disposition": b"--frontier\r\nContent-Type: text/plain\r\n\r\ntext\r\n--frontier--\r\n",
    "no end of headers": b"--frontier\r\n" + b"X: y" * 10_000,
    "many headers": b"--frontier\r\n" + b"X: y\r\n" * 5_000,
    "bytes in a header": FRONTIER.replace(b"a.txt", b"\xff\xfe") + b"text\r\n--frontier--\r\n",
    "two files": FRONTIER + b"one\r\n" + FRONTIER + b"two\r\n--frontier--\r\n",
    "a field too": FRONTIER
    + b'one\r\n--frontier\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--frontier--\r\n',
    "another boundary": FRONTIER.replace(b"frontier", b"elsewhere") + b"text\r\n--elsewhere--\r\n",
    "a wrong length inside": FRONTIER.replace(b"\r\n\r\n", b"\r\nContent-Length: 99\r\n\r\n")
    + b"text\r\n--frontier--\r\n",
}


@pytest.mark.parametrize("body", HOSTILE_FORMS.values(), ids=HOSTILE_FORMS.keys())
def test_a_hostile_form_is_refused_and_leaves_nothing(rita: Caller, account: str, body: bytes) -> None:
    before = stored()
    answer = rita.request("POST", notes(account), body, content_type="multipart/form-data; boundary=frontier")
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_body"), answer.content
    assert stored() == before


def test_a_form_needs_a_boundary_and_a_file_name(rita: Caller, account: str) -> None:
    for kind in (
        "multipart/form-data",
        "multipart/form-data; boundary=",
        'multipart/form-data; boundary="\n"',
    ):
        assert rita.request("POST", notes(account), FRONTIER, content_type=kind).status_code == 400
    assert form(rita, notes(account), ("file", None, b"text")).json()["code"] == "invalid_file_name"
    assert form(rita, notes(account), ("file", "", b"text")).json()["code"] == "invalid_file_name"


def test_content_that_looks_like_a_boundary_is_content(rita: Caller, account: str) -> None:
    tricky = b"\r\n--frontie\r\n--\r\n-" + b"\r\n--fronties" * 20_000
    sent = form(rita, notes(account), ("file", "a.txt", tricky))
    assert content(rita.get(f"{notes(account)}/{sent.json()['id']}")) == tricky


def test_compressed_bodies_are_refused(rita: Caller, account: str) -> None:
    assert send(rita, column(account), content_encoding="gzip").status_code == 415


class Broken(io.RawIOBase):
    """A body whose sender goes away."""

    def __init__(self, good: bytes, error: type[Exception] | None) -> None:
        self._good = io.BytesIO(good)
        self._error = error

    def read(self, size: int = -1) -> bytes:
        piece = self._good.read(size)
        if not piece and self._error is not None:
            raise self._error
        return piece


@pytest.mark.parametrize("place", [column, notes])
@pytest.mark.parametrize("error", [None, ConnectionResetError])
def test_a_broken_off_body_leaves_the_file_of_before(
    rita: Caller, account: str, place: Any, error: type[Exception] | None
) -> None:
    send(rita, column(account))
    before = stored()
    environment: dict[str, Any] = {
        "CONTENT_LENGTH": "5000000",
        "CONTENT_TYPE": "application/pdf",
        "HTTP_CONTENT_DISPOSITION": "attachment; filename=a.pdf",
        "wsgi.input": Broken(b"%PDF-" + b"x" * 2_000_000, error),
    }
    answer = rita.client.generic("POST", place(account), **environment)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_body")
    assert stored() == before
    assert content(rita.get(column(account))) == PDF


# Idempotency-Key


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


# Ranges and conditions


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
        assert requested(header, size) is None
        return
    if first is not None:
        expected = data[first : None if last is None else last + 1]
    else:
        expected = data[-last:] if last else b""
    if not expected:
        with pytest.raises(Unsatisfiable):
            requested(header, size)
        return
    span = requested(header, size)
    assert span is not None
    assert data[span.start : span.start + span.length] == expected
    assert len(expected) == span.length


@given(st.text(max_size=60))
def test_no_range_header_breaks_anything(header: str) -> None:
    try:
        span = requested(header, 10)
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


def test_an_image_column_takes_and_gives_its_picture(rita: Caller, account: str) -> None:
    accounts = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    for kind in ("upload", "download"):
        place = {"module": accounts.module, "entity": accounts, "name": "picture"}
        Endpoint.objects.create(kind=kind, **place, settings={"attribute": "new_logo"})
    picture = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
    path = f"/api/sales/accounts/{account}/files/picture"
    assert send(rita, path, picture, "a.png", content_type="image/png").status_code == 200
    answer = rita.get(path, accept="image/*")
    assert (answer["Content-Type"], content(answer)) == ("image/png", picture)
    assert answer["Content-Disposition"].startswith("attachment;")


def test_an_empty_file_is_a_file(rita: Caller, account: str) -> None:
    note = send(rita, notes(account), b"", "empty.txt", content_type="text/plain").json()
    assert note["size"] == 0
    answer = rita.get(f"{notes(account)}/{note['id']}")
    assert (answer.status_code, content(answer), answer["Content-Length"]) == (200, b"", "0")
    assert rita.get(f"{notes(account)}/{note['id']}", range="bytes=0-").status_code == 416


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/pdf", 200),
        ("application/*", 200),
        ("text/html, */*;q=0.1", 200),
        ("image/png", 406),
        ("application/pdf;q=0", 406),
    ],
)
def test_accept_is_judged_by_the_type_of_the_file(
    rita: Caller, account: str, accept: str, status: int
) -> None:
    send(rita, column(account))
    assert rita.get(column(account), accept=accept).status_code == status


def test_a_list_of_notes_is_json(rita: Caller, account: str) -> None:
    assert rita.get(notes(account), accept="image/png").status_code == 406


def test_scripts_are_sent_as_attachments_that_are_not_sniffed(rita: Caller, account: str) -> None:
    page = send(rita, notes(account), b"<script>alert(1)</script>", "a.html", content_type="text/html").json()
    answer = rita.get(f"{notes(account)}/{page['id']}")
    assert answer["Content-Disposition"].startswith("attachment;")
    assert answer["X-Content-Type-Options"] == "nosniff"


# What is said about it


def test_the_document_describes_both_ways(rita: Caller) -> None:
    document = json.loads(rita.get("/api/openapi.json").content)
    paths = document["paths"]
    contract = paths["/api/sales/accounts/{id}/files/contract"]
    assert set(contract["post"]["requestBody"]["content"]) == {
        "multipart/form-data",
        "application/octet-stream",
    }
    assert {"200", "206", "416"} <= set(contract["get"]["responses"])
    assert "*/*" in contract["get"]["responses"]["200"]["content"]
    listed = paths["/api/sales/accounts/{id}/files/notes"]["get"]["responses"]["200"]["content"]
    schema = listed["application/json"]["schema"]
    name = schema.get("$ref", "").rpartition("/")[2]
    assert document["components"]["schemas"].get(name, schema)["type"] == "array"
    item = paths["/api/sales/accounts/{id}/files/notes/{fileId}"]["get"]
    named = document["components"]["parameters"]
    parameters = [named.get(each.get("$ref", "").rpartition("/")[2], each) for each in item["parameters"]]
    assert [parameter["name"] for parameter in parameters][:2] == ["id", "fileId"]


def test_a_content_type_that_none_can_be_is_passed_over(rita: Caller, account: str) -> None:
    sent = {"content_type": f"{'a' * 300}/b", "content_disposition": 'attachment; filename="a.pdf"'}
    answer = rita.post(notes(account), b"%PDF-1.4 x", **sent)
    assert answer.json()["contentType"] == "application/pdf"
