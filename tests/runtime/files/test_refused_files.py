"""What is no file of the kind, size or name that an endpoint takes is refused, and leaves nothing."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

from designer.models import Endpoint
from tests.callers import Caller
from tests.runtime.files.sending import EXE, PDF, column, content, form, notes, send, stored


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
