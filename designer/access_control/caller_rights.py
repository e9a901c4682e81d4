"""What a caller may do: which endpoints let the caller in, why others do not, and under which row rules.

The answers come from the configuration alone: roles and types are compared as for a request. The platform is
not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from designer.access_control.access_matrix import ANONYMOUS, AUTHENTICATED
from designer.configuration import Configuration, Endpoint
from designer.definitions import ExposedEntityDefinition, RowRuleEntry
from designer.readiness import State
from designer.sentences import Sentence

# Gives, in words, the records that an entry of the exposed entity's row rule lets its callers reach.
InWords = Callable[[ExposedEntityDefinition, RowRuleEntry], str]


@dataclass(frozen=True, slots=True)
class CallerFacts:
    """A caller as endpoints see it. `type` is empty for any caller type; `is_anonymous`: the caller has no
    token.
    """

    roles: frozenset[str] = frozenset()
    type: str = ""
    is_anonymous: bool = False

    @classmethod
    def of_column(cls, column: str) -> CallerFacts:
        """Return the callers of a column of the permission matrix: with one role, with none, or without
        a token.
        """
        if column == ANONYMOUS:
            return cls(is_anonymous=True)
        return cls() if column == AUTHENTICATED else cls(frozenset({column}))


@dataclass(frozen=True, slots=True)
class RuleReach:
    """The records that the row rule of `exposed` lets a caller reach.

    The caller reaches the records of any of `entries`, which are the entries for this caller. `is_open`:
    there is no row rule, or an entry for all records.
    """

    exposed: ExposedEntityDefinition
    entries: tuple[RowRuleEntry, ...]

    @property
    def is_open(self) -> bool:
        """Whether the caller reaches all records."""
        return not self.exposed.row_rule or any(entry.all_records for entry in self.entries)


@dataclass(frozen=True, slots=True)
class EndpointRights:
    """One endpoint for one caller. `why_not` is empty where the caller may call it."""

    id: int
    endpoint: Endpoint
    why_not: str
    reach: tuple[RuleReach, ...]
    # The endpoint has a row rule of its own, which narrows the others.
    is_narrowed: bool

    @property
    def may_call(self) -> bool:
        """Whether the caller may call the endpoint."""
        return not self.why_not

    @property
    def methods_and_path(self) -> str:
        """The methods and path, as callers know it."""
        return self.endpoint.methods_and_path


def rights_of(
    caller: CallerFacts, configuration: Configuration, states: Mapping[int, State]
) -> list[EndpointRights]:
    """Return the caller's rights on every endpoint that can be read, sorted by path and methods.

    `states` are the states of readiness by row id.
    """
    rights = [
        EndpointRights(
            id=id,
            endpoint=endpoint,
            why_not=why_not(caller, endpoint, states.get(id)),
            reach=tuple(reach_of(caller, endpoint)),
            is_narrowed=endpoint.definition.row_rule is not None,
        )
        for id, endpoint in configuration.endpoints.items()
        if endpoint.problem is None
    ]
    return sorted(rights, key=lambda right: (right.endpoint.path, right.endpoint.methods))


def why_not(caller: CallerFacts, endpoint: Endpoint, state: State | None = None) -> str:
    """Return why the caller may not call the endpoint; empty when the caller may."""
    if not endpoint.definition.enabled:
        return Sentence("The endpoint is a draft. It is not served.")
    if refusal := refused_by_access(caller, endpoint):
        return refusal
    if state is State.BLOCKED:
        return Sentence("The endpoint cannot be served as it is configured (503).")
    return ""


def refused_by_access(caller: CallerFacts, endpoint: Endpoint) -> str:
    """Return why *Access control* refuses the caller; empty when it does not."""
    access = endpoint.definition.access
    if not access.authentication_required:
        return ""
    if caller.is_anonymous:
        return Sentence("The endpoint asks for a token (401).")
    if caller.type and caller.type not in access.caller_types:
        return Sentence(
            "The endpoint does not admit callers of type %(type)s (403). It admits: %(types)s.",
            type=caller.type,
            types=", ".join(access.caller_types) or "–",
        )
    if access.roles and caller.roles.isdisjoint(access.roles):
        return Sentence(
            "The caller has none of the roles that the endpoint asks for (403): %(roles)s.",
            roles=", ".join(access.roles),
        )
    return ""


def reach_of(caller: CallerFacts, endpoint: Endpoint) -> Iterator[RuleReach]:
    """Yield what each row rule that applies to the endpoint lets the caller reach."""
    for exposed in _ruling_entities(endpoint):
        yield rule_reach(caller, exposed)


def rule_reach(caller: CallerFacts, exposed: ExposedEntityDefinition) -> RuleReach:
    """Return what the row rule of `exposed` lets the caller reach."""
    return RuleReach(exposed, tuple(entry for entry in exposed.row_rule if entry.is_for(caller.roles)))


def _ruling_entities(endpoint: Endpoint) -> Iterator[ExposedEntityDefinition]:
    """Yield the exposed entities whose row rules apply to the endpoint.

    For a query, these are the exposures of its entity and, if the endpoint says so, of the entities that it
    links to. For a kind that reaches all records of its entity, they are the exposures of that entity. For
    other kinds, they are the endpoint's own entity and that of the related record.
    """
    settings = endpoint.definition.settings
    query = settings.designed_query
    if query is None and settings.reaches_records and endpoint.entity is not None:
        own = endpoint.entity.entity
        yield from (exposed for exposed in endpoint.exposures if exposed.entity == own)
        return
    if query is None:
        if endpoint.entity is not None:
            yield endpoint.entity
        related = settings.related_segment
        yield from (exposed for exposed in endpoint.exposures if related and exposed.segment == related)
        return
    entities = {query.entity}
    if settings.applies_linked_row_rules:
        entities |= {link.entity for link in query.every_link}
    yield from (exposed for exposed in endpoint.exposures if exposed.entity in entities)


def in_words(reach: RuleReach, say: InWords) -> list[str]:
    """Return the records that the caller reaches, one text for each entry. `say` gives
    the text of an entry.
    """
    if reach.is_open:
        return [Sentence("all records")]
    if not reach.entries:
        return [Sentence("no record: no entry of the row rule is for this caller")]
    return [say(reach.exposed, entry) for entry in reach.entries]
