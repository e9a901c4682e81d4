"""`If-Match`: which version of a record a write is meant for."""

from __future__ import annotations

from typing import Any, TypeAlias

from django.http import HttpRequest

from runtime.http.conditions import strong_tags
from runtime.http.problems import Problem


def parameter(*, required: bool) -> dict[str, Any]:
    """`If-Match`, for the document."""
    return {**_PARAMETER, "required": True} if required else _PARAMETER


_PARAMETER: dict[str, Any] = {
    "name": "If-Match",
    "in": "header",
    "description": "The ETag of the version that is meant, or `*` for any. Another version is 412.",
    "schema": {"type": "string"},
}
PROBLEMS: dict[int, tuple[str, ...]] = {412: ("version_mismatch",), 428: ("if_match_required",)}

# The versions of which the record must have one; None: any.
Meant: TypeAlias = frozenset[str] | None


def versions_meant(request: HttpRequest, *, required: bool = False) -> Meant:
    """What `If-Match` says. Weak tags never match, so that there may be none.

    An entity tag is `"<version>.<digest>"` or `"<version>"`: only the version counts. Raises Problem 400, and
    428 when `required` and absent.
    """
    given = request.META.get("HTTP_IF_MATCH")
    if given is None:
        if required:
            raise Problem(428, "if_match_required", "Send If-Match with the ETag of the version you mean.")
        return None
    if given.strip() == "*":
        return None
    return frozenset(tag.partition(".")[0] for tag in strong_tags(given))
