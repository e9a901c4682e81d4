"""Which entities an endpoint's queries reach, and whether their row rules apply there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from crmclient.query.designed import DesignedQuery
from designer.configuration import Configuration, Endpoint
from designer.definitions import ExposedEntityDefinition
from designer.definitions.row_rules import is_open
from designer.types import holds_records

RECORDS: Final = "row_rule"


@dataclass(frozen=True, slots=True)
class Reach:
    """A query at `place` (a field of the endpoint) reads records of `entity`, itself or by a link.

    `place` is `RECORDS` for what a kind reads by a query that nobody designs. `is_ruled`: a row rule of the
    entity, or of the endpoint, applies to these records. `rule_at_hand`: the module has a row rule for the
    entity, which could apply.
    """

    place: str
    entity: str
    is_link: bool
    is_ruled: bool
    rule_at_hand: bool


def reach(endpoint: Endpoint) -> Iterator[Reach]:
    """Yield the entities that the endpoint itself, its own query and its data fetchers read.

    The record in the path is not meant.
    """
    definition = endpoint.definition
    entities_with_rule = ruled_among(endpoint.exposures)
    if endpoint.entity is not None and definition.settings.reaches_records:
        entity = endpoint.entity.entity
        rule_at_hand = entity in entities_with_rule
        is_ruled = rule_at_hand or definition.row_rule is not None
        yield Reach(RECORDS, entity, is_link=False, is_ruled=is_ruled, rule_at_hand=rule_at_hand)
    query = definition.settings.designed_query
    if query is not None:
        is_ruled = query.entity in entities_with_rule or definition.row_rule is not None
        rules_links = definition.settings.applies_linked_row_rules
        yield from _reach_of_query(
            "settings.query", query, is_ruled, entities_with_rule, rules_links=rules_links
        )
    for fetcher in definition.fetchers:
        if fetcher.query is not None:
            is_ruled = fetcher.apply_row_rules and fetcher.query.entity in entities_with_rule
            place = f"fetchers.{fetcher.name}.query"
            yield from _reach_of_query(place, fetcher.query, is_ruled, entities_with_rule, rules_links=False)


def reached_entities(endpoint: Endpoint) -> frozenset[str]:
    """Return the entities that the endpoint itself, its own query and its data fetchers read."""
    return frozenset(reached.entity for reached in reach(endpoint))


def exposures_read(endpoint: Endpoint) -> tuple[ExposedEntityDefinition, ...]:
    """Return the exposed entities that findings about the endpoint, and its description, depend on; its own
    first.
    """
    definition = endpoint.definition
    own_entity = () if endpoint.entity is None else (endpoint.entity,)
    if definition.settings.related_segment or any(
        holds_records(input_definition.type) for input_definition in definition.inputs
    ):
        return (*own_entity, *endpoint.exposures)
    reached = reached_entities(endpoint)
    if not reached:
        return own_entity
    return (*own_entity, *(exposed for exposed in endpoint.exposures if exposed.entity in reached))


def ruled_entities(configuration: Configuration) -> frozenset[str]:
    """Return the entities that have a row rule which hides records from some callers, in any module."""
    return ruled_among(configuration.entities)


def ruled_among(exposures: Iterable[ExposedEntityDefinition]) -> frozenset[str]:
    """Return the entities of `exposures` whose row rules hide records from some callers."""
    return frozenset(exposed.entity for exposed in exposures if not is_open(exposed.row_rule))


def _reach_of_query(
    place: str,
    query: DesignedQuery,
    is_ruled: bool,
    entities_with_rule: frozenset[str],
    *,
    rules_links: bool,
) -> Iterator[Reach]:
    """Yield what a query reaches: its own entity, and those of its links.

    `is_ruled`: a row rule applies to the records of its own entity. `rules_links`: the row rules of linked
    entities apply, too.
    """
    rule_at_hand = query.entity in entities_with_rule
    yield Reach(place, query.entity, is_link=False, is_ruled=is_ruled, rule_at_hand=rule_at_hand)
    for entity in dict.fromkeys(link.entity for link in query.every_link):
        has_rule = entity in entities_with_rule
        yield Reach(place, entity, is_link=True, is_ruled=rules_links and has_rule, rule_at_hand=has_rule)
