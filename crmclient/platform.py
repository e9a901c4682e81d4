"""The platform, in CRM terms: the one interface that the product writes to.

Two implementations: `crmbox` (a CRM in the box) and `crmclient.dataverse` (the Dataverse Web
API). Both raise the errors of `crmclient.errors` and nothing else of their own.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import BinaryIO, Protocol, TypeAlias, runtime_checkable

from crmclient.conventions import Conventions
from crmclient.metadata import (
    Attribute,
    Entity,
    OptionSet,
    PlatformUser,
    Process,
    Relationship,
    SecurityRole,
    UserReports,
)
from crmclient.query.ast import ALL, Page, Query
from crmclient.values import (
    Download,
    FileInfo,
    Guid,
    ProcessValues,
    QueryResult,
    Record,
    Reference,
    Stored,
    Upserted,
    Values,
)


class Share(Enum):
    """The groups of calls that a platform's budget is shared out to."""

    WRITES = "writes"
    READS = "reads"
    ANONYMOUS = "anonymous"
    BACKGROUND = "background"


@dataclass(frozen=True, slots=True)
class Call:
    """How a call is made: for whom, and until when.

    `caller` is the platform user acted for (impersonation), None for the service's own account. `deadline`
    is a `time.monotonic()` second after which the call must have ended, with DeadlineExceeded.
    `about_caller`: it asks who the caller is, and is not kept waiting by calls that ask for anything else.
    `share` is the part of the platform's budget that pays for the call, and `spender` what it is counted
    under, such as an endpoint's key. `refuses_duplicates`: what is written must be no duplicate by the
    platform's own rules, which otherwise are not applied.
    """

    caller: Guid | None = None
    deadline: float | None = None
    about_caller: bool = False
    share: Share = Share.BACKGROUND
    spender: str = ""
    refuses_duplicates: bool = False


SERVICE_CALL = Call()


@dataclass(frozen=True, slots=True)
class Create:
    """A create inside a batch. A lookup may refer to an earlier item by its id, chosen by the caller."""

    entity: str
    values: Values
    id: Guid | None = None


@dataclass(frozen=True, slots=True)
class Update:
    entity: str
    id: Guid
    values: Values
    if_version: str | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    entity: str
    id: Guid
    if_version: str | None = None


Operation: TypeAlias = Create | Update | Delete


