"""Endpoints made of a query. Its parameters become inputs, of types that fit their conditions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from crmclient.metadata import Attribute, Entity
from crmclient.query.bounds import MOST_COLUMNS
from crmclient.query.designed import DesignedColumn, DesignedLink, DesignedQuery
from designer.definitions import AccessDefinition, ColumnDefinition, EndpointDefinition, InputDefinition
from designer.endpoint_facts.parameter_types import parameter_input
from designer.endpoint_facts.query_parameters import uses
from designer.entity_exposure import columns_of_read, suggested_attributes
from designer.kinds import KINDS
from designer.names import USER_TYPE

# Returns the attributes of an entity by logical name.
Attributes = Callable[[str], Mapping[str, Attribute]]

QUERY_KINDS = tuple(kind for kind in reversed(KINDS.values()) if kind.settings.asks_query)
"""Kinds that ask a query of their own; the list by page, which holds however many rows there are, first."""


@dataclass(frozen=True, slots=True)
class WantedQuery:
    """The query endpoint to make. `kind` is a name of `QUERY_KINDS`, `name` the last segment of the path."""

    kind: str
    module: str
    name: str
    query: DesignedQuery
    caller_types: tuple[str, ...] = (USER_TYPE,)
    roles: tuple[str, ...] = ()
    enabled: bool = True


def query_endpoint(
    wanted_query: WantedQuery, entity: Entity, attributes: Attributes, common: Collection[str]
) -> EndpointDefinition:
    """Return the definition of the endpoint.

    A query without columns gets the record's id and suggested columns, with the names that an API gives them:
    `common` is that of `suggested_attributes`. `entity` is the query's own.
    """
    query = wanted_query.query
    columns: tuple[ColumnDefinition, ...] = ()
    if not _has_columns(query):
        attributes_by_name = attributes(entity.logical_name)
        chosen = [attributes_by_name[name] for name in suggested_attributes(attributes_by_name, common)]
        columns = columns_of_read(entity, attributes_by_name, chosen)[:MOST_COLUMNS]
        query = replace(query, columns=tuple(DesignedColumn(column.attribute) for column in columns))
    kind = KINDS[wanted_query.kind]
    return EndpointDefinition(
        kind=kind.name,
        module=wanted_query.module,
        name=wanted_query.name,
        title=entity.plural_label.text(),
        enabled=wanted_query.enabled,
        access=AccessDefinition(roles=wanted_query.roles, caller_types=wanted_query.caller_types),
        inputs=tuple(parameters(query, attributes)),
        columns=columns,
        settings=kind.settings.model_validate({"query": query}),
    )


def parameters(query: DesignedQuery, attributes: Attributes) -> Iterator[InputDefinition]:
    """Yield an input for each parameter of the query that some type fits."""
    parameter_uses = list(uses(query))
    for name in dict.fromkeys(use.parameter for use in parameter_uses):
        used = [
            (use.operator, attribute)
            for use in parameter_uses
            if use.parameter == name and (attribute := attributes(use.entity).get(use.attribute))
        ]
        if parameter_definition := parameter_input(name, used):
            yield parameter_definition


def _has_columns(source: DesignedQuery | DesignedLink) -> bool:
    """Whether the query, or a link at any depth, selects columns."""
    return bool(source.columns) or source.all_columns or any(_has_columns(link) for link in source.links)
