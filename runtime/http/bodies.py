"""Request bodies: JSON objects, read strictly and exactly."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import jiter
from django.conf import settings
from django.http import HttpRequest

from runtime.http.problems import FieldError, Problem

# The most levels of objects and arrays in a JSON body.
DEEPEST = 32
# For a body that nobody wants: the bytes that are on their way in any case, and the most bytes and seconds
# that are read.
_ON_ITS_WAY, _MOST_UNWANTED, _SECONDS = 64 * 1024, 64 * 1024 * 1024, 5.0
# In a request's META where the server program takes in unwanted bodies itself, without holding a thread.
UNWANTED_IS_TAKEN_IN = "portico.unwanted_is_taken_in"
_JSON_TYPES = ("application/json", "application/merge-patch+json")


def read_object(request: HttpRequest, *, optional: bool = False) -> dict[str, Any]:
    """Return the JSON object in the body, with Decimal for numbers with a fraction.

    A missing body counts as an empty object if it is `optional`. Raises Problem 400 `malformed_body`, 411,
    413 `too_large`, 415.
    """
    if optional and is_missing(request.META):
        return {}
    refuse_other_media(request.META)
    raw = read_body(request)
    try:
        # The cache mode "all" would keep strings and keys of hostile bodies in memory for ever.
        value = jiter.from_json(
            raw, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="none", float_mode="decimal"
        )
    except ValueError as error:
        raise malformed(f"The body is not JSON as it should be: {error}.") from error
    if type(value) is not dict:
        raise malformed("The body must be a JSON object.")
    # Most bodies cannot be deep and cannot hold a NUL: two cheap tests spare them the walk.
    if raw.count(b"[") + raw.count(b"{") > DEEPEST or b"\\u0000" in raw:
        _refuse_deep_or_nul(value)
    return value


def read_body(request: HttpRequest, most: int = 0) -> bytes:
    """Return the whole body, of at most `most` bytes; 0 stands for BODY_LIMIT.

    Raises Problem 400 `incomplete_body` when the sender broke off, 411, 413 `too_large`.
    """
    length = announced_length(request)
    most = most or settings.PORTICO["BODY_LIMIT"]
    if length > most:
        raise Problem(413, "too_large", f"A body may hold at most {most} bytes.")
    # `body` raises for more bytes than DATA_UPLOAD_MAX_MEMORY_SIZE, Django's limit for forms.
    raw = request.body if length <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE else request.read(length)
    # What was cut off may still be JSON or a form, with a part of the values.
    if len(raw) != length:
        raise Problem(400, "incomplete_body", "The body ended before its Content-Length.")
    return raw


def refuse_body(request: HttpRequest) -> None:
    """Raise Problem 400 `malformed_body` if the request has a body."""
    if not is_missing(request.META):
        raise malformed("This call takes no body.")


def announced_length(request: HttpRequest) -> int:
    """Return `Content-Length` in bytes; 0 without a body. Raises Problem 411 for a body in chunks."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if length.isdecimal():
        # So many digits are beyond every limit, and `int` refuses thousands of them.
        return int(length[:18])
    if "HTTP_TRANSFER_ENCODING" in request.META:
        raise Problem(411, "length_required", "Send a Content-Length.")
    return 0


def read_unwanted(request: HttpRequest) -> None:
    """Read and drop the body of a refused request, within bounds.

    An unread body makes the server close the connection, and a client that is cut off while it sends often
    never sees the answer. A client that waits for "100 Continue" has sent nothing yet.
    """
    if "HTTP_EXPECT" in request.META or UNWANTED_IS_TAKEN_IN in request.META:
        return
    ends = time.monotonic() + _SECONDS
    # `announced_length` refuses a body in chunks: nobody knows where it ends.
    with suppress(Problem, OSError):
        if _ON_ITS_WAY < announced_length(request) <= _MOST_UNWANTED:
            while request.read(_ON_ITS_WAY) and time.monotonic() < ends:
                pass


def malformed(detail: str) -> Problem:
    """Return the Problem 400 for a body that cannot be read."""
    return Problem(400, "malformed_body", detail)


def is_missing(meta: dict[str, Any]) -> bool:
    """Whether a request comes without a body."""
    return meta.get("CONTENT_LENGTH", "") in ("", "0") and "HTTP_TRANSFER_ENCODING" not in meta


def is_json(meta: dict[str, Any]) -> bool:
    """Whether a body says that it is JSON."""
    media: str = meta.get("CONTENT_TYPE", "")
    return media.partition(";")[0].strip().lower() in _JSON_TYPES


def refuse_other_media(meta: dict[str, Any]) -> None:
    """Raise Problem 415 unless the body is JSON without compression."""
    if not is_json(meta):
        raise Problem(415, "unsupported_media_type", "Send the body as application/json.")
    if meta.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
        raise Problem(415, "unsupported_encoding", "Send the body without compression.")


def _refuse_deep_or_nul(value: dict[str, Any]) -> None:
    """Raise Problem 400 for a body that is nested too deeply, or has NUL characters, which no platform can
    store.
    """
    # The keys and positions that lead to the value that is looked at. A pointer for each value could take
    # many times the memory of the body.
    way: list[str] = []

    def visit(node: Any) -> None:
        """Check a value, and everything in it."""
        if isinstance(node, str):
            if "\0" in node:
                raise _nul_at(way)
        elif isinstance(node, dict | list):
            if len(way) >= DEEPEST:
                raise malformed(f"The body is nested more than {DEEPEST} levels deep.")
            for key, item in node.items() if isinstance(node, dict) else enumerate(node):
                way.append(str(key))
                if "\0" in way[-1]:
                    raise malformed("A key holds a NUL character.")
                visit(item)
                way.pop()

    visit(value)


def _nul_at(way: list[str]) -> Problem:
    """Return the Problem 400 for a text with a NUL character. `way` are the keys and positions that lead to
    it.
    """
    pointer = "".join(f"/{escape(key)}" for key in way)
    errors = [FieldError("invalid_character", "Must not hold NUL characters.", pointer=pointer)]
    return Problem(400, "invalid_input", "The input is not valid.", errors=errors)


def escape(key: str) -> str:
    """Return a key as a step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
