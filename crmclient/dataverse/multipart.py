"""`multipart/mixed`: the bodies of $batch."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP

from crmclient.dataverse.http.messages import Answer, Request
from crmclient.errors import UnexpectedAnswer
from crmclient.sentences import Sentence

_NEWLINE = b"\r\n"


@dataclass(frozen=True, slots=True)
class Part:
    """One answer; `content_id` is that of its request, when the platform says so."""

    answer: Answer
    content_id: str | None


def one_get(url: str, headers: Mapping[str, str]) -> tuple[str, bytes]:
    """Return content type and body of a batch with one GET."""
    boundary = f"batch_{uuid.uuid4()}"
    return _mixed(boundary), _enclosed(boundary, [_part(Request("GET", url, headers))])


def change_set(requests: Sequence[Request]) -> tuple[str, bytes]:
    """Return content type and body of a batch with one change set. Content ids are the indexes, counted from
    1.
    """
    outer, inner = f"batch_{uuid.uuid4()}", f"changeset_{uuid.uuid4()}"
    parts = [_part(request, str(number)) for number, request in enumerate(requests, 1)]
    changes = _NEWLINE.join([b"Content-Type: " + _mixed(inner).encode(), b"", _enclosed(inner, parts)])
    return _mixed(outer), _enclosed(outer, [changes])


def parts_of(answer: Answer) -> Iterator[Part]:
    """Yield every answer in the answer to a batch, also those inside change sets; none of another answer.

    Raises UnexpectedAnswer.
    """
    content_type = answer.headers.get("content-type", "")
    if not content_type.lower().startswith("multipart/mixed"):
        return
    # Python's parser takes the boundary from a head, as a mail has it.
    head = f"Content-Type: {content_type}\r\n\r\n".encode("latin-1", "replace")
    message = BytesParser(policy=HTTP).parsebytes(head + answer.body)
    for part in message.walk():
        if part.get_content_type() == "application/http":
            yield Part(_answer(part), part.get("Content-ID"))


def _mixed(boundary: str) -> str:
    """Return the content type of parts with this boundary."""
    return f'multipart/mixed; boundary="{boundary}"'


def _enclosed(boundary: str, parts: Sequence[bytes]) -> bytes:
    """Return the parts as one body, with the boundary before each of them and after the last."""
    mark = b"--" + boundary.encode()
    return _NEWLINE.join([*(mark + _NEWLINE + part for part in parts), mark + b"--", b""])


def _part(request: Request, content_id: str | None = None) -> bytes:
    """Return a request as a part of a batch. A body that is not bytes is left out."""
    head = ["Content-Type: application/http", "Content-Transfer-Encoding: binary"]
    if content_id is not None:
        head.append(f"Content-ID: {content_id}")
    inner = [f"{request.method} {request.url} HTTP/1.1"]
    inner += [f"{name}: {value}" for name, value in request.headers.items()]
    text = "\r\n".join([*head, "", *inner, "", ""]).encode()
    return text + (request.body if isinstance(request.body, bytes) else b"")


def _answer(part: Message) -> Answer:
    """Read one HTTP answer inside the answer of a batch. Raises UnexpectedAnswer."""
    content = part.get_payload(decode=True)
    raw = content if isinstance(content, bytes) else b""
    head, _, body = raw.lstrip().partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/"):
        raise UnexpectedAnswer(Sentence("A part of the platform's batch is no HTTP answer."))
    line, *fields = head.decode("latin-1").split("\r\n")
    try:
        status = int(line.split(" ", 2)[1])
    except (IndexError, ValueError):
        raise UnexpectedAnswer(Sentence("A part of the platform's batch has no status.")) from None
    headers = {}
    for field in fields:
        name, _, value = field.partition(":")
        headers[name.strip().lower()] = value.strip()
    return Answer(status, headers, body)
