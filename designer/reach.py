"""Which entities an endpoint's queries reach, and whether their row rules apply there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crmclient.query.designed import DesignedQuery
from designer.configuration import Configuration, Endpoint
from designer.definitions import ExposedEntityDefinition
from designer.definitions.row_rules import is_open


@dataclass(frozen=True, slots=True)
class Reach:
    """A query at `place` (a field of the endpoint) reads records of `entity`, itself or by a link.

    `is_ruled`: a row rule of this entity, or of the endpoint, applies to what it reads. `rule_at_hand`: the
    module has one that could.
    """

    place: str
    entity: str
    is_link: bool
    is_ruled: bool
    rule_at_hand: bool


def reach(endpoint: Endpoint) -> Iterator[Reach]:
    """All that the endpoint's own query and its data fetchers read."""
    definition = endpoint.definition
    at_hand = ruled_among(endpoint.exposures)
    query = definition.settings.designed_query
    if query is not None:
        own = query.entity in at_hand or definition.row_rule is not None
        linked = definition.settings.applies_linked_row_rules
        yield from _of_query("settings.query", query, own, at_hand, linked=linked)
    for fetcher in definition.fetchers:
        if fetcher.query is not None:
            own = fetcher.apply_row_rules and fetcher.query.entity in at_hand
            yield from _of_query(f"fetchers.{fetcher.name}.query", fetcher.query, own, at_hand, linked=False)


def reached_entities(endpoint: Endpoint) -> frozenset[str]:
    return frozenset(one.entity for one in reach(endpoint))


def ruled_entities(configuration: Configuration) -> frozenset[str]:
    """The entities whose records some row rule keeps from somebody, in any module."""
    return ruled_among(configuration.entities)


def ruled_among(exposures: Iterable[ExposedEntityDefinition]) -> frozenset[str]:
    return frozenset(exposed.entity for exposed in exposures if not is_open(exposed.row_rule))


def _of_query(
    place: str, query: DesignedQuery, is_ruled: bool, at_hand: frozenset[str], *, linked: bool
) -> Iterator[Reach]:
    yield Reach(place, query.entity, False, is_ruled, query.entity in at_hand)
    for entity in dict.fromkeys(link.entity for link in query.every_link):
        yield Reach(place, entity, True, linked and entity in at_hand, entity in at_hand)
