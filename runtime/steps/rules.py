"""Row rules: the only records of an entity that callers of an endpoint reach."""

from __future__ import annotations

from collections.abc import Sequence

from crmclient import Guid, Platform
from crmclient.query.ast import Column, Condition, Filter, FilterItem, Operator, Page, Query
from crmclient.query.designed import DesignedFilter
from crmclient.query.resolving import prepare_filter
from crmclient.query.resolving.prepared import Needs, PreparedFilter
from designer.calendar import calendar
from designer.configuration import Endpoint
from designer.definitions import ExposedEntityDefinition
from runtime.request_context import Exchange
from runtime.steps.circumstances import circumstances


class RowRule:
    """All of `filters` on one entity. Raises QueryProblems when they do not fit it."""

    def __init__(self, entity: str, filters: Sequence[DesignedFilter], platform: Platform) -> None:
        self.entity = entity
        self._platform = platform
        self.primary_id = platform.entities()[entity].primary_id
        self._filters: list[PreparedFilter] = [
            prepare_filter(filter, entity, platform.attributes, calendar()) for filter in filters
        ]
        self.needs = Needs()
        self.attributes: frozenset[str] = frozenset()
        for prepared in self._filters:
            self.needs |= prepared.needs
            self.attributes |= prepared.attributes

    def filter(self, exchange: Exchange) -> Filter:
        """What this caller reaches now. Where a value of the caller or a fetcher is missing, nothing."""
        situation = circumstances(exchange, self.needs)
        if not self.needs.are_met(situation):
            return Filter((Condition(self.primary_id, Operator.NULL),))
        found = (prepared.resolve(situation) for prepared in self._filters)
        return Filter(tuple(filter for filter in found if filter is not None))

    def filter_of(self, id: Guid, exchange: Exchange) -> Filter:
        """The same, for one record."""
        return both(Condition(self.primary_id, Operator.EQ, (id,)), self.filter(exchange))

    def reaches(self, id: Guid, exchange: Exchange) -> bool:
        """Whether this caller reaches one record now. It asks the platform."""
        query = Query(self.entity, (Column(self.primary_id),), self.filter_of(id, exchange))
        return bool(self._platform.query(query, Page(size=1), call=exchange.call).rows)


def rule_of_record(endpoint: Endpoint, platform: Platform) -> RowRule | None:
    """What applies to the path's record: the exposed entity's rule, narrowed by the endpoint."""
    if endpoint.entity is None:
        return None
    filters = [endpoint.entity.row_rule, endpoint.definition.row_rule]
    return _rule(endpoint.entity.entity, filters, platform)


def rule_of_entity(endpoint: Endpoint, entity: str, platform: Platform) -> RowRule | None:
    """What applies to other records that an endpoint reaches: the rules of all exposures in its module."""
    filters = [exposure.row_rule for exposure in endpoint.exposures if exposure.entity == entity]
    return _rule(entity, filters, platform)


def rule_of_exposure(exposure: ExposedEntityDefinition, platform: Platform) -> RowRule | None:
    """What applies to records that an endpoint reaches as those of another exposed entity."""
    return _rule(exposure.entity, [exposure.row_rule], platform)


def rule_of_query(endpoint: Endpoint, entity: str, platform: Platform) -> RowRule | None:
    """What applies to the rows of a query on `entity`: its exposures' rules, narrowed by the endpoint."""
    filters = [exposure.row_rule for exposure in endpoint.exposures if exposure.entity == entity]
    return _rule(entity, [*filters, endpoint.definition.row_rule], platform)


def both(first: FilterItem | None, second: FilterItem | None) -> Filter:
    """A filter that holds where both do; None holds everywhere."""
    return Filter(tuple(item for item in (first, second) if item is not None))


def _rule(entity: str, filters: Sequence[DesignedFilter | None], platform: Platform) -> RowRule | None:
    given = [filter for filter in filters if filter is not None]
    return RowRule(entity, given, platform) if given else None
