"""What a platform calls what every CRM has, and what it can do: one value, declared once by each platform.

Nothing else of the product knows such a name by heart. What a platform does not have is None or left out: the
studio then says so at the field that needs it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from crmclient.metadata import Attribute, AttributeType


class Ability(str, Enum):
    """An ability that a platform may have, and declares.

    Every platform reads and writes one record, and answers the first rows that a filter leaves, in an order
    of the entity's own attributes.
    """

    # `Page.token`, and `Page.total`.
    PAGES = "pages"
    TOTALS = "totals"
    # `Query.links`, with columns, filters and orders of linked entities.
    LINKS = "links"
    # Pages of rows in the order of a linked entity's attribute.
    LINKED_PAGES = "linked-pages"
    AGGREGATES = "aggregates"
    DISTINCT = "distinct"
    # Conditions on a fiscal period of any year, of the organisation's own calendar.
    FISCAL_PERIODS = "fiscal-periods"
    # Groups by fiscal period, a number in its year, and by fiscal year.
    FISCAL_GROUPS = "fiscal-groups"
    # `Platform.batch`: all of it, or none.
    BATCHES = "batches"
    # `Platform.upsert`, of entities that have alternate keys.
    UPSERTS = "upserts"
    # `Call.refuses_duplicates`.
    DUPLICATES = "duplicates"


EVERYTHING = frozenset(Ability)


@dataclass(frozen=True, slots=True)
class Ownership:
    """The attributes of a record that say who owns it. `attribute` is a lookup.

    `by_entity` has further attributes with the owner, each for owners of one entity. `unit` is the business
    unit that owns the record: a copy of `unit_of_owner`, an attribute of the owner's own record.
    """

    attribute: str
    by_entity: Mapping[str, str] = field(default_factory=dict)
    unit: str | None = None
    unit_of_owner: str = ""

    @property
    def set_with_owner(self) -> frozenset[str]:
        """The attributes that the platform sets when the owner changes."""
        return frozenset(self.by_entity) | ({self.unit} if self.unit else frozenset())


@dataclass(frozen=True, slots=True)
class SystemAttributes:
    """The attributes of an entity that the platform sets itself. An entity may lack any of them.

    `version` changes with every write of a record; as text it is `Record.version`. `state` and `status`
    belong together: a new record has the first state, and a write of one sets the other. `first_state` is its
    value, if it is the same for all entities: it is known, then, where the options may not be read, and every
    other state counts as inactive. Attributes in
    `set_to_caller` get the user whom the call acts for, if a create does not set them. Those in `composed`
    are made of other attributes, in the platform's own way, such as a full name of first and last name. So
    are attributes whose names are that of another attribute with one of `composed_suffixes`. Attributes in
    `filled`, and those of a type in `filled_types`, get a default that the metadata do not tell.
    """

    version: str | None = None
    ownership: Ownership | None = None
    state: str | None = None
    status: str | None = None
    first_state: int | None = None
    set_to_caller: frozenset[str] = frozenset()
    composed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    composed_suffixes: tuple[str, ...] = ()
    filled: frozenset[str] = frozenset()
    filled_types: frozenset[AttributeType] = frozenset()

    @property
    def owner(self) -> str | None:
        return self.ownership.attribute if self.ownership else None

    @property
    def life(self) -> frozenset[str]:
        """The attributes for state and status, as far as the entity has them."""
        return frozenset(name for name in (self.state, self.status) if name is not None)

    @property
    def set_with_owner(self) -> frozenset[str]:
        """The attributes that the platform sets when the owner changes, without the owner itself."""
        return self.ownership.set_with_owner if self.ownership else frozenset()

    @property
    def always_set(self) -> frozenset[str]:
        """The attributes that every new record has, even if a create does not set them."""
        if self.owner is None or self.owner not in self.set_to_caller:
            return self.life
        return self.life | {self.owner}

    def composed_of(self, written: Collection[str]) -> frozenset[str]:
        """Return the attributes that change along with `written`, to values that only the platform
        can tell.
        """
        names = (name for name, parts in self.composed.items() if not parts.isdisjoint(written))
        return frozenset((*names, *(f"{name}{end}" for name in written for end in self.composed_suffixes)))

    def changed_by(self, written: Collection[str]) -> frozenset[str]:
        """Return the attributes `written`, and all attributes that change with them."""
        return frozenset(written) | self.composed_of(written) | frozenset(self._set_with(written))

    def _set_with(self, written: Collection[str]) -> Iterator[str]:
        """Yield the attributes that the platform sets along with the owner, and with state or status, if a
        write has these.
        """
        if self.owner in written:
            yield from self.set_with_owner
        if not self.life.isdisjoint(written):
            yield from self.life


@dataclass(frozen=True, slots=True)
class Users:
    """The entity of the platform's users, and its attributes: the id, the name that people read, whether a
    user is disabled, and the mail address.
    """

    entity: str
    id: str
    name: str
    disabled: str | None = None
    mail: str | None = None


@dataclass(frozen=True, slots=True)
class Notes:
    """The entity of notes, and its attributes: the record that a note is about, its subject, its file (a
    file column), what is known of the file, and whether there is one.
    """

    entity: str
    id: str
    regarding: str
    subject: str
    file: str
    file_name: str
    content_type: str
    size: str
    created: str
    has_file: str


@dataclass(frozen=True, slots=True)
class Conventions:
    """What a platform calls what every CRM has, and what it can do.

    `records` holds for every entity that is not in `entities`. `common` are attributes that people want of
    most entities: the studio suggests them first. `forbidden_processes` are names of processes that no
    endpoint may run, whoever configures it. With `takes_writes_back`, records are in the service's own
    database, and a transaction that is rolled back there takes writes back. With `takes_files_back`, the same
    holds for the content of files.
    """

    records: SystemAttributes = SystemAttributes()
    entities: Mapping[str, SystemAttributes] = field(default_factory=dict)
    users: Users | None = None
    notes: Notes | None = None
    common: frozenset[str] = frozenset()
    abilities: frozenset[Ability] = frozenset()
    forbidden_processes: frozenset[str] = frozenset()
    takes_writes_back: bool = False
    takes_files_back: bool = False

    def of(self, entity: str) -> SystemAttributes:
        """Return the attributes of an entity that the platform sets itself."""
        return self.entities.get(entity, self.records)

    def version_of(self, entity: str, attributes: Mapping[str, Attribute]) -> str | None:
        """Return which of an entity's `attributes` holds a record's version; None if records have no
        versions.
        """
        name = self.of(entity).version
        return name if name in attributes else None
