"""POST `$batch`: its requests one after the other, each as if it had come alone.

Without `Prefer: odata.continue-on-error` the first error ends the batch. A change set is one transaction.
"""

from __future__ import annotations

import io
import re
import uuid
from dataclasses import dataclass, replace
from http import HTTPStatus
from urllib.parse import unquote

from django.db import transaction

from crmbox.webapi.batch.multipart import ChangeSet, Item, Part, read_batch
from crmbox.webapi.error_answers import guarded
from crmbox.webapi.errors import WebApiError, bad_payload, unsupported
from crmbox.webapi.paths import API, parse_path
from crmbox.webapi.records.references import resolved_reference
from crmbox.webapi.request import Request, Response, parse_query
from crmbox.webapi.routing import dispatch, named

_API = re.compile(rf"^.*?{API}/")
_LONGEST_URL = 65_536
_LINE_END = b"\r\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """A part of the response, and its status."""

    status: int
    content: bytes


class _Failed(Exception):
    """A request of a change set failed. Its answer becomes that of the change set."""

    def __init__(self, part: Part, response: Response) -> None:
        super().__init__()
        self.part = part
        self.response = response


@named("$batch", "POST")
def batch(request: Request) -> Response:
    """Answer a batch with the answers to its requests: all of them, or those up to the first error."""
    items = read_batch(request.headers.get("Content-Type", ""), request.read())
    answers: list[Answer] = []
    for item in items:
        answers.append(_run_item(request, item))
        if answers[-1].status >= 400 and not request.prefer.continues_on_error:
            break
    continues = request.prefer.continues_on_error
    first_error_status = next((answer.status for answer in answers if answer.status >= 400), 200)
    headers = {"Preference-Applied": "odata.continue-on-error"} if continues else {}
    boundary = f"batchresponse_{uuid.uuid4()}"
    headers["Content-Type"] = f'multipart/mixed; boundary="{boundary}"'
    body = _multipart(boundary, [answer.content for answer in answers])
    return Response(200 if continues else _batch_status(first_error_status), headers, body)


def _batch_status(status: int) -> int:
    """Return the status of a batch that ends with its first error of this status.

    Dataverse documents 400 for an inner 400 and says nothing of others. Its own clients read the parts of an
    answer only if its status is at most 400, so 404, 405 and 412 become 400 too.
    """
    return 400 if status in (404, 405, 412) else status


def _run_item(request: Request, item: Item) -> Answer:
    """Answer one request of a batch, or one change set."""
    if isinstance(item, ChangeSet):
        return _run_change_set(request, item)
    response = guarded(lambda: _dispatch(request, item, {}))
    return Answer(response.status, _response_part(item, response))


def _run_change_set(request: Request, change_set: ChangeSet) -> Answer:
    """Answer a change set: with all answers, or with that of the first request that failed."""
    content_urls: dict[str, str] = {}
    answered: list[tuple[Part, Response]] = []
    status = 200
    try:
        with transaction.atomic():
            for part in change_set.parts:
                answered.append((part, _run_change(request, part, content_urls)))
    except _Failed as failed:
        answered, status = [(failed.part, failed.response)], failed.response.status
    boundary = f"changesetresponse_{uuid.uuid4()}"
    head = f'Content-Type: multipart/mixed; boundary="{boundary}"\r\n\r\n'.encode()
    return Answer(status, head + _multipart(boundary, [_response_part(*pair) for pair in answered]))


def _run_change(request: Request, part: Part, content_urls: dict[str, str]) -> Response:
    """Answer one request of a change set, and note the URL of its record under its Content-ID in
    `content_urls`. Raises _Failed.
    """
    response = guarded(lambda: _dispatch_change(request, part, content_urls))
    if response.status >= 400:
        raise _Failed(part, response)
    if part.content_id:
        content_urls[part.content_id] = response.headers.get("OData-EntityId") or _address(
            request, part, content_urls
        )
    return response


def _dispatch_change(request: Request, part: Part, content_urls: dict[str, str]) -> Response:
    """Answer one request of a change set. Raises WebApiError for a GET, which changes nothing."""
    if part.method == "GET":
        raise bad_payload("A change set cannot contain a GET request.")
    return _dispatch(request, part, content_urls)


def _dispatch(request: Request, part: Part, content_urls: dict[str, str]) -> Response:
    """Answer one request of a batch. `content_urls` has the URLs that `$n` in it refers to.

    Raises WebApiError for a batch inside the batch, and what the handler raises.
    """
    part_request = _request_of_part(request, part, content_urls)
    if part_request.path and part_request.path[0].name == "$batch":
        raise unsupported("a batch inside a batch")
    return dispatch(part_request)


def _request_of_part(request: Request, part: Part, content_urls: dict[str, str]) -> Request:
    """Return the request of a part as if it had come alone. Raises WebApiError (414) for a long URL."""
    referring = replace(request, content_urls=content_urls)
    address = _address(referring, part, content_urls)
    if len(address) > _LONGEST_URL:
        raise WebApiError(414, "0x80060888", f"The URL is longer than {_LONGEST_URL} characters.")
    path, _, query = address.removeprefix(request.base).partition("?")
    return replace(
        referring,
        method=part.method,
        path=parse_path(unquote(path)),
        query=parse_query(query),
        headers=part.headers,
        stream=io.BytesIO(part.body),
        raw_path=path,
        raw_query=query,
    )


def _address(request: Request, part: Part, content_urls: dict[str, str]) -> str:
    """Return the URL of a part as an absolute one below the base, whatever form it has."""
    url = resolved_reference(replace(request, content_urls=content_urls), part.url)
    path, question_mark, query = url.partition("?")
    return request.base + _API.sub("", path).lstrip("/") + question_mark + query


def _response_part(part: Part, response: Response) -> bytes:
    """Return a response as a part of the batch's.

    Its `Content-ID` is that of the request it answers.
    """
    body = response.body if isinstance(response.body, bytes) else b"".join(response.body)
    outer = ["Content-Type: application/http", "Content-Transfer-Encoding: binary"]
    if part.content_id:
        outer.append(f"Content-ID: {part.content_id}")
    status = HTTPStatus(response.status)
    headers = {"REQ_ID": str(uuid.uuid4()), "OData-Version": "4.0", **response.headers}
    inner = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        *(f"{name}: {text}" for name, text in headers.items()),
    ]
    head = "\r\n".join([*outer, "", *inner, "", ""])
    return head.encode() + body


def _multipart(boundary: str, parts: list[bytes]) -> bytes:
    """Join the parts. The first line is a boundary, as some clients read the boundary from there."""
    delimiter = b"--" + boundary.encode()
    return (
        b"".join(delimiter + _LINE_END + part + _LINE_END for part in parts) + delimiter + b"--" + _LINE_END
    )
