"""Row rules: the only records of an entity that callers of an endpoint reach, by their roles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from crmclient import Guid, Platform
from crmclient.errors import UnknownEntity
from crmclient.query.ast import Column, Condition, Filter, FilterItem, Operator, Page, Query
from crmclient.query.designed import DesignedFilter
from crmclient.query.resolving import prepare_filter
from crmclient.query.resolving.prepared_queries import Needs, PreparedFilter
from designer.calendar import calendar
from designer.configuration import Endpoint
from designer.definitions import ExposedEntityDefinition, RowRuleEntry
from runtime.request_context import Exchange
from runtime.steps.circumstances import circumstances
from runtime.steps.link_aliases import aliases_of, with_free_aliases

OUTSIDE_ROW_RULE = "outside_row_rule"
"""The problem code of a write that would leave a record outside its row rule."""

# How many sets of roles a rule keeps a `CallersRule` for. Only roles that the rule names count.
_MOST_SETS = 1_024


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of a row rule. `filter` is None when the entry stands for all records."""

    definition: RowRuleEntry
    filter: PreparedFilter | None


class CallersRule:
    """A row rule as it applies to callers with certain roles.

    A record is reached if it matches at least one filter of each of `unions`. A union without any filter
    matches no record; without unions, every record is reached. `attributes` are those of the record that the
    filters compare.
    """

    def __init__(self, primary_id: str, unions: Sequence[Sequence[PreparedFilter]]) -> None:
        self._nothing = Condition(primary_id, Operator.NULL)
        self._unions = [tuple(union) for union in unions]
        prepared_filters = [prepared for union in unions for prepared in union]
        self.attributes: frozenset[str] = frozenset().union(
            *(prepared.attributes for prepared in prepared_filters)
        )
        self._needs = Needs()
        for prepared in prepared_filters:
            self._needs |= prepared.needs

    def filter(self, exchange: Exchange) -> Filter | None:
        """Return the filter of what the caller reaches now; None when the caller reaches all records.

        A rule entry that needs a missing value, of the caller or of a data fetcher, lets no record through.
        """
        if not self._unions:
            return None
        situation = circumstances(exchange, self._needs)
        items: list[FilterItem] = []
        for union in self._unions:
            met = [prepared for prepared in union if prepared.needs.are_met(situation)]
            alternatives = list(dict.fromkeys(prepared.resolve(situation) for prepared in met))
            # A filter without conditions resolves to None and holds for every record. So does its union,
            # which then adds nothing.
            filters = [alternative for alternative in alternatives if alternative is not None]
            if not met:
                items.append(self._nothing)
            elif len(filters) == len(alternatives):
                items.append(filters[0] if len(filters) == 1 else Filter(tuple(filters), any=True))
        return with_free_aliases(Filter(tuple(items)), set()) if items else None


class RowRule:
    """All of `rules` on one entity, compiled once. Each rule is a union of entries, which are for certain
    roles.

    `needs` is what all entries together compare with, `attributes` the attributes of the record that they
    compare. Raises UnknownEntity, and QueryProblems when a filter does not fit the entity.
    """

    def __init__(self, entity: str, rules: Sequence[Sequence[RowRuleEntry]], platform: Platform) -> None:
        self.entity = entity
        self._platform = platform
        entities = platform.entities()
        if entity not in entities:
            raise UnknownEntity(entity)
        self.primary_id = entities[entity].primary_id
        self._rules = [
            [_Entry(entry, _prepared_filter(entry, entity, platform)) for entry in rule] for rule in rules
        ]
        prepared_filters = [
            entry.filter for rule in self._rules for entry in rule if entry.filter is not None
        ]
        # What the entries for all roles need together.
        self.needs = Needs()
        for prepared in prepared_filters:
            self.needs |= prepared.needs
        self.attributes: frozenset[str] = frozenset().union(
            *(prepared.attributes for prepared in prepared_filters)
        )
        self._named_roles = frozenset(role for rule in rules for entry in rule for role in entry.roles)
        self._by_roles: dict[frozenset[str], CallersRule] = {}

    def of_caller(self, exchange: Exchange) -> CallersRule:
        """Return the rule as it applies to the caller's roles. It is cached for each set of the roles that
        the rule names.
        """
        roles = exchange.caller.roles & self._named_roles
        rule = self._by_roles.get(roles)
        if rule is None:
            if len(self._by_roles) >= _MOST_SETS:
                self._by_roles.clear()
            rule = self._by_roles[roles] = self._rule_for_roles(roles)
        return rule

    def _rule_for_roles(self, roles: frozenset[str]) -> CallersRule:
        """Return the rule for callers with these roles: a record has to match one filter of each union. A
        rule with an entry for all records adds no union; one without any entry for these roles adds an empty
        union, which no record matches.
        """
        unions = []
        for rule in self._rules:
            entries = [entry for entry in rule if entry.definition.is_for(roles)]
            if all(entry.filter is not None for entry in entries):
                unions.append([entry.filter for entry in entries if entry.filter is not None])
        return CallersRule(self.primary_id, unions)

    def filter(self, exchange: Exchange) -> Filter | None:
        """Return the filter of what this caller reaches now; None when the caller reaches all records."""
        return self.of_caller(exchange).filter(exchange)

    def filter_of(self, id: Guid, exchange: Exchange) -> Filter:
        """Return a filter for the record `id`, which holds only if this caller reaches it."""
        return both(Condition(self.primary_id, Operator.EQ, (id,)), self.filter(exchange))

    def reaches(self, id: Guid, exchange: Exchange) -> bool:
        """Whether this caller reaches one record now, if there is one. It asks the platform, unless the
        caller reaches all records.
        """
        rule_filter = self.filter(exchange)
        if rule_filter is None:
            return True
        filter_of_record = both(Condition(self.primary_id, Operator.EQ, (id,)), rule_filter)
        query = Query(self.entity, (Column(self.primary_id),), filter_of_record)
        return bool(self._platform.query(query, Page(size=1), call=exchange.call).rows)


