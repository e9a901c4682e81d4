"""What a module of the demo says of its entity."""

from __future__ import annotations

from dataclasses import dataclass

from crmbox.metadata import Extras
from crmclient.metadata import Attribute, Entity, Relationship


@dataclass(frozen=True, slots=True)
class DemoEntity:
    entity: Entity
    attributes: tuple[Attribute, ...]
    relationships: tuple[Relationship, ...]
    extras: Extras
