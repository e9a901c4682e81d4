"""What a source says of one entity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from crmbox.engine.definitions import Ownership
from crmbox.metadata.placing import Extras
from crmclient.metadata import Attribute, Entity, OptionSet, Relationship


class CannotRead(Exception):
    """The source is none that can be imported; says what is wrong in a sentence."""


class Verdict(str, Enum):
    """What becomes of something that a source describes."""

    CHANGED = "changed"
    SHORTENED = "shortened"
    LEFT_OUT = "left out"
    PASSED_OVER = "passed over"


@dataclass(frozen=True, slots=True)
class Note:
    """`subject` is made otherwise than the source has it, or not at all. `option` is what would bring it."""

    verdict: Verdict
    subject: str
    reason: str
    option: str | None = None


def left_out(subject: str, reason: str, option: str | None = None) -> Note:
    return Note(Verdict.LEFT_OUT, subject, reason, option)


@dataclass(frozen=True, slots=True)
class Pair:
    """A many-to-many relationship, and what its intersect entity is called where the source says it."""

    relationship: Relationship
    entity_set: str = ""
    primary_id: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """`relationships` are those of the entity's own lookups, `pairs` the many-to-many ones it takes part in.

    `has_states`: records have a state, also where the source does not say which there are. `option_sets` are
    the global ones that its choices use, where the source holds their options. `is_outline`: the source knows
    no labels, limits and options, so nothing that exists is changed after it. `extras` are all that the
    store is to know of the attributes, where the source says it itself. `notes` are about what the source has
    and this value has not, or otherwise.
    """

    entity: Entity
    attributes: tuple[Attribute, ...]
    relationships: tuple[Relationship, ...] = ()
    pairs: tuple[Pair, ...] = ()
    option_sets: tuple[OptionSet, ...] = ()
    ownership: Ownership = Ownership.ORGANIZATION
    schema_name: str | None = None
    schema_names: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, bool | int] = field(default_factory=dict)
    has_states: bool = False
    is_outline: bool = False
    extras: Extras | None = None
    notes: tuple[Note, ...] = ()

    @property
    def name(self) -> str:
        return self.entity.logical_name


@dataclass(frozen=True, slots=True)
class Described:
    """An entity in a source, and how to read its definition, which most need not be. Raises CannotRead.

    `hidden` says why it is made only when it is named; `targets` gives what its lookups point at.
    """

    name: str
    attributes: int
    read: Callable[[], Found]
    hidden: str | None = None
