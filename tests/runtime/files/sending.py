"""Files sent by form and by raw body, to a column and as notes, and what is stored of them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.db import connection

from crmclient.query.ast import Column, Query
from designer.platform import get_platform
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