class Platform(Protocol):
    """Records, queries, files, processes and metadata of a CRM.

    `conventions` says what the platform calls what every CRM has, and what it can do. It stays the same while
    the process runs, and asks nothing. What it does not declare is never asked for, and refused all the same:
    a query with InvalidQuery, everything else with Unsupported.

    `local_revision_sql` is for a platform that keeps its metadata in the service's own database: a scalar SQL
    expression for what `metadata_revision` answers, to be read along with the service's own. None elsewhere.
    """

    conventions: Conventions
    local_revision_sql: str | None

    # Records

    def create(
        self, entity: str, values: Values, *, id: Guid | None = None, call: Call = SERVICE_CALL
    ) -> Stored:
        """Create a record; `id` may be chosen by the caller, so that a retry cannot double it.

        Raises UnknownEntity, InvalidRecord (every wrong value at once), DuplicateKey; PossibleDuplicate
        where the call refuses them.
        """
        ...

    def retrieve(self, entity: str, id: Guid, columns: Sequence[str], *, call: Call = SERVICE_CALL) -> Record:
        """One record's `columns`. Raises UnknownEntity, InvalidRecord (unknown column), RecordNotFound."""
        ...

    def update(
        self,
        entity: str,
        id: Guid,
        values: Values,
        *,
        if_version: str | None = None,
        call: Call = SERVICE_CALL,
    ) -> Stored:
        """Write `values` only; None clears. Never creates.

        Raises RecordNotFound, VersionMismatch, and what `create` raises.
        """
        ...

    def upsert(
        self,
        entity: str,
        key: Values,
        values: Values,
        *,
        exists: bool | None = None,
        if_version: str | None = None,
        call: Call = SERVICE_CALL,
    ) -> Upserted:
        """Write `values` to the record of an alternate key, or create one of `key` and `values`.

        `key` has a value for each of the key's attributes, and `values` has none of them. `exists` says what
        the caller takes for granted: True never creates, and raises RecordNotFound, whose id is the key as
        `alternate_keys.written` has it; False never updates, and raises DuplicateKey. With `if_version` the
        record exists, and has that version. Unless it is said whether it exists, `values` are of attributes
        that can be both created and updated.

        Raises UnknownKey, RecordNotFound, VersionMismatch, and what `create` raises; Unsupported.
        """
        ...

    def delete(
        self, entity: str, id: Guid, *, if_version: str | None = None, call: Call = SERVICE_CALL
    ) -> None:
        """Raises RecordNotFound, VersionMismatch, StateConflict (a restricting relationship)."""
        ...

    def batch(self, operations: Sequence[Operation], *, call: Call = SERVICE_CALL) -> list[Stored | None]:
        """All of `operations` in one transaction, or none: one answer each, None for a delete.

        Raises what the first operation that fails raises, with its index as the error's `item`; Unsupported.
        """
        ...

    def associate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        """Tie the record `id` of `entity` to the record `related` of the relationship's other entity.

        `relationship` names a many-to-many one between two entities. Nothing happens where the two are tied
        already: a repeated call succeeds. Neither record changes, so both keep their versions.

        A one-to-many relationship is refused: there a tie is the value of a lookup, which belongs to one
        record, has a version, and may replace another. `update` writes it. A relationship of an entity with
        itself is refused too, since it has two directions, which a name does not tell apart.

        Raises UnknownEntity, UnknownRelationship, RecordNotFound (naming whichever record is missing).
        """
        ...

    def disassociate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        """Untie what `associate` ties. Nothing happens where the two are not tied.

        Raises what `associate` raises.
        """
        ...

    def query(self, query: Query, page: Page = ALL, *, call: Call = SERVICE_CALL) -> QueryResult:
        """Rows of a query. Raises UnknownEntity, InvalidQuery (unknown attributes, bad tokens)."""
        ...

    # Files

    def upload(
        self,
        entity: str,
        id: Guid,
        attribute: str,
        content: BinaryIO,
        *,
        file_name: str,
        content_type: str,
        if_version: str | None = None,
        call: Call = SERVICE_CALL,
    ) -> FileInfo:
        """Put a file into a file or image column, read in blocks. A broken-off read leaves the old file.

        Raises UnknownEntity, RecordNotFound, VersionMismatch, InvalidRecord; Unsupported.
        """
        ...

    def download(
        self,
        entity: str,
        id: Guid,
        attribute: str,
        *,
        start: int = 0,
        length: int | None = None,
        known: FileInfo | None = None,
        call: Call = SERVICE_CALL,
    ) -> Download | None:
        """The file of a column from byte `start` on, at most `length` bytes; None when there is none.

        `known` is what `retrieve` or `query` has just said of the column, which is not asked for again: of a
        file that has been replaced since, the answer may say so by another `info`, or raise FileLost.

        Raises UnknownEntity, RecordNotFound, InvalidRecord (no file column); Unsupported.
        """
        ...

    def thumbnail(
        self, entity: str, id: Guid, attribute: str, *, call: Call = SERVICE_CALL
    ) -> Download | None:
        """The image of a column made small, whole; None when there is none.

        Raises UnknownEntity, RecordNotFound, InvalidRecord (no image column); Unsupported.
        """
        ...

    # Processes

    def execute(
        self,
        process: str,
        inputs: ProcessValues,
        *,
        target: Reference | None = None,
        call: Call = SERVICE_CALL,
    ) -> ProcessValues:
        """Run a process, bound to `target` or unbound. Raises UnknownProcess, InvalidRecord, Refused.

        Of what is wrong with a record that it is handed, `attribute` is its place among the inputs:
        `OpportunityClose/subject`, or `Lines/2/quantity` where there are several.
        """
        ...

    # Metadata

    def entities(self) -> Mapping[str, Entity]:
        """Every entity by logical name."""
        ...

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        """The attributes of an entity by logical name. Raises UnknownEntity."""
        ...

    def relationships(self, entity: str) -> Sequence[Relationship]:
        """The relationships in which an entity takes part, on either side."""
        ...

    def option_set(self, name: str, *, entity: str | None = None) -> OptionSet:
        """A global option set by name or, with `entity`, that of the choice attribute `name`.

        Raises UnknownEntity, UnknownOptionSet.
        """
        ...

    def option_sets(self) -> Mapping[str, OptionSet]:
        """Every global option set by name."""
        ...

    def processes(self) -> Mapping[str, Process]:
        """Every custom process by name."""
        ...

    def languages(self) -> Sequence[int]:
        """The LCIDs that are provisioned, the base language first."""
        ...

    def security_roles(self) -> Sequence[SecurityRole]:
        """None where the platform has none."""
        ...

    def metadata_revision(self) -> str:
        """Changes whenever metadata changes; compare for equality only."""
        ...

    # Users

    def who(self) -> Guid:
        """The user that the service itself acts as. Raises Unsupported on a platform without users."""
        ...

    def user(self, id: Guid) -> PlatformUser:
        """A user with its teams and business unit. Raises RecordNotFound, as for every id where the
        platform has no users."""
        ...

    def reports(self, id: Guid, *, call: Call = SERVICE_CALL) -> UserReports:
        """Who reports to a user, directly or through others. Nobody where the platform has no users, or
        keeps no managers."""
        ...


