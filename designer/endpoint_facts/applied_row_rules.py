"""The row rules that can apply to what an endpoint reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from designer.configuration import Endpoint
from designer.definitions import RowRuleEntry


class AppliedEntry(NamedTuple):
    """An entry of a row rule at `place`, a field of the endpoint or of an exposed entity. `entity` is that of
    the records which it lets through.
    """

    place: str
    entity: str
    entry: RowRuleEntry


def applied_entries(endpoint: Endpoint) -> Iterator[AppliedEntry]:
    """Yield the entries of all row rules that can apply to what the endpoint reads.

    Endpoints that create, to which some of these do not apply, are not told apart: only of cached answers
    somebody asks.
    """
    definition = endpoint.definition
    if definition.row_rule is not None:
        yield AppliedEntry("row_rule", _own_entity(endpoint), RowRuleEntry(filter=definition.row_rule))
    if endpoint.entity is not None:
        for entry in endpoint.entity.row_rule:
            yield AppliedEntry("entity.row_rule", endpoint.entity.entity, entry)
    ruled = set(_ruled_entities(endpoint))
    for exposure in endpoint.exposures:
        if exposure.entity in ruled:
            for entry in exposure.row_rule:
                yield AppliedEntry(f"entities.{exposure.segment}.row_rule", exposure.entity, entry)


def _own_entity(endpoint: Endpoint) -> str:
    """Return the entity whose records the endpoint's own row rule narrows; empty while it is not known."""
    query = endpoint.definition.settings.designed_query
    if query is not None:
        return query.entity
    return "" if endpoint.entity is None else endpoint.entity.entity


def _ruled_entities(endpoint: Endpoint) -> Iterator[str]:
    """Yield the entities to which the row rules of all their exposures in the module apply."""
    definition = endpoint.definition
    if endpoint.entity is not None and definition.settings.reaches_records:
        yield endpoint.entity.entity
    query = definition.settings.designed_query
    if query is not None:
        yield query.entity
        if definition.settings.applies_linked_row_rules:
            yield from (link.entity for link in query.every_link)
    for fetcher in definition.fetchers:
        if fetcher.query is not None and fetcher.apply_row_rules:
            yield fetcher.query.entity
