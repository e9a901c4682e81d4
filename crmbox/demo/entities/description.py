"""The description of an entity of the demo."""

from __future__ import annotations

from dataclasses import dataclass

from crmbox.metadata import Extras
from crmclient.metadata import Attribute, Entity, Relationship


@dataclass(frozen=True, slots=True)
class DemoEntity:
    """An entity of the demo, as its module describes it."""

    entity: Entity
    attributes: tuple[Attribute, ...]
    relationships: tuple[Relationship, ...]
    extras: Extras
