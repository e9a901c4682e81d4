"""What a route says of itself in the document beside what its operation describes, and its problems.

Of problems there is one schema, and a response for each set of codes that a status may carry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from designer.configuration import Endpoint
from designer.definitions import AccessDefinition
from designer.kinds.operation_kind import Meaning
from runtime.http.conditions import digest
from runtime.http.problems import CONTENT_TYPE, phrase
from runtime.operations.base import Description

# The tag of what belongs to no module: option sets, which no other kind of endpoint is.
GLOBAL = "Global option sets"


@dataclass(frozen=True, slots=True)
class Documentation:
    """What a route says of itself beside its operation.

    `operation_id` is unique in the document, and stays while the endpoint keeps its place. `spellings` are
    further methods, in upper case. They do the same as the first one, or what `meanings` says of them.
    `repeatable`: the route accepts an Idempotency-Key. `changes`: it changes records. `is_limited`: the
    endpoint has limits of its own.
    """

    operation_id: str
    summary: str
    description: str
    tag: str
    access: AccessDefinition
    spellings: tuple[str, ...] = ()
    repeatable: bool = False
    changes: bool = False
    is_limited: bool = False
    meanings: Mapping[str, Meaning] = field(default_factory=dict)


def documentation_of(endpoint: Endpoint) -> Documentation:
    """Return the documentation of an endpoint: the consultant's texts or, without them, those of its kind."""
    definition = endpoint.definition
    kind = endpoint.kind
    return Documentation(
        operation_id=operation_id(endpoint),
        summary=definition.title or kind.label,
        description=definition.description or kind.summary,
        tag=definition.module or GLOBAL,
        access=definition.access,
        spellings=kind.methods[1:],
        repeatable="POST" in kind.methods,
        changes=kind.writes,
        is_limited=definition.settings.limits.are_set,
        meanings={
            method: replace(
                meaning,
                label=definition.title or meaning.label,
                summary=definition.description or meaning.summary,
            )
            for method, meaning in kind.meanings.items()
        },
    )


def operation_id(endpoint: Endpoint) -> str:
    """Return an operation's id, such as `create.sales.accounts`: the kind, then the names in its path.

    Two endpoints never share an id: the kind says how many names follow, and names have no dot.
    """
    definition, kind = endpoint.definition, endpoint.kind
    places = {"module": definition.module, "segment": endpoint.segment, "name": definition.name}
    return ".".join([kind.name, *(text for place, text in places.items() if f"{{{place}}}" in kind.path)])


_TEXT = {"type": "string"}

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "A refusal (RFC 9457). `code` is stable; `errors` names every wrong field at once.",
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
        "instance": _TEXT,
        "code": _TEXT,
        "requestId": _TEXT,
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "pointer": {**_TEXT, "description": "Where in the body, as a JSON pointer."},
                    "parameter": {**_TEXT, "description": "Which query-string parameter."},
                    "code": _TEXT,
                    "message": _TEXT,
                },
                "required": ["code", "message"],
            },
        },
    },
    "required": ["type", "title", "status", "detail", "instance", "code", "requestId"],
}

_SECONDS = {"description": "Seconds to wait.", "schema": {"type": "string"}}
LIMIT_HEADERS = {
    "RateLimit-Policy": {
        "description": "The limits that count this request: `q` requests in `w` seconds.",
        "schema": {"type": "string"},
        "example": '"caller";q=600;w=60, "endpoint";q=100;w=60',
    },
    "RateLimit": {
        "description": "What is left of each: `r` requests and, where it is known, for `t` seconds.",
        "schema": {"type": "string"},
        "example": '"caller";r=599;t=60, "endpoint";r=12;t=31',
    },
}
_HEADERS: dict[int, dict[str, Any]] = {
    401: {"WWW-Authenticate": {"description": "How to authenticate.", "schema": {"type": "string"}}},
    429: {"Retry-After": _SECONDS, **LIMIT_HEADERS},
    503: {"Retry-After": _SECONDS},
}


@cache
def response_name(status: int, codes: tuple[str, ...]) -> str:
    """Return the name of the component for a response. It is short, because thousands of operations refer to
    it.
    """
    # Such as `NotFound.1f0c5a9be2`.
    name = phrase(status).replace(" ", "").replace("-", "")
    return f"{name}.{digest(' '.join(codes).encode())[:10]}"


@cache
def response(status: int, codes: tuple[str, ...]) -> dict[str, Any]:
    """Return the component for a response. `x-codes` tells programs what the description tells people."""
    listed_codes = ", ".join(f"`{code}`" for code in codes)
    component: dict[str, Any] = {
        "description": f"{phrase(status)}: {listed_codes}",
        "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        "x-codes": list(codes),
    }
    if status in _HEADERS:
        component["headers"] = _HEADERS[status]
    return component


def components(problems: Iterable[tuple[int, tuple[str, ...]]]) -> dict[str, dict[str, Any]]:
    """Return the components that references to `problems` lead to, by kind and name."""
    responses = {response_name(status, codes): response(status, codes) for status, codes in problems}
    return {"responses": responses, "schemas": {"Problem": PROBLEM}} if responses else {}


Problems = Mapping[int, Sequence[str]]

# Whatever a request asks for.
_ALWAYS: Problems = {
    400: ("bad_request", "malformed_query_string"),
    404: ("not_found",),
    406: ("not_acceptable",),
    414: ("query_string_too_long",),
    429: ("too_many_requests",),
    500: ("internal_error",),
    502: ("platform_error", "query_refused"),
    503: (
        *("platform_unavailable", "platform_throttled", "endpoint_misconfigured"),
        *("issuer_unavailable", "unavailable"),
    ),
    504: ("platform_timeout", "timeout"),
}
_GUARDED: Problems = {
    401: ("authentication_required", "invalid_token"),
    403: ("forbidden", "no_platform_user", "no_record", "platform_denied"),
}
# A token is judged wherever one is sent.
_OPEN: Problems = {401: ("invalid_token",), 403: ("no_platform_user", "no_record", "platform_denied")}
_WITH_BODY: Problems = {
    400: ("incomplete_body",),
    411: ("length_required",),
    413: ("too_large",),
    415: ("unsupported_encoding",),
}
# Whatever is stored needs room, a deletion included: the database notes it before it forgets.
_STORING: Problems = {507: ("insufficient_storage",)}
_REPEATABLE: Problems = {400: ("invalid_idempotency_key",), 409: ("in_flight",), 422: ("key_reused",)}


def refusals(documentation: Documentation, description: Description) -> dict[int, tuple[str, ...]]:
    """Return every problem code that the operation may answer with, sorted, by status."""
    codes_by_status: defaultdict[int, set[str]] = defaultdict(set)
    for problems in _applicable_problems(documentation, description):
        for status, codes in problems.items():
            codes_by_status[status].update(codes)
    return {status: tuple(sorted(codes)) for status, codes in sorted(codes_by_status.items())}


def _applicable_problems(documentation: Documentation, description: Description) -> Iterable[Problems]:
    """Yield the groups of problems that the operation may answer with."""
    yield description.problems
    yield _ALWAYS
    yield _GUARDED if documentation.access.authentication_required else _OPEN
    has_body = description.body is not None or bool(description.bodies)
    if has_body:
        yield _WITH_BODY
    if has_body or documentation.changes:
        yield _STORING
    if documentation.repeatable:
        yield _REPEATABLE
