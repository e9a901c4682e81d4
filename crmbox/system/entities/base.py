"""What the descriptions of system entities have in common."""

from __future__ import annotations

from dataclasses import dataclass

from crmbox.engine.definitions import Ownership
from crmbox.metadata import NO_EXTRAS, Extras
from crmbox.system.labels import label
from crmclient.metadata import Attribute, AttributeType, Entity, Relationship, RequiredLevel

_NAME = label("Name", "Name", "الاسم")
BUSINESS_UNIT_LABEL = label("Business Unit", "Unternehmenseinheit", "وحدة العمل")


@dataclass(frozen=True, slots=True)
class SystemEntity:
    """A system entity, with everything that is needed to create it."""

    entity: Entity
    attributes: tuple[Attribute, ...]
    relationships: tuple[Relationship, ...] = ()
    ownership: Ownership = Ownership.ORGANIZATION
    extras: Extras = NO_EXTRAS
    is_view: bool = False


def name_attribute(max_length: int) -> Attribute:
    """Return the attribute `name`, the primary name of an entity's records. `max_length` is in characters."""
    return Attribute(
        "name",
        AttributeType.STRING,
        _NAME,
        required=RequiredLevel.APPLICATION,
        max_length=max_length,
        is_primary_name=True,
    )
