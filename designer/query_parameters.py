"""The parameters of queries: in which conditions each of them stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from crmclient.query.designed import (
    DesignedCondition,
    DesignedFilter,
    DesignedLink,
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
    for use in _uses(definition.row_rule, None, {None: root}):
        found[use.parameter] += (use,)
    return dict(found)


def uses(query: DesignedQuery) -> Iterator[Use]:
    entities: dict[str | None, str] = {None: query.entity, query.entity: query.entity}
    links = list(_links(query.links))
    entities |= {link.alias: link.entity for link in links}
    yield from _uses(query.filter, None, entities)
    for link in links:
        yield from _uses(link.filter, link.alias, entities)


def takes_list(uses: Iterable[Use]) -> bool:
    """Whether a parameter stands for several values wherever it stands."""
    operators = {use.operator for use in uses}
    return bool(operators) and operators <= LISTS


def _links(links: Iterable[DesignedLink]) -> Iterator[DesignedLink]:
    for link in links:
        yield link
        yield from _links(link.links)


def _uses(
    group: DesignedFilter | None, standing: str | None, entities: Mapping[str | None, str]
) -> Iterator[Use]:
    for item in () if group is None else group.items:
        if isinstance(item, DesignedCondition):
            alias = standing if item.link is None else item.link
            for value in item.values:
                if isinstance(value, Parameter):
                    yield Use(value.name, entities.get(alias, ""), item.attribute, item.operator)
        else:
            yield from _uses(item, standing, entities)
