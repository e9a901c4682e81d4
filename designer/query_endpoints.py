"""Endpoints made of a query. Its parameters become inputs, of types that fit their conditions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from crmclient.metadata import Attribute, Entity
from crmclient.query.bounds import MOST_COLUMNS
from crmclient.query.designed import DesignedColumn, DesignedLink, DesignedQuery
from crmclient.query.selected_columns import selected_columns
from designer.definitions import AccessDefinition, ColumnDefinition, EndpointDefinition, InputDefinition
from designer.endpoint_facts.column_keys import keys_in_answer
from designer.endpoint_facts.parameter_types import parameter_input
from designer.endpoint_facts.query_parameters import uses
from designer.entity_exposure import ID, columns_of_read, suggested_attributes
from designer.kinds import KINDS
from designer.names import USER_TYPE, numbered, output_key
from designer.queries.answered_columns import answered_attributes
from designer.readiness.fixes import names_in_api

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

    Columns get the names that an API gives them, unless the query gives them an alias. A query without
    columns gets the record's id and suggested columns: `common` is that of `suggested_attributes`. `entity`
    is the query's own.
    """
    query = wanted_query.query
    if _has_columns(query):
        columns = _columns(query, attributes)
    else:
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


def _columns(query: DesignedQuery, attributes: Attributes) -> tuple[ColumnDefinition, ...]:
    """Return a column for each key of the query's rows. Of two with one name, the later gets a number."""
    answered = answered_attributes(query, attributes)
    # What the metadata lack has no key in `answered`, and is a problem of the query.
    named = {key: name for key, name in _names_by_key(query, "", attributes) if key in answered}
    # Columns that are called like their keys stay so: an alias was chosen by whoever wrote the query.
    columns = {key: ColumnDefinition(attribute=key) for key, name in named.items() if not name}
    taken = {own_key for key, column in columns.items() for own_key in _keys(column, answered[key])}
    for key, name in named.items():
        if name:
            candidates = (ColumnDefinition(attribute=key, name=free) for free in numbered(name, ""))
            columns[key] = next(
                column for column in candidates if taken.isdisjoint(_keys(column, answered[key]))
            )
            taken |= _keys(columns[key], answered[key])
    return tuple(columns[key] for key in named)


def _keys(column: ColumnDefinition, attribute: Attribute) -> frozenset[str]:
    """Return the keys of a column in an answer with labels, in lower case."""
    return frozenset(key.lower() for key in keys_in_answer(column, attribute, labels=True))


def _names_by_key(
    source: DesignedQuery | DesignedLink, link: str, attributes: Attributes
) -> Iterator[tuple[str, str]]:
    """Yield the key of each column of a query or link and of the links in it, with the name that an API
    gives it, such as `contactLastName` for `contact.lastname`; "" where it is called like its key.

    `link` is the alias of the link, "" for the query.
    """
    own_attributes = attributes(source.entity)
    public = names_in_api(own_attributes)
    for column in selected_columns(source, own_attributes):
        attribute = own_attributes.get(column.attribute)
        name = ID if attribute is not None and attribute.is_primary_id else public.get(column.attribute, "")
        if column.alias:
            yield column.alias, ""
        elif link:
            yield f"{link}.{column.attribute}", name and output_key(f"{link} {name}")
        else:
            yield column.attribute, "" if name == column.attribute else name
    for nested in source.links:
        if nested.type.joins:
            yield from _names_by_key(nested, nested.alias, attributes)


def _has_columns(source: DesignedQuery | DesignedLink) -> bool:
    """Whether the query, or a link at any depth, selects columns."""
    return bool(source.columns) or source.all_columns or any(_has_columns(link) for link in source.links)
