"""An attribute replaced, or left out, wherever the configuration names it.

Names in answers and of inputs stay. What is left out is what an answer holds and what a write sets, never a
condition: callers reach no other records than before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from crmclient.query.designed import DesignedFilter, DesignedQuery
from crmclient.query.other_attributes import AttributeChange, ChangedKeys, changed_filter, changed_query
from designer.attribute_uses import names_attributes
from designer.definitions import (
    BindingDefinition,
    ColumnDefinition,
    ConfigurationDocument,
    EndpointDefinition,
    ExposedEntityDefinition,
    FetcherDefinition,
    UserPropertyDefinition,
)
from designer.expressions.members import reads


def changed_document(
    document: ConfigurationDocument, change: AttributeChange, users: str
) -> ConfigurationDocument:
    """The configuration after the change. `users` is the entity of the platform's users."""
    entities = {(exposed.module, exposed.segment): exposed.entity for exposed in document.entities}
    types = {type.name: type.records(users) for type in document.caller_types}
    return document.model_copy(
        update={
            "endpoints": tuple(
                _endpoint(one, entities.get((one.module, one.exposure), ""), change)
                for one in document.endpoints
            ),
            "entities": tuple(_entity(one, change) for one in document.entities),
            "user_properties": tuple(_property(one, types, change) for one in document.user_properties),
        }
    )


def _endpoint(definition: EndpointDefinition, entity: str, change: AttributeChange) -> EndpointDefinition:
    settings, keys = definition.settings.with_attribute(entity, change)
    query = definition.settings.designed_query
    fetched = {fetcher.name: _fetched(fetcher, change) for fetcher in definition.fetchers}
    columns, bindings = definition.columns, definition.bindings
    if names_attributes(definition) and entity == change.entity:
        columns = _columns(columns, {change.old: change.new})
        bindings = tuple(_bindings(bindings, change))
    columns = _columns(columns, keys)
    root = query.entity if query is not None else entity
    made = definition.model_copy(
        update={
            "settings": settings,
            "columns": columns,
            "bindings": tuple(_with_fetched(one, fetched) for one in bindings),
            "row_rule": _filter(definition.row_rule, root, change),
            "fetchers": tuple(
                one.model_copy(update={"query": _query(one.query, change)}) for one in definition.fetchers
            ),
        }
    )
    if change.new is None or entity != change.entity or not names_attributes(definition):
        return made
    return _with_expressions(made, lambda text: _renamed(text, change.old, str(change.new)))


def _columns(columns: tuple[ColumnDefinition, ...], keys: ChangedKeys) -> tuple[ColumnDefinition, ...]:
    """A column keeps the name that callers know it by."""
    kept = []
    for column in columns:
        now = keys.get(column.attribute, column.attribute)
        if column.attribute == now:
            kept.append(column)
        elif now is not None:
            kept.append(column.model_copy(update={"attribute": now, "name": column.shown_as}))
    return tuple(kept)


def _bindings(bindings: Iterable[BindingDefinition], change: AttributeChange) -> Iterable[BindingDefinition]:
    for binding in bindings:
        if binding.attribute != change.old:
            yield binding
        elif change.new is not None:
            yield binding.model_copy(update={"attribute": change.new})


def _fetched(fetcher: FetcherDefinition, change: AttributeChange) -> ChangedKeys:
    if fetcher.query is None or change.new is None:
        return {}
    return changed_query(fetcher.query, change).keys


def _with_fetched(binding: BindingDefinition, fetched: Mapping[str, ChangedKeys]) -> BindingDefinition:
    if binding.source != "fetch":
        return binding
    name, _dot, key = str(binding.value or "").partition(".")
    now = fetched.get(name, {}).get(key)
    return binding if now is None else binding.model_copy(update={"value": f"{name}.{now}"})


def _query(query: DesignedQuery | None, change: AttributeChange) -> DesignedQuery | None:
    # What a data fetcher reads may be named anywhere: nothing of it is left out.
    if query is None or change.new is None:
        return query
    return changed_query(query, change).query


def _filter(filter: DesignedFilter | None, entity: str, change: AttributeChange) -> DesignedFilter | None:
    return None if filter is None else changed_filter(filter, entity, change)


def _entity(exposed: ExposedEntityDefinition, change: AttributeChange) -> ExposedEntityDefinition:
    if change.new is None:
        return exposed
    rule = tuple(
        entry.model_copy(update={"filter": _filter(entry.filter, exposed.entity, change)})
        for entry in exposed.row_rule
    )
    return exposed.model_copy(update={"row_rule": rule})


def _property(
    known: UserPropertyDefinition, entities: Mapping[str, str], change: AttributeChange
) -> UserPropertyDefinition:
    if known.kind != "field":
        return known
    entity = entities.get(known.caller_type, "")
    return known.model_copy(update={"attribute": change.name(entity, known.attribute)})


def _with_expressions(definition: EndpointDefinition, renamed: Callable[[str], str]) -> EndpointDefinition:
    columns = [one.model_copy(update={"expression": renamed(one.expression)}) for one in definition.columns]
    conditions = [
        one.model_copy(update={"expression": renamed(one.expression)}) for one in definition.preconditions
    ]
    bindings = [
        one.model_copy(update={"value": renamed(str(one.value))})
        if one.source == "expression" and one.value
        else one
        for one in definition.bindings
    ]
    return definition.model_copy(
        update={"columns": tuple(columns), "preconditions": tuple(conditions), "bindings": tuple(bindings)}
    )


def _renamed(text: str, old: str, new: str) -> str:
    """An expression that reads `record.new` where it read `record.old`."""
    for path, at in sorted(reads(text, "record"), key=lambda one: -one[1]) if text else ():
        if path and path[0] == old:
            field = text.index(old, at + len("record"))
            text = f"{text[:field]}{new}{text[field + len(old) :]}"
    return text
