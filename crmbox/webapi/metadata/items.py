"""A piece of metadata as the Web API sees it: properties, and what its navigation properties lead to."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from crmclient.values import Guid

# The namespace of the ids below. Another one would change them all.
_ROOT: Final = uuid.UUID("8a4f9a5e-2d0c-5f57-9b1d-6d2f0f3c7b11")


def metadata_id(kind: str, *names: str) -> Guid:
    """Return the id of an item of metadata, which is always the same for the same names.

    `kind` is `entity`, `attribute`, `relationship`, `key`, `optionset`, `option`, `label`, `message` or
    `process`.
    """
    return str(uuid.uuid5(_ROOT, "/".join((kind, *names))))


Leads: TypeAlias = Callable[[], "Item | list[Item] | None"]
"""What a navigation property leads to. It is made when it is asked for, since there may be thousands."""


@dataclass(frozen=True, slots=True)
class Item:
    """`type` is the name of its type (`StringAttributeMetadata`); `keys` are the properties it is found by
    beside its MetadataId. `subject` are the logical names of what it describes. `key` is the property with
    its id.
    """

    type: str
    id: Guid
    properties: Mapping[str, Any]
    navigations: Mapping[str, Leads] = field(default_factory=dict)
    keys: tuple[str, ...] = ("LogicalName",)
    subject: tuple[str, ...] = ()
    key: str = "MetadataId"

    def is_a(self, type: str) -> bool:
        """Return whether the item is of `type`, or of a type that derives from it."""
        return type in (self.type, *_BASES.get(self.type, ()))


_BASES: Mapping[str, tuple[str, ...]] = {
    "OneToManyRelationshipMetadata": ("RelationshipMetadataBase",),
    "ManyToManyRelationshipMetadata": ("RelationshipMetadataBase",),
    "OptionSetMetadata": ("OptionSetMetadataBase",),
    "BooleanOptionSetMetadata": ("OptionSetMetadataBase",),
    **{
        f"{type_name}AttributeMetadata": ("AttributeMetadata",)
        for type_name in (
            *("String", "Memo", "Integer", "BigInt", "Decimal", "Double", "Money", "Boolean", "DateTime"),
            *("UniqueIdentifier", "Picklist", "MultiSelectPicklist", "State", "Status", "Lookup", "File"),
            "Image",
        )
    },
}


def managed_property(value: bool, name: str) -> dict[str, Any]:
    """Return a managed property: one that a managed solution may protect against changes."""
    return {"Value": value, "CanBeChanged": True, "ManagedPropertyLogicalName": name}
