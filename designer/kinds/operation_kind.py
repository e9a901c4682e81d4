"""What studio, readiness and routing must know of a kind of operation. `runtime.operations` does the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from django.utils.translation import gettext_noop as _

from designer.kinds.effects import Effect, Switch
from designer.kinds.settings import EndpointSettings


class Scope(str, Enum):
    """Where an endpoint of the kind lives in the studio's tree."""

    GLOBAL = "global"
    MODULE = "module"
    ENTITY = "entity"


class Section(str, Enum):
    """The parts of an endpoint's page that only some kinds have."""

    INPUTS = "inputs"
    BINDINGS = "bindings"
    COLUMNS = "columns"
    FETCHERS = "fetchers"
    PRECONDITIONS = "preconditions"


class Place(str, Enum):
    """Where `/api/schema` shows endpoints of the kind."""

    OPERATIONS = "operations"
    FILES = "files"
    ACTIONS = "actions"
    QUERIES = "queries"
    OPTION_SETS = "optionsets"


# For a setting that several kinds have: whether an answer holds the label of an option beside its value.
LABELS = Switch(
    _("labels of options are answered"),
    Effect.ADDITIVE,
    _("labels of options are no longer answered"),
    Effect.BREAKING,
)
# The sections of what happens between the inputs and the platform. Any kind that checks its callers can have
# them.
STEPS = frozenset({Section.FETCHERS, Section.PRECONDITIONS})


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one method does, for kinds whose methods do different things. `done` describes the answer 204."""

    label: str
    summary: str
    done: str


@dataclass(frozen=True, slots=True)
class OperationKind:
    """A kind of operation.

    `path` is a template of `{module}`, `{segment}`, `{name}`, `{id}` (a record's id in the request),
    `{relatedId}` (the id of a record that it is related to) and, at its end, `{value}` (of an alternate key,
    by which the record is found). `methods` are the HTTP methods of that path, of
    which an endpoint may take fewer (`EndpointSettings.methods`). They are spellings of one operation, unless
    `meanings` says what each does. `settings` declares what only this kind needs; its fields are
    the form's. `binds_all_required`: what the platform requires must be set. `partial`: calls change the
    path's record, also in a kind without inputs; an input that is not sent leaves its attribute alone, so
    defaults mean nothing. `public` is what a new endpoint's access starts as. `takes_lists`: inputs may be
    lists of records that are made along with the endpoint's own.
    `takes_files`: calls send a file, and no JSON. `removes_records`: calls remove the path's record.
    `summary` is the sentence the studio shows beside the kind. `place` says where `/api/schema` shows it.
    """

    name: str
    label: str
    summary: str
    scope: Scope
    methods: tuple[str, ...]
    path: str
    settings: type[EndpointSettings] = EndpointSettings
    sections: frozenset[Section] = frozenset()
    binds_all_required: bool = False
    partial: bool = False
    public: bool = False
    takes_lists: bool = False
    takes_files: bool = False
    removes_records: bool = False
    place: Place = Place.OPERATIONS
    meanings: Mapping[str, Meaning] = field(default_factory=dict)

    @property
    def writes(self) -> bool:
        """Whether calls may change something: the kind has a method other than GET."""
        return any(method != "GET" for method in self.methods)

    @property
    def is_by_id(self) -> bool:
        """Whether the path holds a record's id."""
        return "{id}" in self.path

    @property
    def is_by_key(self) -> bool:
        """Whether the path ends in the value of an alternate key."""
        return "{value}" in self.path

    @property
    def is_on_record(self) -> bool:
        """Whether endpoints are about one existing record, which the path names.

        An upsert is not: the record with its key may not exist yet.
        """
        return self.is_by_id or (self.is_by_key and not self.settings.creates_records)

    @property
    def makes_new_records(self) -> bool:
        """Whether each call makes a record. An upsert may change one instead."""
        return self.settings.creates_records and not self.is_by_key

    @property
    def is_on_related_record(self) -> bool:
        """Whether endpoints are about a second record, too: that of the second id in the path."""
        return "{relatedId}" in self.path

    @property
    def writes_records(self) -> bool:
        """Whether calls create, change or remove records of the endpoint's entity, or their files."""
        return self.settings.creates_records or self.partial or self.removes_records or self.takes_files

    @property
    def has_rows(self) -> bool:
        """Whether endpoints reach or make records, which a row rule can narrow."""
        settings = self.settings
        reaches_records = settings.asks_query or settings.creates_records or settings.reaches_records
        return self.is_on_record or reaches_records

    @property
    def is_named(self) -> bool:
        """Whether the path holds the endpoint's own name."""
        return "{name}" in self.path

    def path_of(self, *, module: str, segment: str, name: str) -> str:
        """Return the path, in which `{id}`, `{relatedId}` and `{value}` stay placeholders for values of a
        request.
        """
        # `format` demands a value for each placeholder: these stand for themselves.
        placeholders = {place: f"{{{place}}}" for place in ("id", "relatedId", "value")}
        return self.path.format(module=module, segment=segment, name=name, **placeholders)
