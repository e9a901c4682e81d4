"""Metadata as values: what entities, attributes, option sets, relationships and processes are.

All are frozen. Logical names are lower case, as the platform writes them. Labels are kept for every language
(LCID) and picked late, since a service principal's own language is not the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum

ENGLISH = 1033


class AttributeType(str, Enum):
    """The platform's own names for types."""

    STRING = "String"
    MEMO = "Memo"
    INTEGER = "Integer"
    BIGINT = "BigInt"
    DECIMAL = "Decimal"
    DOUBLE = "Double"
    MONEY = "Money"
    BOOLEAN = "Boolean"
    DATETIME = "DateTime"
    UNIQUEIDENTIFIER = "Uniqueidentifier"
    PICKLIST = "Picklist"
    MULTISELECT = "MultiSelectPicklist"
    STATE = "State"
    STATUS = "Status"
    LOOKUP = "Lookup"
    CUSTOMER = "Customer"
    OWNER = "Owner"
    FILE = "File"
    IMAGE = "Image"
    PARTYLIST = "PartyList"

    @property
    def is_reference(self) -> bool:
        return self in _REFERENCES

    @property
    def has_options(self) -> bool:
        return self in _CHOICES

    @property
    def holds_file(self) -> bool:
        return self in _FILES

    @property
    def holds_parties(self) -> bool:
        return self is AttributeType.PARTYLIST


_REFERENCES = frozenset({AttributeType.LOOKUP, AttributeType.CUSTOMER, AttributeType.OWNER})
_FILES = frozenset({AttributeType.FILE, AttributeType.IMAGE})
_CHOICES = frozenset(
    {AttributeType.PICKLIST, AttributeType.MULTISELECT, AttributeType.STATE, AttributeType.STATUS}
)


class DateTimeBehavior(str, Enum):
    """How a DateTime attribute is read. The platform's documentation explains the same three names."""

    USER_LOCAL = "UserLocal"
    DATE_ONLY = "DateOnly"
    TIME_ZONE_INDEPENDENT = "TimeZoneIndependent"


class RequiredLevel(str, Enum):
    NONE = "None"
    RECOMMENDED = "Recommended"
    APPLICATION = "ApplicationRequired"
    SYSTEM = "SystemRequired"


@dataclass(frozen=True, slots=True)
class Label:
    """A text in several languages, keyed by LCID."""

    texts: Mapping[int, str] = field(default_factory=dict)

    def text(self, lcid: int = ENGLISH, base_language: int = ENGLISH) -> str:
        """Return the text in `lcid`, else in English, in the base language, or in any language; '' without a
        text.
        """
        texts = self.texts
        for language in (lcid, ENGLISH, base_language):
            if language in texts:
                return texts[language]
        return next(iter(texts.values()), "")


@dataclass(frozen=True, slots=True)
class Option:
    """One option. `hidden` is the platform's IsHidden; `state` ties a status option to a state's value.

    For a state option, `default_status` is the status a record takes with the state.
    """

    value: int
    label: Label
    color: str | None = None
    hidden: bool = False
    state: int | None = None
    default_status: int | None = None


