"""The keys of cached answers: everything that an answer depends on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from django.conf import settings

from crmclient import Platform
from designer.configuration import Endpoint
from designer.endpoint_facts.answer_sharing import sharing
from designer.endpoint_facts.entities_read import entities_read
from runtime.caching.generations import Generations
from runtime.digests import digest_of, joined
from runtime.http.problems import Problem
from runtime.request_context import Exchange

# A part of every key. Raise it when this code would misread the entries of earlier code.
_FORMAT = "1"
# What decides, beside the definition, what is asked and whom.
_SETTINGS = (
    *("CRM_URL", "DATABASE_URL", "CRM_TIME_ZONE"),
    *("CRM_FISCAL_YEAR_START", "CRM_FISCAL_PERIODS", "CRM_FISCAL_YEAR_NAME"),
)


# All parts of a key. The answers of this process are found by them; those of the shared store by their
# digest.
Key: TypeAlias = tuple[str, ...]


class AnswerKeys:
    """The keys of one endpoint's answers, at one state of its configuration and of the metadata.

    `metadata` is the revision of the metadata. `answers_json` is False for an endpoint that answers files.
    Raises a MetadataError where what it reads cannot be told.
    """

    def __init__(self, endpoint: Endpoint, platform: Platform, metadata: str, *, answers_json: bool) -> None:
        self._sharing = sharing(endpoint)
        self._reads = entities_behind(endpoint, platform)
        # Which media type of a file is acceptable is judged by its operation, so a key has the Accept header.
        self.are_files = not answers_json
        self._impersonates = bool(settings.PORTICO["CRM_IMPERSONATE"])
        parts = [_FORMAT, metadata, *(str(settings.PORTICO[name]) for name in _SETTINGS)]
        parts.append(endpoint.definition.model_dump_json())
        if endpoint.entity is not None:
            parts.append(endpoint.entity.model_dump_json())
        # The empty part keeps an exposed entity apart from an exposure: both are definitions of one kind.
        parts += ["", *(exposure.model_dump_json() for exposure in endpoint.exposures)]
        self._endpoint = digest_of(parts)
        depends_on_caller = self._sharing.is_by_caller or self._sharing.is_by_roles or self._impersonates
        # What `shared_by` returns where all callers share one answer; None where they do not.
        self._everybody = None if depends_on_caller else joined([""])
        # The generations at the last request, and their text for the entities in `_reads`. Both stay the same
        # until somebody writes, so the text is not made for each request.
        self._latest: tuple[Generations | None, str] = (None, "")

    @property
    def are_of_everybody(self) -> bool:
        """Whether all callers share one answer."""
        return self._everybody is not None

    def shared_by(self, exchange: Exchange) -> str | None:
        """Return a text that is the same for all callers who share answers; None when each caller has
        answers of their own.
        """
        if self._everybody is not None:
            return self._everybody
        if self._sharing.is_by_caller:
            return None
        common = [self._acting_user(exchange)]
        caller, roles = exchange.caller, self._sharing.roles
        if roles is None:
            common += ["anonymous" if caller.is_anonymous else "known", *sorted(caller.roles)]
        elif roles:
            common += sorted(caller.roles & roles)
        return joined(common)

    def key(
        self, exchange: Exchange, generations: Generations, properties: Mapping[str, Any] | None = None
    ) -> Key:
        """Return the cache key of the answer to a request.

        The caller's properties are read, unless `properties` has them. Raises what reading them raises,
        except Problem 401 and 403.
        """
        request = exchange.request
        latest_generations, generations_text = self._latest
        if latest_generations is not generations:
            generations_text = generations.of(self._reads)
            self._latest = (generations, generations_text)
        question = (
            self._endpoint,
            request.path,
            str(request.META.get("QUERY_STRING", "")),
            str(request.META.get("HTTP_ACCEPT", "")) if self.are_files else "",
            generations_text,
        )
        shared = exchange.shared_by
        if shared is None:
            return (*question, *self._caller_parts(exchange, properties))
        return (*question, "shared", shared)

    def _caller_parts(self, exchange: Exchange, properties: Mapping[str, Any] | None) -> Iterable[str]:
        """Yield everything that is known of the caller: another token of the same caller may have other
        claims.
        """
        caller = exchange.caller
        yield from ("own", self._acting_user(exchange), caller.issuer, caller.subject, caller.type)
        yield str(caller.record or "")
        yield repr(sorted(caller.roles))
        yield repr(sorted(caller.claims.items()))
        yield repr(caller.profile)
        if self._sharing.properties:
            yield _as_properties(properties) if properties is not None else _properties(exchange)

    def _acting_user(self, exchange: Exchange) -> str:
        """Return the platform user that the call is made as, since the platform checks that user's
        rights; empty otherwise.
        """
        return str(exchange.call.caller or "") if self._impersonates else ""


def entities_behind(endpoint: Endpoint, platform: Platform) -> frozenset[str] | None:
    """Return the entities whose records an endpoint's answers are read from; None when any entity is
    possible.
    """
    entities, notes = entities_read(endpoint, platform.attributes), platform.conventions.notes
    if entities is None or notes is None or not endpoint.definition.settings.reads_notes:
        return entities
    return entities | {notes.entity}


def _properties(exchange: Exchange) -> str:
    """Return the caller's properties as text; for a caller without properties, the code of the 401 or 403.

    The operation itself raises that refusal.
    """
    try:
        return _as_properties(exchange.user)
    except Problem as problem:
        if problem.status_code in (401, 403):
            return str(problem.code)
        raise


def _as_properties(values: Mapping[str, Any]) -> str:
    """Return a text for the values of properties: other values give another text."""
    return repr(sorted(values.items()))
