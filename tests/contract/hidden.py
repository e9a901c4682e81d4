"""An entity with a lookup that nobody may read."""

from __future__ import annotations

from crmbox.metadata import change
from crmclient.metadata import Attribute, AttributeType, Entity, Label, Relationship

HIDDEN = "new_vault"


def define() -> None:
    entity = Entity(HIDDEN, f"{HIDDEN}s", Label(), Label(), f"{HIDDEN}id", "new_name")
    attributes = (
        Attribute("new_name", AttributeType.STRING, is_primary_name=True, max_length=100),
        Attribute("new_keeperid", AttributeType.LOOKUP, targets=("contact",), readable=False),
    )
    kept = Relationship("new_contact_vaults", "contact", HIDDEN, "new_keeperid")
    with change() as metadata:
        metadata.create_entity(entity, attributes, (kept,))