def rule_of_record(endpoint: Endpoint, platform: Platform) -> RowRule | None:
    """Return the row rule for the record in the path: the exposed entity's, and the endpoint's own on top."""
    if endpoint.entity is None:
        return None
    return _rule(endpoint.entity.entity, [endpoint.entity], endpoint.definition.row_rule, platform)


def rule_of_entity(endpoint: Endpoint, entity: str, platform: Platform) -> RowRule | None:
    """Return the row rule for other records that an endpoint reaches: the rules of all exposures in its
    module.
    """
    return _rule(entity, _exposures_of(endpoint, entity), None, platform)


def rule_of_exposure(exposure: ExposedEntityDefinition, platform: Platform) -> RowRule | None:
    """Return the row rule for records that an endpoint reaches as those of another exposed entity."""
    return _rule(exposure.entity, [exposure], None, platform)


def rule_of_query(endpoint: Endpoint, entity: str, platform: Platform) -> RowRule | None:
    """Return the row rule for the rows of a query on `entity`: its exposures' rules, narrowed by the
    endpoint's.
    """
    return _rule(entity, _exposures_of(endpoint, entity), endpoint.definition.row_rule, platform)


def narrowed(query: Query, rule: Filter | None) -> Query:
    """Return the query, of which only rows stay that the filter of a row rule lets through."""
    if rule is not None and next(rule.links, None) is not None:
        rule = with_free_aliases(rule, aliases_of(query))
    return query if rule is None else replace(query, filter=both(query.filter, rule))


def both(first: FilterItem | None, second: FilterItem | None) -> Filter:
    """Return a filter that holds where both of these hold. None in place of one holds everywhere."""
    return Filter(tuple(item for item in (first, second) if item is not None))


def _exposures_of(endpoint: Endpoint, entity: str) -> list[ExposedEntityDefinition]:
    """Return the exposed entities of the endpoint's module that stand for `entity`."""
    return [exposure for exposure in endpoint.exposures if exposure.entity == entity]


def _rule(
    entity: str,
    exposures: Iterable[ExposedEntityDefinition],
    own_filter: DesignedFilter | None,
    platform: Platform,
) -> RowRule | None:
    """Return the rule of an entity's exposures, narrowed by the endpoint's own filter; None without any rule
    or filter.
    """
    rules = [exposure.row_rule for exposure in exposures if exposure.row_rule]
    if own_filter is not None:
        rules.append((RowRuleEntry(filter=own_filter),))
    return RowRule(entity, rules, platform) if rules else None


def _prepared_filter(entry: RowRuleEntry, entity: str, platform: Platform) -> PreparedFilter | None:
    """Return the filter of an entry, compiled; None when the entry stands for all records."""
    if entry.filter is None:
        return None
    return prepare_filter(entry.filter, entity, platform.attributes, calendar())
