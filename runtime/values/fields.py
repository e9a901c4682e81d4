"""Inputs and columns as those who build forms, tables and clients must know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from crmclient.metadata import Attribute
from designer.definitions import BindingDefinition, InputDefinition
from designer.endpoint_facts.bound_attributes import bound_attributes
from designer.types import natural_type, type_of_records


@dataclass(frozen=True, slots=True)
class Field:
    """A named value that goes in or out.

    `type` is one of the HTTP contract's; `schema` is the JSON Schema of the value; `attribute` is the
    attribute that has the value, None if no attribute has it; `label` and `description` are the consultant's.
    `items` are the fields of each item of a list.
    """

    name: str
    type: str
    schema: Mapping[str, Any]
    attribute: Attribute | None = None
    label: str = ""
    description: str = ""
    required: bool = False
    items: tuple[Field, ...] = field(default=())


# The type of columns that hold files and images. No input is of this type.
FILE = "File"


def type_of(attribute: Attribute) -> str:
    """Return the HTTP contract's name for the type of an attribute's values."""
    if attribute.is_several:
        return type_of_records(several=True).name
    input_type = natural_type(attribute)
    return FILE if input_type is None else input_type.name


def input_fields(
    definitions: Iterable[InputDefinition],
    bindings: Iterable[BindingDefinition],
    attributes: Mapping[str, Attribute],
    schema: Mapping[str, Any],
    items: Mapping[str, tuple[Field, ...]],
) -> tuple[Field, ...]:
    """Return the inputs of an object as fields.

    `schema` describes the object, `attributes` are those that inputs may be bound to, and `items` has the
    fields of the items of each list, by input.
    """
    bound = bound_attributes(bindings, attributes)
    required = frozenset(schema.get("required", ()))
    return tuple(
        Field(
            name=definition.name,
            type=definition.type,
            schema=schema["properties"][definition.name],
            attribute=bound.get(definition.name),
            label=definition.label,
            description=definition.description,
            required=definition.name in required,
            items=items.get(definition.name, ()),
        )
        for definition in definitions
    )
