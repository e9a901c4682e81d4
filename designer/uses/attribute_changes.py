"""Replacing an attribute, or leaving it out, wherever the configuration names it.

Names in answers and of inputs stay. An attribute is left out of answers and writes, but never of conditions,
so that callers reach the same records as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from crmclient.query.designed import DesignedFilter, DesignedQuery
from crmclient.query.other_attributes import AttributeChange, ChangedKeys, changed_filter, changed_query
from designer.definitions import (
    BindingDefinition,
    ColumnDefinition,
    ConfigurationDocument,
    EndpointDefinition,
    ExposedEntityDefinition,
    FetcherDefinition,
    UserPropertyDefinition,
)
from designer.expressions.members import reads_of_name
from designer.uses.attribute_uses import names_attributes


def changed_document(
    document: ConfigurationDocument, change: AttributeChange, users_entity: str
) -> ConfigurationDocument:
    """Return the configuration after the change. `users_entity` is the entity of the platform's users."""
    entities = {(exposed.module, exposed.segment): exposed.entity for exposed in document.entities}
    types = {type.name: type.records(users_entity) for type in document.caller_types}
    return document.model_copy(
        update={
            "endpoints": tuple(
                _changed_endpoint(endpoint, entities.get((endpoint.module, endpoint.exposure), ""), change)
                for endpoint in document.endpoints
            ),
            "entities": tuple(_changed_entity(entity, change) for entity in document.entities),
            "user_properties": tuple(
                _changed_property(user_property, types, change) for user_property in document.user_properties
            ),
        }
    )


def _changed_endpoint(
    definition: EndpointDefinition, entity: str, change: AttributeChange
) -> EndpointDefinition:
    """Return an endpoint after the change. `entity` is its exposed entity; empty without one."""
    settings, keys = definition.settings.with_attribute(entity, change)
    query = definition.settings.designed_query
    keys_by_fetcher = {
        fetcher.name: _changed_fetcher_keys(fetcher, change) for fetcher in definition.fetchers
    }
    columns, bindings = definition.columns, definition.bindings
    if names_attributes(definition) and entity == change.entity:
        columns = _changed_columns(columns, {change.old: change.new})
        bindings = tuple(_changed_bindings(bindings, change))
    columns = _changed_columns(columns, keys)
    root = query.entity if query is not None else entity
    changed_definition = definition.model_copy(
        update={
            "settings": settings,
            "columns": columns,
            "bindings": tuple(_changed_fetch_binding(binding, keys_by_fetcher) for binding in bindings),
            "row_rule": _changed_filter(definition.row_rule, root, change),
            "fetchers": tuple(
                fetcher.model_copy(update={"query": _changed_fetcher_query(fetcher.query, change)})
                for fetcher in definition.fetchers
            ),
        }
    )
    if change.new is None or entity != change.entity or not names_attributes(definition):
        return changed_definition
    return _with_expressions(changed_definition, lambda text: _renamed(text, change.old, str(change.new)))


def _changed_columns(
    columns: tuple[ColumnDefinition, ...], keys: ChangedKeys
) -> tuple[ColumnDefinition, ...]:
    """Return the columns after the keys that rows are known by have changed: `keys` are the new ones by the
    old ones. A column whose new key is None is left out; any other keeps the name that callers know.
    """
    changed_columns = []
    for column in columns:
        new_attribute = keys.get(column.attribute, column.attribute)
        if column.attribute == new_attribute:
            changed_columns.append(column)
        elif new_attribute is not None:
            changed_columns.append(
                column.model_copy(update={"attribute": new_attribute, "name": column.shown_as})
            )
    return tuple(changed_columns)


def _changed_bindings(
    bindings: Iterable[BindingDefinition], change: AttributeChange
) -> Iterable[BindingDefinition]:
    """Yield the bindings with the new attribute in place of the old one, or without it."""
    for binding in bindings:
        if binding.attribute != change.old:
            yield binding
        elif change.new is not None:
            yield binding.model_copy(update={"attribute": change.new})


def _changed_fetcher_keys(fetcher: FetcherDefinition, change: AttributeChange) -> ChangedKeys:
    """Return the new keys of the row that a data fetcher finds, by the old ones. Keys that stay are not among
    them.
    """
    if fetcher.query is None or change.new is None:
        return {}
    return changed_query(fetcher.query, change).keys


def _changed_fetch_binding(
    binding: BindingDefinition, fetched: Mapping[str, ChangedKeys]
) -> BindingDefinition:
    """Return a binding to a column of a data fetcher with the new key of the column.

    `fetched`: the new keys by the old ones, for each fetcher.
    """
    if binding.source != "fetch":
        return binding
    name, _dot, key = str(binding.value or "").partition(".")
    new_key = fetched.get(name, {}).get(key)
    return binding if new_key is None else binding.model_copy(update={"value": f"{name}.{new_key}"})


def _changed_fetcher_query(query: DesignedQuery | None, change: AttributeChange) -> DesignedQuery | None:
    """Return the query of a data fetcher after the change."""
    # A column of a data fetcher may be named anywhere, so none is left out.
    if query is None or change.new is None:
        return query
    return changed_query(query, change).query


def _changed_filter(
    filter: DesignedFilter | None, entity: str, change: AttributeChange
) -> DesignedFilter | None:
    """Return a filter on `entity` after the change; None for no filter."""
    return None if filter is None else changed_filter(filter, entity, change)


def _changed_entity(exposed: ExposedEntityDefinition, change: AttributeChange) -> ExposedEntityDefinition:
    """Return an exposed entity after the change: only its row rule names attributes."""
    if change.new is None:
        # A row rule has conditions alone, and those are never left out.
        return exposed
    rule = tuple(
        entry.model_copy(update={"filter": _changed_filter(entry.filter, exposed.entity, change)})
        for entry in exposed.row_rule
    )
    return exposed.model_copy(update={"row_rule": rule})


def _changed_property(
    user_property: UserPropertyDefinition, entities: Mapping[str, str], change: AttributeChange
) -> UserPropertyDefinition:
    """Return a user property after the change. `entities` are those of the records of callers, by caller
    type.
    """
    if user_property.kind != "field":
        return user_property
    entity = entities.get(user_property.caller_type, "")
    return user_property.model_copy(update={"attribute": change.name(entity, user_property.attribute)})


def _with_expressions(definition: EndpointDefinition, rename: Callable[[str], str]) -> EndpointDefinition:
    """Return the definition with all of its expressions as `rename` gives them."""
    columns = [
        column.model_copy(update={"expression": rename(column.expression)}) for column in definition.columns
    ]
    conditions = [
        precondition.model_copy(update={"expression": rename(precondition.expression)})
        for precondition in definition.preconditions
    ]
    bindings = [
        binding.model_copy(update={"value": rename(str(binding.value))})
        if binding.source == "expression" and binding.value
        else binding
        for binding in definition.bindings
    ]
    return definition.model_copy(
        update={"columns": tuple(columns), "preconditions": tuple(conditions), "bindings": tuple(bindings)}
    )


def _renamed(text: str, old: str, new: str) -> str:
    """Return an expression that reads `record.new` where `text` reads `record.old`."""
    # From the end, so that the offsets before a replaced name stay right.
    for path, offset in sorted(reads_of_name(text, "record"), key=lambda item: -item[1]) if text else ():
        if path and path[0] == old:
            field = text.index(old, offset + len("record"))
            text = f"{text[:field]}{new}{text[field + len(old) :]}"
    return text
