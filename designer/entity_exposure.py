"""The usual operations of an entity, designed at once: create, read, update, delete and a list by page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from crmclient.conventions import Ability
from crmclient.metadata import Attribute, Entity, RequiredLevel
from crmclient.query.ast import Order
from crmclient.query.bounds import MOST_COLUMNS
from crmclient.query.designed import DesignedColumn, DesignedQuery
from designer.definitions import (
    AccessDefinition,
    BindingDefinition,
    ColumnDefinition,
    EndpointDefinition,
    EndpointSettings,
    InputDefinition,
)
from designer.kinds.create import CREATE
from designer.kinds.delete import DELETE
from designer.kinds.operation_kind import OperationKind
from designer.kinds.queries import MULTI_QUERY, PAGINATED_QUERY, MultiQuerySettings, PaginatedQuerySettings
from designer.kinds.read import READ
from designer.kinds.update import UPDATE
from designer.names import USER_TYPE
from designer.readiness.fixes import input_for, names_in_api
from designer.types import natural_type

ID = "id"
"""What answers call the id of their record."""

USUAL = (CREATE, READ, UPDATE, DELETE, PAGINATED_QUERY)
EXPOSING_KINDS = (*USUAL, MULTI_QUERY)
"""The kinds of the endpoints that exposing an entity can make, on one platform or another."""
_LISTS = (PAGINATED_QUERY, MULTI_QUERY)


@dataclass(frozen=True, slots=True)
class Exposure:
    """What to expose of an entity, and how. `operations` are names of kinds, `attributes` logical names."""

    module: str
    segment: str
    operations: Collection[str]
    attributes: Collection[str]
    caller_types: tuple[str, ...] = (USER_TYPE,)
    roles: tuple[str, ...] = ()
    enabled: bool = True


def usual_kinds(abilities: Collection[Ability]) -> tuple[OperationKind, ...]:
    """Return the usual operations on a platform with `abilities`: without pages, a list has all rows."""
    if Ability.PAGES in abilities:
        return USUAL
    return tuple(MULTI_QUERY if kind is PAGINATED_QUERY else kind for kind in USUAL)


def suggested_attributes(attributes: Mapping[str, Attribute], common: Collection[str]) -> list[str]:
    """Return the logical names of the attributes to start with: those that the platform requires or
    recommends, the name, and those in `common` (see `Conventions.common`).
    """
    return [
        name
        for name, attribute in attributes.items()
        if attribute.is_required
        or attribute.is_primary_name
        or attribute.required is RequiredLevel.RECOMMENDED
        or name in common
    ]


def endpoints(
    exposure: Exposure, entity: Entity, attributes: Mapping[str, Attribute]
) -> Iterator[EndpointDefinition]:
    """Yield the definitions of the wanted operations on `entity`, which has `attributes`."""
    chosen = [attributes[name] for name in exposure.attributes if name in attributes]
    label, plural = entity.label.text(), entity.plural_label.text()
    titles = {
        CREATE.name: f"Create: {label}",
        READ.name: f"Read: {label}",
        UPDATE.name: f"Update: {label}",
        DELETE.name: f"Delete: {label}",
        PAGINATED_QUERY.name: f"{plural} by page",
        MULTI_QUERY.name: plural,
    }
    for kind in EXPOSING_KINDS:
        if kind.name not in exposure.operations:
            continue
        is_query = kind in _LISTS
        columns = columns_of_read(entity, attributes, chosen) if is_query or kind is READ else ()
        if is_query:
            # A list with more columns would be refused. A read has them all.
            columns = columns[:MOST_COLUMNS]
        inputs, bindings = (
            _inputs_and_bindings(kind.partial, attributes, chosen) if kind in (CREATE, UPDATE) else ((), ())
        )
        yield EndpointDefinition(
            kind=kind.name,
            module=exposure.module,
            # A query belongs to no exposed entity: the segment is its own name.
            exposure="" if is_query else exposure.segment,
            name=exposure.segment if is_query else "",
            title=titles[kind.name],
            enabled=exposure.enabled,
            access=AccessDefinition(roles=exposure.roles, caller_types=exposure.caller_types),
            inputs=inputs,
            bindings=bindings,
            columns=columns,
            settings=_settings_of_list(kind, entity, columns) if is_query else kind.settings(),
        )


def _inputs_and_bindings(
    partial: bool, attributes: Mapping[str, Attribute], chosen: Collection[Attribute]
) -> tuple[tuple[InputDefinition, ...], tuple[BindingDefinition, ...]]:
    """Return inputs and bindings for the writable attributes among `chosen`.

    A create, which is not `partial`, also gets those that the platform requires.
    """
    names = {attribute.logical_name for attribute in chosen}
    public = names_in_api(attributes)
    inputs, bindings = [], []
    for attribute in attributes.values():
        settable = attribute.updatable if partial else attribute.creatable
        is_wanted = attribute.logical_name in names or (attribute.is_required and not partial)
        name = public[attribute.logical_name]
        definition = input_for(attribute, name, partial=partial) if is_wanted and settable else None
        if definition is not None and not attribute.is_primary_id:
            inputs.append(definition)
            bindings.append(BindingDefinition(attribute=attribute.logical_name, value=definition.name))
    return tuple(inputs), tuple(bindings)


def columns_of_read(
    entity: Entity, attributes: Mapping[str, Attribute], chosen: Collection[Attribute]
) -> tuple[ColumnDefinition, ...]:
    """Return the columns of a read: the id, and the chosen attributes that can be read."""
    public = names_in_api(attributes)
    answered = [
        attribute
        for attribute in chosen
        if natural_type(attribute) and attribute.readable and not attribute.is_primary_id
    ]
    # A column without a name is called like its attribute.
    columns = (
        ColumnDefinition(attribute=name, name="" if public[name] == name else public[name])
        for name in (attribute.logical_name for attribute in answered)
    )
    return (ColumnDefinition(attribute=entity.primary_id, name=ID), *columns)


def _settings_of_list(
    kind: OperationKind, entity: Entity, columns: Collection[ColumnDefinition]
) -> EndpointSettings:
    """Return the settings of a list: a query for `columns`, sorted by the primary name or, without one, by
    the id.
    """
    order = entity.primary_name or entity.primary_id
    query = DesignedQuery(
        entity=entity.logical_name,
        columns=tuple(DesignedColumn(column.attribute) for column in columns),
        orders=(Order(order),),
    )
    return (MultiQuerySettings if kind is MULTI_QUERY else PaginatedQuerySettings)(query=query)