@dataclass(frozen=True, slots=True)
class Indexes:
    """The attributes of an entity by which records are found without a look at each: `sorted` by value and
    order, `searched` by pieces of text. The others of `sortable` and `searchable` can be given such an index.
    `records`: about how many there are.
    """

    sorted: frozenset[str]
    searched: frozenset[str]
    sortable: frozenset[str]
    searchable: frozenset[str]
    records: int


@dataclass(frozen=True, slots=True)
class RecordChanges:
    """Whether records of an entity have changed since a mark, and the `mark` to ask with the next time."""

    mark: str
    any: bool


@runtime_checkable
class TracksChanges(Protocol):
    """A platform that can be asked whether the records of an entity have changed, whoever changed them: of
    each entity with `Entity.tracks_changes`."""

    def record_changes(
        self, entity: str, mark: str | None, *, call: Call = SERVICE_CALL
    ) -> RecordChanges | None:
        """What has changed since `mark`; without one, nothing, and the mark of now.

        None where that cannot be told: the mark is too old, or there are too many records to begin with.
        Raises UnknownEntity, InvalidQuery for an entity without such tracking, and PlatformFailure.
        """
        ...


@runtime_checkable
class TellsIndexes(Protocol):
    """A platform whose indexes are known, and can be added to."""

    def indexes(self, entity: str) -> Indexes:
        """Raises UnknownEntity."""
        ...


@dataclass(frozen=True, slots=True)
class SavedView:
    """A query that somebody has saved on the platform, for the organisation or personally."""

    name: str
    fetchxml: str
    is_personal: bool


@runtime_checkable
class OffersViews(Protocol):
    """A platform on which queries are saved, as FetchXML."""

    def saved_views(self, entity: str) -> Sequence[SavedView]:
        """Those that list records of an entity, by name, personal ones last. None of an unknown entity."""
        ...


@runtime_checkable
class KeepsMetadata(Protocol):
    """A platform that keeps a copy of its metadata, which is as old as its last refresh."""

    def refresh_metadata(self) -> bool:
        """Fetch anew what is in use of it; whether any of it was different.

        Raises PlatformFailure when the platform does not tell: then the copy stays as it is.
        """
        ...

    def missing_privileges(self) -> Mapping[str, str]:
        """What is unknown of the metadata because the service's own account may not read it, with the
        privilege that it lacks (empty where the platform does not name it). Asks nothing."""
        ...

    def metadata_refreshed(self) -> dt.datetime | None:
        """When that was last done; None: never, so that everything is as it was when first asked for."""
        ...


@runtime_checkable
class TellsMetadataChanges(Protocol):
    """A platform that keeps a copy of its metadata, and can be asked what of it has changed."""

    def refresh_changed_metadata(self) -> bool:
        """As `refresh_metadata`, for the price of what has changed since the last time."""
        ...
