"""`If-Match`: which version of a record a write is meant for."""

from __future__ import annotations

from typing import Any

from crmclient import Platform
from crmclient.errors import VersionMismatch
from runtime.conditions import strong_tags
from runtime.exchange import Exchange
from runtime.problems import Problem

PARAMETER: dict[str, Any] = {
    "name": "If-Match",
    "in": "header",
    "description": "The ETag of the version that is meant, or `*` for any. Another version is 412.",
    "schema": {"type": "string"},
}
PROBLEMS: dict[int, tuple[str, ...]] = {412: ("version_mismatch",), 428: ("if_match_required",)}


def version_to_write(exchange: Exchange, platform: Platform, entity: str, *, required: bool) -> str | None:
    """The version that the record must have; None: any.

    An entity tag is `"<version>.<digest>"` or `"<version>"`: only the version counts.
    Raises Problem 400, 428 when `required` and absent; VersionMismatch, RecordNotFound.
    """
    given = exchange.request.META.get("HTTP_IF_MATCH")
    if given is None:
        if required:
            raise Problem(428, "if_match_required", "Send If-Match with the ETag of the version you mean.")
        return None
    if given.strip() == "*":
        return None
    versions = {tag.partition(".")[0] for tag in strong_tags(given)}
    if len(versions) == 1:
        return versions.pop()
    # The platform takes one version only. Weak tags never match, but the record may not even be there.
    present = platform.retrieve(entity, exchange.record_id, (), call=exchange.call).version
    if present not in versions:
        raise VersionMismatch(entity, exchange.record_id)
    return present
