"""Which problems an operation may answer with, beside those that it describes itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from runtime.describe.documentation import Documentation
from runtime.operations.base import Description

Problems = Mapping[int, Sequence[str]]

# Whatever a request asks for.
_ALWAYS: Problems = {
    400: ("bad_request", "malformed_query_string"),
    404: ("not_found",),
    406: ("not_acceptable",),
    414: ("query_string_too_long",),
    429: ("too_many_requests",),
    500: ("internal_error",),
    502: ("platform_error",),
    503: (
        *("platform_unavailable", "platform_throttled", "endpoint_misconfigured"),
        *("issuer_unavailable", "unavailable"),
    ),
    504: ("platform_timeout", "timeout"),
}
_GUARDED: Problems = {
    401: ("authentication_required", "invalid_token"),
    403: ("forbidden", "no_platform_user", "platform_denied"),
}
# A token is judged wherever one is sent.
_OPEN: Problems = {401: ("invalid_token",), 403: ("no_platform_user", "platform_denied")}
_WITH_BODY: Problems = {
    400: ("incomplete_body",),
    411: ("length_required",),
    413: ("too_large",),
    415: ("unsupported_encoding",),
    507: ("insufficient_storage",),
}
_REPEATABLE: Problems = {400: ("invalid_idempotency_key",), 409: ("in_flight",), 422: ("key_reused",)}


def refusals(documentation: Documentation, description: Description) -> dict[int, tuple[str, ...]]:
    """Every code that the operation may answer with, by status."""
    found: dict[int, dict[str, None]] = {}
    for problems in _applying(documentation, description):
        for status, codes in problems.items():
            found.setdefault(status, {}).update(dict.fromkeys(codes))
    return {status: tuple(sorted(codes)) for status, codes in sorted(found.items())}


def _applying(documentation: Documentation, description: Description) -> Iterable[Problems]:
    yield description.problems
    yield _ALWAYS
    yield _GUARDED if documentation.access.authentication_required else _OPEN
    if description.body is not None or description.bodies:
        yield _WITH_BODY
    if documentation.repeatable:
        yield _REPEATABLE