@dataclass(frozen=True, slots=True)
class OptionSet:
    """A global option set (`entity` is None) or an attribute's own one, with options in their order.

    `inactive_states` are the values of states that mean *inactive*: an option is inactive when it is
    hidden, or a status option of such a state.
    """

    name: str
    label: Label
    options: tuple[Option, ...]
    entity: str | None = None
    inactive_states: frozenset[int] = frozenset()

    @property
    def languages(self) -> frozenset[int]:
        """The LCIDs in which any option has a label."""
        return frozenset(language for option in self.options for language in option.label.texts)

    def is_inactive(self, option: Option) -> bool:
        return option.hidden or option.state in self.inactive_states


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an entity.

    `max_length` counts characters; `precision` counts decimal places; `minimum` and `maximum` are
    inclusive; `targets` are the entities that a lookup, or the parties of a list, may point at; `option_set`
    is the name of the option set of a choice attribute: a global one's, or the attribute's own (then
    `options` holds it). `max_size` of a file is in bytes. `is_several`: its values are tuples of such values,
    as only outputs of processes are. `is_parent`: it is the lookup by which the entity's records form a
    hierarchy; None where that may not be read. `takes_addresses`: a party of the list may be a mail address
    without a record. One that is not `readable` can be written, or asked for by other means, and is never
    selected.
    """

    logical_name: str
    type: AttributeType
    label: Label = Label()
    description: Label = Label()
    required: RequiredLevel = RequiredLevel.NONE
    max_length: int | None = None
    precision: int | None = None
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    behavior: DateTimeBehavior = DateTimeBehavior.USER_LOCAL
    targets: tuple[str, ...] = ()
    option_set: str | None = None
    options: OptionSet | None = None
    max_size: int | None = None
    creatable: bool = True
    updatable: bool = True
    is_primary_id: bool = False
    is_primary_name: bool = False
    is_custom: bool = False
    is_several: bool = False
    is_parent: bool | None = False
    takes_addresses: bool = False
    readable: bool = True

    @property
    def holds_days(self) -> bool:
        """Whether its values are calendar dates, without a time."""
        return self.type is AttributeType.DATETIME and self.behavior is DateTimeBehavior.DATE_ONLY

    @property
    def is_required(self) -> bool:
        """Whether a create must set the attribute. The platform itself sets those that the system
        requires.
        """
        return self.required is RequiredLevel.APPLICATION and self.creatable


@dataclass(frozen=True, slots=True)
class AlternateKey:
    name: str
    attributes: tuple[str, ...]


class Cascade(str, Enum):
    """The effect of deleting a referenced record on the records that refer to it."""

    DELETE = "Cascade"
    RESTRICT = "Restrict"
    REMOVE_LINK = "RemoveLink"


@dataclass(frozen=True, slots=True)
class Relationship:
    """A one-to-many relationship (`intersect` None), or a many-to-many one through an intersect entity.

    One-to-many: `referencing`.`referencing_attribute` is the lookup that points at `referenced`. With
    `is_hierarchical`, it ties an entity to itself, and its records form a hierarchy; an entity has at most
    one such relationship. Many-to-many: `intersect` is the entity that holds the pairs.
    `intersect_attributes` are its attributes with the ids of `referenced` and of `referencing`; None where
    they are called as the primary ids of these two. In a relationship of an entity with itself, they cannot
    be called so.
    """

    name: str
    referenced: str
    referencing: str
    referencing_attribute: str | None = None
    intersect: str | None = None
    on_delete: Cascade = Cascade.REMOVE_LINK
    is_hierarchical: bool = False
    intersect_attributes: tuple[str, str] | None = None

    def other_end(self, entity: str) -> str | None:
        """Return the entity that a many-to-many relationship ties `entity` to, which may be `entity` itself.

        Return None for any other relationship, and for one that does not have `entity` at either end.
        """
        ends = (self.referenced, self.referencing)
        if self.intersect is None or entity not in ends:
            return None
        return ends[1] if entity == ends[0] else ends[0]

    def pair_attributes(self, own: Entity, other: Entity) -> tuple[str, str]:
        """Return the attributes of the intersect entity with the ids of a record of `own` and of a record of
        `other`.

        If the relationship ties an entity to itself, `own` is the end that it leads from.
        """
        if self.intersect_attributes is None:
            return own.primary_id, other.primary_id
        first, second = self.intersect_attributes
        return (first, second) if own.logical_name == self.referenced else (second, first)

    def is_to_many_from(self, entity: str) -> bool:
        """Whether this is a one-to-many relationship in which many records refer to a record of `entity`."""
        return self.referenced == entity and self.referencing_attribute is not None


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity without its attributes."""

    logical_name: str
    entity_set: str
    label: Label
    plural_label: Label
    primary_id: str
    primary_name: str | None
    description: Label = Label()
    keys: tuple[AlternateKey, ...] = ()
    has_notes: bool = False
    is_intersect: bool = False
    is_custom: bool = False
    # Whether the platform can be asked which of its records have changed (`TracksChanges`).
    tracks_changes: bool = False
    # Whether its records can only be read: they are those of other entities and are written there, as
    # activities of every kind are, or the platform writes none.
    is_read_only: bool = False


class Holds(str, Enum):
    """The content of a parameter of a process: one value of its type, one record, or several."""

    VALUE = "value"
    RECORD = "record"
    RECORDS = "records"


@dataclass(frozen=True, slots=True)
class ProcessParameter:
    """An input or output of a process; `targets` for references.

    A parameter that holds records is of type Lookup. The process creates the records of an input, which are
    of the one entity in `targets`. The records of an output are references to what the process has found or
    created; without `targets`, they may be of any entity.
    """

    name: str
    type: AttributeType
    required: bool = True
    targets: tuple[str, ...] = ()
    description: str = ""
    holds: Holds = Holds.VALUE


@dataclass(frozen=True, slots=True)
class Process:
    """A process of an organisation, or one of the platform's own messages.

    `entity` is the one it is bound to, None for an unbound (global) one. `privilege` is the name of the
    privilege without which nobody may run it, such as `prvWriteAccount`; empty where everybody may. What the
    process does with records may need others.
    """

    name: str
    label: str
    inputs: tuple[ProcessParameter, ...] = ()
    outputs: tuple[ProcessParameter, ...] = ()
    entity: str | None = None
    description: str = ""
    privilege: str = ""


@dataclass(frozen=True, slots=True)
class SecurityRole:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class UserReports:
    """The users who report to a user, directly or through others, and the teams of all of these, by id."""

    user_ids: tuple[str, ...] = ()
    team_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlatformUser:
    """A system user, with what the product needs of its surroundings."""

    id: str
    full_name: str
    disabled: bool
    business_unit_id: str
    team_ids: tuple[str, ...]
    team_names: tuple[str, ...]
    security_roles: tuple[str, ...]
