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


def parameters_of(definition: EndpointDefinition) -> Mapping[str, tuple[Use, ...]]:
    """Where the parameters of an endpoint's query, its data fetchers and its row rule stand, by parameter."""
    own = definition.settings.designed_query
    # Of other kinds, the exposed entity is meant, which the definition does not name.
    root = own.entity if own else ""
    found: defaultdict[str, tuple[Use, ...]] = defaultdict(tuple)
    for query in (own, *(fetcher.query for fetcher in definition.fetchers)):
        for use in uses(query) if query else ():
            found[use.parameter] += (use,)
    for use in _uses(conditions_of_filter(definition.row_rule, None, {None: root})):
        found[use.parameter] += (use,)
    return dict(found)


def uses(query: DesignedQuery) -> Iterator[Use]:
    return _uses(conditions(query))


def conditions(query: DesignedQuery) -> Iterator[tuple[str, DesignedCondition]]:
    """All conditions of a query, each with the entity of its attribute; empty where that is not known."""
    entities: dict[str | None, str] = {None: query.entity, query.entity: query.entity}
    links = list(query.every_link)
    entities |= {link.alias: link.entity for link in links}
    yield from _of_group(query.filter, None, entities)
    for link in links:
        yield from _of_group(link.filter, link.alias, entities)


def conditions_of_filter(
    group: DesignedFilter | None, standing: str | None, entities: Mapping[str | None, str]
) -> Iterator[tuple[str, DesignedCondition]]:
    """Those of a filter that stands in the link `standing`, or in none, and of the links in it; `entities`
    are known by alias."""
    yield from _of_group(group, standing, entities)
    links = [] if group is None else list(group.every_link)
    known: dict[str | None, str] = {**entities}
    known |= {link.alias: link.entity for link in links}
    for link in links:
        yield from _of_group(link.filter, link.alias, known)


def _of_group(
    group: DesignedFilter | None, standing: str | None, entities: Mapping[str | None, str]
) -> Iterator[tuple[str, DesignedCondition]]:
    for item in () if group is None else group.items:
        if isinstance(item, DesignedCondition):
            alias = standing if item.link is None else item.link
            yield entities.get(alias, ""), item
        elif isinstance(item, DesignedFilter):
            yield from _of_group(item, standing, entities)


def takes_list(uses: Iterable[Use]) -> bool:
    """Whether a parameter stands for several values wherever it stands."""
    operators = {use.operator for use in uses}
    return bool(operators) and operators <= LISTS


def _uses(found: Iterable[tuple[str, DesignedCondition]]) -> Iterator[Use]:
    for entity, condition in found:
        for value in condition.values:
            if isinstance(value, Parameter):
                yield Use(value.name, entity, condition.attribute, condition.operator)
