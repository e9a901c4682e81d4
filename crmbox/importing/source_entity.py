"""What a source says about one entity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from crmbox.engine.definitions import Ownership
from crmbox.metadata.physical_columns import Extras
from crmclient.metadata import Attribute, Entity, OptionSet, Relationship


class CannotRead(Exception):
    """The source cannot be imported. The message says why in a sentence."""


class Verdict(str, Enum):
    """How the import treats something that a source describes."""

    CHANGED = "changed"
    SHORTENED = "shortened"
    LEFT_OUT = "left out"
    PASSED_OVER = "passed over"


@dataclass(frozen=True, slots=True)
class Note:
    """A difference between the source and the result: `subject` is changed or left out.

    `option` is the option of the command that would bring it.
    """

    verdict: Verdict
    subject: str
    reason: str
    option: str | None = None


def left_out(subject: str, reason: str, option: str | None = None) -> Note:
    """Return a note about something that is left out."""
    return Note(Verdict.LEFT_OUT, subject, reason, option)


@dataclass(frozen=True, slots=True)
class ManyToMany:
    """A many-to-many relationship, with the names of its intersect entity where the source has them."""

    relationship: Relationship
    entity_set: str = ""
    primary_id: str = ""


@dataclass(frozen=True, slots=True)
class Intersect:
    """The names of an intersect entity. It is created with its many-to-many relationship."""

    name: str
    entity_set: str
    primary_id: str


@dataclass(frozen=True, slots=True)
class SourceEntity:
    """An entity as a source describes it.

    `relationships` are those of the entity's own lookups, `many_to_many` the others. `has_states`:
    records have a state, even if the source does not list the states. `option_sets` are the global ones that
    its choices use, where the source holds their options. `only_completes`: nothing that exists changes,
    because the source knows no labels, limits and options, or stands back behind those that are there; only
    what nobody has described yet is filled in. `extras` are the store's own settings of attributes, where the
    source has them. `notes` are about differences between the source and this value.
    """

    entity: Entity
    attributes: tuple[Attribute, ...]
    relationships: tuple[Relationship, ...] = ()
    many_to_many: tuple[ManyToMany, ...] = ()
    option_sets: tuple[OptionSet, ...] = ()
    ownership: Ownership = Ownership.ORGANIZATION
    schema_name: str | None = None
    schema_names: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, bool | int] = field(default_factory=dict)
    has_states: bool = False
    only_completes: bool = False
    extras: Extras | None = None
    notes: tuple[Note, ...] = ()

    @property
    def name(self) -> str:
        return self.entity.logical_name


@dataclass(frozen=True, slots=True)
class Described:
    """An entity in a source. `read` returns its definition, which most need not be read; it raises
    CannotRead.

    `attributes` is the number of its attributes. `hidden` says why it is made only when it is named.
    """

    name: str
    attributes: int
    read: Callable[[], SourceEntity]
    hidden: str | None = None
