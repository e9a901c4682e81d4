"""The usual operations of an entity, designed at once: create, read, update, delete and a list by page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from crmclient.metadata import Attribute, Entity, RequiredLevel
from crmclient.query.ast import Order
from crmclient.query.designed import DesignedColumn, DesignedQuery
from designer.definitions import (
    AccessDefinition,
    BindingDefinition,
    ColumnDefinition,
    EndpointDefinition,
    InputDefinition,
)
from designer.kinds.create import CREATE
from designer.kinds.delete import DELETE
from designer.kinds.queries import PAGINATED_QUERY, PaginatedQuerySettings
from designer.kinds.read import READ
from designer.kinds.update import UPDATE
from designer.names import USER_TYPE, input_name
from designer.readiness.fixes import input_for
from designer.types import natural_type

USUAL = (CREATE, READ, UPDATE, DELETE, PAGINATED_QUERY)


@dataclass(frozen=True, slots=True)
class Exposure:
    """What is wanted: `operations` are names of kinds, `attributes` logical names."""

    module: str
    segment: str
    operations: Collection[str]
    attributes: Collection[str]
    roles: tuple[str, ...] = ()
    enabled: bool = True


def suggested(attributes: Mapping[str, Attribute], common: Collection[str]) -> list[str]:
    """What to start with: what the platform requires or recommends, the name, and what is `common`."""
    return [
        name
        for name, attribute in attributes.items()
        if attribute.is_required
        or attribute.is_primary_name
        or attribute.required is RequiredLevel.RECOMMENDED
        or name in common
    ]


def endpoints(
    wanted: Exposure, entity: Entity, attributes: Mapping[str, Attribute]
) -> Iterator[EndpointDefinition]:
    """The definitions of the wanted operations on `entity`, which has `attributes`."""
    chosen = [attributes[name] for name in wanted.attributes if name in attributes]
    label, plural = entity.label.text(), entity.plural_label.text()
    titles = {
        CREATE.name: f"Create: {label}",
        READ.name: f"Read: {label}",
        UPDATE.name: f"Update: {label}",
        DELETE.name: f"Delete: {label}",
        PAGINATED_QUERY.name: f"{plural} by page",
    }
    for kind in USUAL:
        if kind.name not in wanted.operations:
            continue
        is_query = kind is PAGINATED_QUERY
        columns = _columns(entity, chosen) if kind in (READ, PAGINATED_QUERY) else ()
        inputs, bindings = (
            _written(kind.partial, attributes, chosen) if kind in (CREATE, UPDATE) else ((), ())
        )
        yield EndpointDefinition(
            kind=kind.name,
            module=wanted.module,
            exposure="" if is_query else wanted.segment,
            name=wanted.segment if is_query else "",
            title=titles[kind.name],
            enabled=wanted.enabled,
            access=AccessDefinition(roles=wanted.roles, caller_types=(USER_TYPE,)),
            inputs=inputs,
            bindings=bindings,
            columns=columns,
            settings=_list_of(entity, columns) if is_query else kind.settings(),
        )


def _written(
    partial: bool, attributes: Mapping[str, Attribute], chosen: Collection[Attribute]
) -> tuple[tuple[InputDefinition, ...], tuple[BindingDefinition, ...]]:
    """Inputs for those of `chosen` that can be written and, in a create, for what the platform requires."""
    names = {attribute.logical_name for attribute in chosen}
    inputs, bindings = [], []
    for attribute in attributes.values():
        settable = attribute.updatable if partial else attribute.creatable
        wanted = attribute.logical_name in names or (attribute.is_required and not partial)
        made = input_for(attribute, partial=partial) if wanted and settable else None
        if made is not None and not attribute.is_primary_id:
            inputs.append(made)
            bindings.append(BindingDefinition(attribute=attribute.logical_name, value=made.name))
    return tuple(inputs), tuple(bindings)


def _columns(entity: Entity, chosen: Collection[Attribute]) -> tuple[ColumnDefinition, ...]:
    answered = [attribute for attribute in chosen if natural_type(attribute) and not attribute.is_primary_id]
    named = (
        ColumnDefinition(attribute=name, name="" if input_name(name) == name else input_name(name))
        for name in (attribute.logical_name for attribute in answered)
    )
    return (ColumnDefinition(attribute=entity.primary_id, name="id"), *named)


def _list_of(entity: Entity, columns: Collection[ColumnDefinition]) -> PaginatedQuerySettings:
    order = entity.primary_name or entity.primary_id
    query = DesignedQuery(
        entity=entity.logical_name,
        columns=tuple(DesignedColumn(column.attribute) for column in columns),
        orders=(Order(order),),
    )
    return PaginatedQuerySettings(query=query)
