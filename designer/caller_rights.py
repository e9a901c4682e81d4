"""What a caller may do: which endpoints let the caller in, why others do not, and under which row rules.

It is said of the configuration alone, as a request's roles and type are compared. No platform is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from designer.access_matrix import ANONYMOUS, AUTHENTICATED
from designer.configuration import Configuration, Endpoint
from designer.definitions import ExposedEntityDefinition, RowRuleEntry
from designer.readiness import State
from designer.sentences import Sentence

# In words, what an entry of the exposed entity lets its callers reach.
InWords = Callable[[ExposedEntityDefinition, RowRuleEntry], str]


@dataclass(frozen=True, slots=True)
class Standing:
    """A caller as endpoints see it. `type` empty: of any type; `is_anonymous`: without a token."""

    roles: frozenset[str] = frozenset()
    type: str = ""
    is_anonymous: bool = False

    @classmethod
    def of_column(cls, column: str) -> Standing:
        """Of a column of the permission matrix: callers with one role, with none, or without a token."""
        if column == ANONYMOUS:
            return cls(is_anonymous=True)
        return cls() if column == AUTHENTICATED else cls(frozenset({column}))


@dataclass(frozen=True, slots=True)
class RuleReach:
    """What the row rule of `exposed` lets a caller reach: the records of any of `entries`, those of the
    caller alone. `is_open`: there is no rule, or an entry for all records.
    """

    exposed: ExposedEntityDefinition
    entries: tuple[RowRuleEntry, ...]

    @property
    def is_open(self) -> bool:
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
    def may(self) -> bool:
        return not self.why_not

    @property
    def named(self) -> str:
        """The methods and path, as callers know it."""
        return f"{', '.join(self.endpoint.methods)} {self.endpoint.path}"


def rights_of(
    standing: Standing, configuration: Configuration, states: Mapping[int, State]
) -> list[EndpointRights]:
    """Every endpoint for the caller, by path and method. `states` are those of readiness, by row id."""
    found = [
        EndpointRights(
            id,
            endpoint,
            why_not(standing, endpoint, states.get(id)),
            tuple(reach_of(standing, endpoint)),
            endpoint.definition.row_rule is not None,
        )
        for id, endpoint in configuration.endpoints.items()
        if endpoint.problem is None
    ]
    return sorted(found, key=lambda one: (one.endpoint.path, one.endpoint.methods))


def why_not(standing: Standing, endpoint: Endpoint, state: State | None = None) -> str:
    """Why the caller may not call the endpoint; empty where it may."""
    if not endpoint.definition.enabled:
        return Sentence("The endpoint is a draft. It is not served.")
    if refusal := refused_by_access(standing, endpoint):
        return refusal
    if state is State.BLOCKED:
        return Sentence("The endpoint cannot be served as it is configured (503).")
    return ""


def refused_by_access(standing: Standing, endpoint: Endpoint) -> str:
    """Why *Access control* keeps the caller out; empty where it does not."""
    access = endpoint.definition.access
    if not access.authentication_required:
        return ""
    if standing.is_anonymous:
        return Sentence("The endpoint asks for a token (401).")
    if standing.type and standing.type not in access.caller_types:
        return Sentence(
            "The endpoint does not admit callers of type %(type)s (403). It admits: %(types)s.",
            type=standing.type,
            types=", ".join(access.caller_types) or "–",
        )
    if access.roles and standing.roles.isdisjoint(access.roles):
        return Sentence(
            "The caller has none of the roles that the endpoint asks for (403): %(roles)s.",
            roles=", ".join(access.roles),
        )
    return ""


def reach_of(standing: Standing, endpoint: Endpoint) -> Iterator[RuleReach]:
    """The row rules that count in what the endpoint does with records, for this caller."""
    for exposed in _ruling(endpoint):
        yield rule_reach(standing, exposed)


def rule_reach(standing: Standing, exposed: ExposedEntityDefinition) -> RuleReach:
    return RuleReach(exposed, tuple(entry for entry in exposed.row_rule if entry.is_for(standing.roles)))


def _ruling(endpoint: Endpoint) -> Iterator[ExposedEntityDefinition]:
    """The exposed entities whose row rules count: of the path's record and of a related one or, of a query,
    each of its entity and, where the endpoint says so, of the entities that it links to.
    """
    settings = endpoint.definition.settings
    query = settings.designed_query
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
    """What the caller reaches, an item for each entry."""
    if reach.is_open:
        return [Sentence("all records")]
    if not reach.entries:
        return [Sentence("no record: no entry of the row rule is for this caller")]
    return [say(reach.exposed, entry) for entry in reach.entries]
