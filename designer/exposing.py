"""The usual operations of an entity, designed at once: create, read, update, delete and a list by page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count

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
from designer.names import INPUT_PATTERN, USER_TYPE, input_name, output_key
from designer.readiness.fixes import input_for
from designer.types import natural_type

_ID = "id"
_LONGEST_BEFORE_A_NUMBER = 55

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
        columns = _columns(entity, attributes, chosen) if kind in (READ, PAGINATED_QUERY) else ()
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
    public = _public_names(attributes)
    inputs, bindings = [], []
    for attribute in attributes.values():
        settable = attribute.updatable if partial else attribute.creatable
        wanted = attribute.logical_name in names or (attribute.is_required and not partial)
        made = input_for(attribute, partial=partial) if wanted and settable else None
        if made is not None and not attribute.is_primary_id:
            made = made.model_copy(update={"name": public[attribute.logical_name]})
            inputs.append(made)
            bindings.append(BindingDefinition(attribute=attribute.logical_name, value=made.name))
    return tuple(inputs), tuple(bindings)


def _public_names(attributes: Iterable[str]) -> dict[str, str]:
    """What each attribute is called in calls: without a publisher's prefix where no other is called so."""
    names: dict[str, str] = {}
    # Answers write names in their own way, in which two may be the same.
    taken = {"", _ID}
    for attribute in attributes:
        short = attribute[:_LONGEST_BEFORE_A_NUMBER]
        numbered = (f"{short}_{number}" for number in count(2))
        candidates = chain((input_name(attribute), attribute), numbered)
        name = next(
            each for each in candidates if re.match(INPUT_PATTERN, each) and output_key(each) not in taken
        )
        taken.add(output_key(name))
        names[attribute] = name
    return names


def _columns(
    entity: Entity, attributes: Iterable[str], chosen: Collection[Attribute]
) -> tuple[ColumnDefinition, ...]:
    public = _public_names(attributes)
    answered = [one for one in chosen if natural_type(one) and one.readable and not one.is_primary_id]
    named = (
        ColumnDefinition(attribute=name, name="" if public[name] == name else public[name])
        for name in (attribute.logical_name for attribute in answered)
    )
    return (ColumnDefinition(attribute=entity.primary_id, name=_ID), *named)


def _list_of(entity: Entity, columns: Collection[ColumnDefinition]) -> PaginatedQuerySettings:
    order = entity.primary_name or entity.primary_id
    query = DesignedQuery(
        entity=entity.logical_name,
        columns=tuple(DesignedColumn(column.attribute) for column in columns),
        orders=(Order(order),),
    )
    return PaginatedQuerySettings(query=query)
