"""Failures on request, to test clients: `PUT {root}/faults` says which requests fail, and how.

    {"faults": [{"method": "POST", "path": "/accounts$", "times": 1, "executed": true, "cut": "answer"}]}

`denied` lists privileges beside them, which then stand for those of CRM_SERVER_DENIED.

Only in development, with CRM_SERVER_FAULTS=1. `docs/crmserver.md` lists what a fault may say.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Literal

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from crmbox.webapi.errors import bad_payload, no_resource
from crmbox.webapi.privileges import deny
from crmbox.webapi.request import Response, json_response, no_content

CONTROL = "/faults"


class Fault(BaseModel):
    """Strikes `times` requests (None: every one) after letting `skip` pass.

    `path` is a regular expression that is searched in the path below the root. The request is carried out
    first when `executed`, or when nothing but a `delay` (seconds) is asked for. Then `status`, `headers` and
    `body` take the answer's place; `cut` ends the connection before the answer, or in its middle. `struck`
    counts the requests that it has struck.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    method: str | None = None
    path: str = ""
    skip: Annotated[int, Field(ge=0)] = 0
    times: Annotated[int, Field(ge=1)] | None = 1
    delay: Annotated[float, Field(ge=0, le=600)] = 0
    executed: bool = False
    status: Annotated[int, Field(ge=200, le=599)] | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    body: str | None = None
    cut: Literal["answer", "half"] | None = None
    struck: int = 0

    @field_validator("path")
    @classmethod
    def _is_pattern(cls, value: str) -> str:
        """Return `value` if it is a regular expression. Raises ValueError if not."""
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"no regular expression: {error}") from None
        return value

    def applies(self, method: str, path: str) -> bool:
        """Return whether the fault applies to this request, and count the request."""
        if self.method not in (None, method) or not re.search(self.path, path):
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.times is not None and self.struck >= self.times:
            return False
        self.struck += 1
        return True

    @property
    def replaces(self) -> bool:
        """Return whether the fault has an answer of its own."""
        return self.status is not None or self.body is not None

    @property
    def stands_instead(self) -> bool:
        """Return whether the fault answers without the request being carried out."""
        return not self.executed and (self.replaces or self.cut is not None)

    def answer(self, respond: Callable[[], Response]) -> Response:
        """Return the answer of `respond` as the fault changes it, after the delay of the fault."""
        time.sleep(self.delay)
        # An empty answer is something to cut off, where nothing replaces it.
        response = Response(200) if self.stands_instead else respond()
        if self.replaces:
            # Answers that are not JSON come from what stands before the platform, such as a gateway.
            body = (self.body or "").encode()
            response = Response(self.status or 200, {"Content-Type": "text/html", **self.headers}, body)
        return response if self.cut is None else _cut(response, half=self.cut == "half")


class NewFaults(BaseModel):
    """The body of PUT. Without `denied`, the denied privileges stay as they are."""

    model_config = ConfigDict(extra="forbid", strict=True)

    faults: list[Fault] = Field(default_factory=list)
    denied: list[str] | None = None


_armed: list[Fault] = []
_lock = threading.Lock()


def fault_for(method: str, path: str) -> Fault | None:
    """Return the fault that applies to a request, or None."""
    if not _armed:
        return None
    with _lock:
        return next((fault for fault in _armed if fault.applies(method, path)), None)


def control(method: str, read: Callable[[], bytes]) -> Response:
    """Control the faults that the CRM server simulates: PUT replaces them, GET lists them and how often each
    has occurred, DELETE removes them.
    """
    if not (settings.DEVELOPMENT and settings.PORTICO["CRM_SERVER_FAULTS"]):
        raise no_resource(CONTROL)
    if method == "PUT":
        try:
            new_faults = NewFaults.model_validate_json(read())
        except ValidationError as error:
            raise bad_payload(f"Faults: {error}") from None
        with _lock:
            _armed[:] = new_faults.faults
        if new_faults.denied is not None:
            deny(new_faults.denied)
        return no_content()
    if method == "DELETE":
        with _lock:
            _armed.clear()
        return no_content()
    return json_response({"faults": [fault.model_dump() for fault in _armed]})


def _cut(response: Response, *, half: bool) -> Response:
    """Return the answer cut off before its announced length: after half its bytes, or before the first.

    Its status is one that has a body: the server would end any other properly. The headers of an answer that
    is cut off before its first byte may get through, so they are replaced by a bare content length.
    """
    body = response.body if isinstance(response.body, bytes) else b"".join(response.body)
    if not half:
        return Response(200, {"Content-Length": "1"}, _broken())
    # More than ever comes, also of an empty body.
    length = {"Content-Length": str(max(2, len(body)) + 1)}
    return Response(200, {**response.headers, **length}, iter([body[: len(body) // 2]]))


def _broken() -> Iterator[bytes]:
    """Raise ConnectionAbortedError when the first piece is read."""
    raise ConnectionAbortedError("A fault cuts this answer off.")
    # Never reached: it makes this function a generator, which raises only when it is iterated.
    yield b""
