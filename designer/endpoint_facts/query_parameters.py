"""The conditions of queries, and in which of them each parameter stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from crmclient.query.designed import (
    DesignedCondition,
    DesignedFilter,
    DesignedOperator,
    DesignedQuery,
    Parameter,
    values_taken,
)
from crmclient.query.shape import LISTS
from designer.definitions import EndpointDefinition


@dataclass(frozen=True, slots=True)
class Use:
    """One condition, `entity.attribute operator @parameter`."""

    parameter: str
    entity: str
    attribute: str
    operator: DesignedOperator

    @property
    def condition(self) -> DesignedCondition:
        """The condition with this parameter alone, as often as the operator takes values."""
        values = (Parameter(self.parameter),) * (values_taken(self.operator) or 1)
        return DesignedCondition(self.attribute, self.operator, values)


def parameters_of(definition: EndpointDefinition) -> Mapping[str, tuple[Use, ...]]:
    """Return the uses of each parameter in the endpoint's query, its data fetchers and its row rule."""
    designed_query = definition.settings.designed_query
    # Without a query, the row rule is of the exposed entity, which the definition does not name.
    root = designed_query.entity if designed_query else ""
    uses_by_parameter: defaultdict[str, tuple[Use, ...]] = defaultdict(tuple)
    for query in (designed_query, *(fetcher.query for fetcher in definition.fetchers)):
        for use in uses(query) if query else ():
            uses_by_parameter[use.parameter] += (use,)
    for use in _uses_in_conditions(conditions_of_filter(definition.row_rule, None, {None: root})):
        uses_by_parameter[use.parameter] += (use,)
    return dict(uses_by_parameter)


def uses(query: DesignedQuery) -> Iterator[Use]:
    """Yield each use of a parameter in the conditions of a query."""
    return _uses_in_conditions(conditions(query))


def conditions(query: DesignedQuery) -> Iterator[tuple[str, DesignedCondition]]:
    """Yield all conditions of a query, each with the entity of its attribute; empty where that
    is not known.
    """
    # The entity of each alias. A condition in a link may name the query's own entity instead of an alias.
    entities: dict[str | None, str] = {None: query.entity, query.entity: query.entity}
    links = list(query.every_link)
    entities |= {link.alias: link.entity for link in links}
    yield from _conditions_of_group(query.filter, None, entities)
    for link in links:
        yield from _conditions_of_group(link.filter, link.alias, entities)


def conditions_of_filter(
    group: DesignedFilter | None, holder: str | None, entities: Mapping[str | None, str]
) -> Iterator[tuple[str, DesignedCondition]]:
    """Yield the conditions of a filter and of the links in it, each with its entity as `conditions` does.

    `holder` is the alias of the link that the filter belongs to; None: it belongs to no link. `entities`
    gives the entity of each alias.
    """
    yield from _conditions_of_group(group, holder, entities)
    links = [] if group is None else list(group.every_link)
    entities_by_alias: dict[str | None, str] = {**entities}
    entities_by_alias |= {link.alias: link.entity for link in links}
    for link in links:
        yield from _conditions_of_group(link.filter, link.alias, entities_by_alias)


def _conditions_of_group(
    group: DesignedFilter | None, holder: str | None, entities: Mapping[str | None, str]
) -> Iterator[tuple[str, DesignedCondition]]:
    """Yield the conditions of a filter and of filters in it, each with its entity; "" for an unknown alias.

    `holder` is the alias of the link that the filter belongs to, None for the query itself.
    """
    for item in () if group is None else group.items:
        if isinstance(item, DesignedCondition):
            alias = holder if item.link is None else item.link
            yield entities.get(alias, ""), item
        elif isinstance(item, DesignedFilter):
            yield from _conditions_of_group(item, holder, entities)


def takes_list(uses: Iterable[Use]) -> bool:
    """Whether all `uses` of a parameter, of which there is at least one, compare with several values."""
    operators = {use.operator for use in uses}
    return bool(operators) and operators <= LISTS


def _uses_in_conditions(placed_conditions: Iterable[tuple[str, DesignedCondition]]) -> Iterator[Use]:
    """Yield each use of a parameter. A condition on two parameters gives two."""
    for entity, condition in placed_conditions:
        for value in condition.values:
            if isinstance(value, Parameter):
                yield Use(value.name, entity, condition.attribute, condition.operator)
