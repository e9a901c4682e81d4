"""What a file says of one entity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from crmbox.engine.definitions import Ownership
from crmclient.metadata import Attribute, Entity, OptionSet, Relationship


class CannotRead(Exception):
    """The file is none that can be imported; says what is wrong in a sentence."""


@dataclass(frozen=True, slots=True)
class Found:
    """`relationships` are those of the entity's own lookups, `pairs` the many-to-many ones it takes part in.

    `has_states`: records have a state, also where the file does not say which there are. `option_sets` are
    the global ones that its choices use, where the file holds their options. `is_outline`: the file knows no
    labels, limits and options, so nothing that exists is changed after it.
    """

    entity: Entity
    attributes: tuple[Attribute, ...]
    relationships: tuple[Relationship, ...] = ()
    pairs: tuple[Relationship, ...] = ()
    option_sets: tuple[OptionSet, ...] = ()
    ownership: Ownership = Ownership.ORGANIZATION
    schema_name: str | None = None
    schema_names: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, bool | int] = field(default_factory=dict)
    has_states: bool = False
    is_outline: bool = False

    @property
    def name(self) -> str:
        return self.entity.logical_name


@dataclass(frozen=True, slots=True)
class Described:
    """An entity in a file, and how to read its definition, which most need not be. Raises CannotRead."""

    name: str
    attributes: int
    read: Callable[[], Found]
