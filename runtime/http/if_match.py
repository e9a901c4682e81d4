"""`If-Match`: which version of a record a write is meant for."""

from __future__ import annotations

from typing import Any, TypeAlias

from django.http import HttpRequest
from django.utils.translation import gettext_noop

from designer.kinds.versions import VersionSettings
from designer.sentences import Sentence
from runtime.http.conditions import strong_tags
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem

_PARAMETER: dict[str, Any] = {
    "name": "If-Match",
    "in": "header",
    "description": gettext_noop(
        "The ETag of the version that is meant, or `*` for any. Another version is 412."
    ),
    "schema": {"type": "string"},
}

# The versions of which the record must have one; None: any.
WantedVersions: TypeAlias = frozenset[str] | None


class Versions:
    """Reads `If-Match` for an endpoint. `attribute` holds the versions of its records; None for records
    without versions.

    `are_kept` says whether records have versions. Raises Misconfigured when a version is required of records
    without versions.
    """

    def __init__(self, attribute: str | None, settings: VersionSettings) -> None:
        self.are_kept = attribute is not None
        self._required = settings.require_if_match
        if self._required and not self.are_kept:
            raise Misconfigured(Sentence("If-Match is required, but its records keep no versions"))

    def wanted(self, request: HttpRequest) -> WantedVersions:
        """Return what `If-Match` asks for. Weak tags never match, so the result may be empty.

        An entity tag is `"<version>.<digest>"` or `"<version>"`: only the version counts. It is empty for a
        record without one. Raises Problem 400, and 428 when it is required and absent.
        """
        if_match = request.META.get("HTTP_IF_MATCH")
        if if_match is None:
            if self._required:
                raise Problem(
                    428, "if_match_required", "Send If-Match with the ETag of the version you mean."
                )
            return None
        if if_match.strip() == "*":
            return None
        if not self.are_kept:
            # A caller who sends a tag relies on it: a write all the same could overwrite a change of somebody
            # else.
            raise Problem(
                400,
                "if_match_unsupported",
                "The platform keeps no versions of these records. Leave If-Match out, or send *.",
            )
        tags = strong_tags(if_match)
        if tags and all(tag.startswith(".") for tag in tags):
            # A read gave this tag: the platform told no version of the record.
            raise Problem(
                400,
                "if_match_unsupported",
                "The platform keeps no version of this record. Leave If-Match out, or send *.",
            )
        return frozenset(tag.partition(".")[0] for tag in tags)

    @staticmethod
    def headers(version: str | None) -> dict[str, str]:
        """Return the `ETag` of a record that has been written; nothing where its version is not known: the
        platform tells none to callers who may not read the record.
        """
        return {} if version is None else {"ETag": f'"{version}"'}

    def parameters(self) -> tuple[dict[str, Any], ...]:
        """Return the documentation of the `If-Match` header; empty when records keep no versions."""
        if not self.are_kept:
            return ()
        return ({**_PARAMETER, "required": True} if self._required else _PARAMETER,)

    def problems(self, *bad_requests: str) -> dict[int, tuple[str, ...]]:
        """Return the problem codes by status, for the OpenAPI document; `bad_requests` are the endpoint's
        own for 400.
        """
        if not self.are_kept:
            return {400: (*bad_requests, "if_match_unsupported")}
        return {
            400: (*bad_requests, "invalid_if_match", "if_match_unsupported"),
            412: ("version_mismatch",),
            428: ("if_match_required",),
        }
