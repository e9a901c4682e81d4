"""Attributes in the bodies of requests: new ones, and changes of those that exist."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from crmbox.metadata import Extras
from crmbox.webapi.errors import bad_payload, unsupported
from crmbox.webapi.metadata.bodies import Body, global_set, read_options
from crmbox.webapi.metadata.label_bodies import merged_label
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior, OptionSet, RequiredLevel

_KILOBYTE: Final = 1024
_TYPES: Final = {
    f"{name}AttributeMetadata": attribute_type
    for name, attribute_type in {
        "String": AttributeType.STRING,
        "Memo": AttributeType.MEMO,
        "Integer": AttributeType.INTEGER,
        "BigInt": AttributeType.BIGINT,
        "Decimal": AttributeType.DECIMAL,
        "Double": AttributeType.DOUBLE,
        "Money": AttributeType.MONEY,
        "Boolean": AttributeType.BOOLEAN,
        "DateTime": AttributeType.DATETIME,
        "UniqueIdentifier": AttributeType.UNIQUEIDENTIFIER,
        "Picklist": AttributeType.PICKLIST,
        "MultiSelectPicklist": AttributeType.MULTISELECT,
        "Lookup": AttributeType.LOOKUP,
        "File": AttributeType.FILE,
        "Image": AttributeType.IMAGE,
    }.items()
}
_DEFAULTS: Final[dict[AttributeType, dict[str, Any]]] = {
    AttributeType.STRING: {"max_length": 100},
    AttributeType.MEMO: {"max_length": 2000},
    AttributeType.DECIMAL: {"precision": 2},
    AttributeType.MONEY: {"precision": 2},
    AttributeType.DOUBLE: {"precision": 2},
    AttributeType.FILE: {"max_size": 32_768 * _KILOBYTE},
    AttributeType.IMAGE: {"max_size": 10_240 * _KILOBYTE},
}
"""What Dataverse takes when the body does not say."""

_NUMBERS: Final = frozenset(
    {
        AttributeType.INTEGER,
        AttributeType.BIGINT,
        AttributeType.DECIMAL,
        AttributeType.DOUBLE,
        AttributeType.MONEY,
    }
)


@dataclass(frozen=True, slots=True)
class NewAttribute:
    """An attribute to create.

    `default` is its value in a new record if the caller gives none. With `full_image`, an image is kept as it
    came, not as a thumbnail alone.
    """

    attribute: Attribute
    schema_name: str
    default: bool | int | None = None
    full_image: bool = True


def read_attribute(body: Body, entity: str, global_sets: Iterable[str]) -> NewAttribute:
    """Read a new attribute of `entity`. `global_sets` names the global option sets it may use.

    Raises WebApiError and InvalidDefinition.
    """
    schema_name = body.needed("SchemaName")
    name = (body.text("LogicalName") or schema_name).lower()
    attribute_type = _attribute_type(body)
    if attribute_type is AttributeType.LOOKUP:
        raise unsupported("a lookup on its own: POST it to RelationshipDefinitions with its relationship")
    attribute = Attribute(
        logical_name=name,
        type=attribute_type,
        label=body.label("DisplayName"),
        description=body.label("Description"),
        required=body.required or RequiredLevel.NONE,
        is_primary_name=body.flag("IsPrimaryName", default=False),
        is_custom=True,
        **_DEFAULTS.get(attribute_type, {}),
    )
    attribute = replace(_with_limits(attribute, body), behavior=_behavior(body))
    if attribute_type.has_options:
        attribute = _with_options(attribute, body, entity, global_sets)
    full_image = body.flag("CanStoreFullImage", default=True)
    return NewAttribute(attribute, schema_name, _default(body, attribute_type), full_image)


def read_lookup(body: Body, targets: tuple[str, ...]) -> NewAttribute:
    """Read the lookup of a new relationship. Raises WebApiError and InvalidDefinition."""
    schema_name = body.needed("SchemaName")
    customer = body.text("AttributeType") == "Customer" or body.word("AttributeTypeName") == "CustomerType"
    attribute = Attribute(
        logical_name=(body.text("LogicalName") or schema_name).lower(),
        type=AttributeType.CUSTOMER if customer else AttributeType.LOOKUP,
        label=body.label("DisplayName"),
        description=body.label("Description"),
        required=body.required or RequiredLevel.NONE,
        targets=targets,
        is_custom=True,
    )
    return NewAttribute(attribute, schema_name)


def changed_attribute(before: Attribute, body: Body, *, keep_labels: bool) -> Attribute:
    """Return an attribute with the changes of a body. Raises WebApiError and InvalidDefinition."""
    after = _with_limits(before, body)
    if "DisplayName" in body:
        after = replace(after, label=merged_label(before.label, body.label("DisplayName"), keep=keep_labels))
    if "Description" in body:
        text = merged_label(before.description, body.label("Description"), keep=keep_labels)
        after = replace(after, description=text)
    return replace(after, required=body.required or before.required)


def extras_of(attributes: list[NewAttribute], *, entity_schema_name: str | None = None) -> Extras:
    """Return the facts that the store keeps beside the attributes themselves.

    `entity_schema_name` is that of a new entity whose schema name differs from its logical name.
    """
    return Extras(
        defaults={
            item.attribute.logical_name: item.default for item in attributes if item.default is not None
        },
        schema_names={item.attribute.logical_name: item.schema_name for item in attributes},
        schema_name=entity_schema_name,
        thumbnails=frozenset(item.attribute.logical_name for item in attributes if not item.full_image),
    )


def _attribute_type(body: Body) -> AttributeType:
    """Return the type that `@odata.type` names, or else the properties with names of types."""
    if body.type_name:
        attribute_type = _TYPES.get(body.type_name)
    else:
        type_name = (body.word("AttributeTypeName") or "").removesuffix("Type") or body.text("AttributeType")
        attribute_type = next(
            (attribute_type for attribute_type in _TYPES.values() if attribute_type.value == type_name), None
        )
    if attribute_type is None:
        raise unsupported(f"attributes of the type '{body.type_name or body.text('AttributeType') or ''}'")
    return attribute_type


def _with_limits(attribute: Attribute, body: Body) -> Attribute:
    """Return `attribute` with the limits that the body gives."""
    limits: dict[str, Any] = {}
    if attribute.type in (AttributeType.STRING, AttributeType.MEMO) and "MaxLength" in body:
        limits["max_length"] = body.whole("MaxLength")
    if attribute.type in _NUMBERS:
        bounds = {"minimum": body.number("MinValue"), "maximum": body.number("MaxValue")}
        limits.update({name: bound for name, bound in bounds.items() if bound is not None})
        if "Precision" in body and attribute.type not in (AttributeType.INTEGER, AttributeType.BIGINT):
            limits["precision"] = body.whole("Precision")
    if attribute.type.holds_file and "MaxSizeInKB" in body:
        limits["max_size"] = (body.whole("MaxSizeInKB") or 0) * _KILOBYTE
    return replace(attribute, **limits)


def _behavior(body: Body) -> DateTimeBehavior:
    """Return how values of a date attribute are read; UserLocal if the body does not say.

    Raises WebApiError.
    """
    word = body.word("DateTimeBehavior")
    try:
        return DateTimeBehavior.USER_LOCAL if word is None else DateTimeBehavior(word)
    except ValueError:
        choices = ", ".join(behavior.value for behavior in DateTimeBehavior)
        raise bad_payload(f"DateTimeBehavior is one of {choices}.") from None


def _with_options(attribute: Attribute, body: Body, entity: str, global_sets: Iterable[str]) -> Attribute:
    """Return `attribute` with the global option set that the body binds, or with options of its own."""
    bound = global_set(body, global_sets)
    if bound is not None:
        return replace(attribute, option_set=bound)
    described = body.part("OptionSet")
    if described is None:
        raise bad_payload("A choice needs an OptionSet, or GlobalOptionSet@odata.bind.")
    name = f"{entity}_{attribute.logical_name}"
    options = OptionSet(name, attribute.label, read_options(described), entity=entity)
    return replace(attribute, option_set=name, options=options)


def _default(body: Body, attribute_type: AttributeType) -> bool | int | None:
    """Return the value of a new record; None without one, which for a choice is written as -1."""
    if attribute_type is AttributeType.BOOLEAN and "DefaultValue" in body:
        return body.flag("DefaultValue", default=False)
    if attribute_type is AttributeType.PICKLIST:
        value = body.whole("DefaultFormValue")
        return None if value == -1 else value
    return None
