"""Values as JSON bytes, exactly.

Money and Decimal go out as JSON numbers with the digits they have, never through a float, and so do whole
numbers of any length; DateTime as UTC `…Z` in whole seconds. An answer comes in one media type: content
negotiation refuses callers that do not take it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson
from django.http import HttpResponse

from crmclient import FileInfo, Reference
from runtime.http.problems import Problem

JSON = "application/json"
# A caller that accepts one of these accepts a problem, and is given JSON.
_FAMILIES = frozenset({"*/*", "application/*", "application/problem+json"})
_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS | orjson.OPT_PASSTHROUGH_DATACLASS
# The whole numbers that orjson writes.
_LOWEST, _HIGHEST = -(2**63), 2**64 - 1


def render(value: Any) -> bytes:
    """Return the JSON text of `value`, which may contain any `crmclient` value."""
    return dump(value, default=_as_json, options=_OPTIONS)


def dump(value: Any, *, default: Callable[[Any], Any], options: int) -> bytes:
    """Return the JSON text of `value` as `orjson.dumps` does, with whole numbers of any length."""
    try:
        return orjson.dumps(value, default=default, option=options)
    except orjson.JSONEncodeError:
        # It may be a number beyond 64 bits, such as a limit that a designer has typed. They are so rare that
        # no other value is searched for them. For any other cause the same error is raised again.
        return orjson.dumps(_with_long_numbers(value), default=default, option=options)


def json_response(value: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    """Return `value` as a JSON response."""
    return HttpResponse(render(value), status=status, content_type=JSON, headers=headers)


def _with_long_numbers(value: Any) -> Any:
    """Return a JSON value with Decimals in place of the whole numbers that orjson does not write."""
    if isinstance(value, dict):
        return {key: _with_long_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_long_numbers(item) for item in value]
    if isinstance(value, int) and not _LOWEST <= value <= _HIGHEST:
        return Decimal(value)
    return value


def _as_json(value: Any) -> Any:
    """Return a value that orjson does not know as one that it knows. Raises TypeError for any other value."""
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f").encode())
    if isinstance(value, Reference):
        return {"id": value.id, "name": value.name}
    if isinstance(value, FileInfo):
        return {"id": value.id, "fileName": value.file_name, "size": value.size}
    raise TypeError(f"{type(value).__name__} has no JSON form")


def refuse_unacceptable(accept: str | None, served: str = JSON) -> None:
    """Raise Problem 406 unless `Accept` names the media type `served`, or a range that includes it."""
    if accept is None or accept == "*/*" or accept == served or _accepts(accept, served):
        return
    raise Problem(406, "not_acceptable", f"This is answered as {served}.")


@lru_cache(maxsize=256)
def _accepts(accept: str, served: str) -> bool:
    """Whether an `Accept` header accepts the media type `served`."""
    return any(_entry_accepts(entry, served) for entry in accept.split(","))


def _entry_accepts(entry: str, served: str) -> bool:
    """Whether one entry of `Accept` takes the media type `served`. One with a weight of 0 refuses it."""
    media, *parameters = (part.strip().lower() for part in entry.split(";"))
    refused = any(
        parameter.replace(" ", "") in {"q=0", "q=0.0", "q=0.00", "q=0.000"} for parameter in parameters
    )
    return (media in _FAMILIES or media in {served, f"{served.partition('/')[0]}/*"}) and not refused
