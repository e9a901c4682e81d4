"""The platform, in CRM terms: the one interface that the product writes to.

Two implementations: `crmbox` (a CRM in the box) and `crmclient.dataverse` (the Dataverse Web
API). Both raise the errors of `crmclient.errors` and nothing else of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import BinaryIO, Protocol, TypeAlias

from typing_extensions import get_protocol_members

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
    """The groups of calls among which a platform's budget is shared out."""

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
        """Create a record. The caller may choose its `id`, so that a repeated call cannot create a second
        record.

        Raises UnknownEntity, InvalidRecord (every wrong value at once), DuplicateKey; PossibleDuplicate where
        the call refuses them.
        """
        ...

    def retrieve(self, entity: str, id: Guid, columns: Sequence[str], *, call: Call = SERVICE_CALL) -> Record:
        """Return the attributes `columns` of a record.

        Raises UnknownEntity, InvalidRecord (unknown column), RecordNotFound.
        """
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
        """Write `values`, and no other attribute; None clears one. Never creates a record.

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
        """Write `values` to the record with an alternate key, or create a record of `key` and `values`.

        `key` has a value for each of the key's attributes, and `values` has none of them. With `exists` True
        the record is never created: raises RecordNotFound, whose id is the key as `alternate_keys.key_text`
        has it. With `exists` False it is never updated: raises DuplicateKey. With `if_version` the record
        must exist and have that version. Where the call may both create and update, `values` may only have
        attributes that both can write. Raises UnknownKey, RecordNotFound, VersionMismatch, and what `create`
        raises; Unsupported.
        """
        ...

    def delete(
        self, entity: str, id: Guid, *, if_version: str | None = None, call: Call = SERVICE_CALL
    ) -> None:
        """Delete a record.

        Raises RecordNotFound, VersionMismatch, StateConflict (a relationship restricts the delete).
        """
        ...

    def batch(self, operations: Sequence[Operation], *, call: Call = SERVICE_CALL) -> list[Stored | None]:
        """Do all of `operations` in one transaction, or none. Return one result for each, None for a delete.

        Raises what the first failing operation raises, with its index as the error's `item`; Unsupported.
        """
        ...

    def associate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        """Tie the record `id` of `entity` to the record `related` of the relationship's other entity.

        `relationship` names a many-to-many relationship. Do nothing if the two are tied already: a repeated
        call succeeds. Neither record changes, so both keep their versions. A relationship of an entity with
        itself leads from `id` to `related`: the other direction is another tie. A one-to-many relationship is
        refused: its tie is the value of a lookup, which belongs to one record, has a version, and may replace
        another tie. `update` writes it. Raises UnknownEntity, UnknownRelationship, RecordNotFound (naming
        whichever record is missing).
        """
        ...

    def disassociate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        """Untie two records that `associate` ties. Do nothing if they are not tied.

        Raises what `associate` raises.
        """
        ...

    def query(self, query: Query, page: Page = ALL, *, call: Call = SERVICE_CALL) -> QueryResult:
        """Return the rows of a query. Raises UnknownEntity, InvalidQuery (unknown attributes, wrong page
        tokens).
        """
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
        """Write a file to a file or image column, reading it in blocks. If reading breaks off, the old file
        stays.

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
        """Return the file in a column from byte `start` on, at most `length` bytes; None when the column is
        empty.

        `known` is the description of the file that `retrieve` or `query` has just returned. The platform is
        then not asked for it again. If the file has been replaced since, the answer may have another `info`,
        or the call raises FileLost. Raises UnknownEntity, RecordNotFound, InvalidRecord (no file column);
        Unsupported.
        """
        ...

    def thumbnail(
        self, entity: str, id: Guid, attribute: str, *, call: Call = SERVICE_CALL
    ) -> Download | None:
        """Return a small copy of the image in a column, as a whole; None when there is none.

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
        """Run a process, bound to `target` or unbound. Return its outputs.

        Raises UnknownProcess, InvalidRecord, Refused. For a wrong value in a record among the inputs, the
        problem's `attribute` is its place: `OpportunityClose/subject`, or `Lines/2/quantity` in a list of
        records.
        """
        ...

    # Metadata

    def entities(self) -> Mapping[str, Entity]:
        """Return every entity by logical name."""
        ...

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        """Return the attributes of an entity by logical name. Raises UnknownEntity."""
        ...

    def relationships(self, entity: str) -> Sequence[Relationship]:
        """Return the relationships that have the entity at either end."""
        ...

    def option_set(self, name: str, *, entity: str | None = None) -> OptionSet:
        """Return a global option set by name or, with `entity`, the option set of the choice attribute
        `name`.

        Raises UnknownEntity, UnknownOptionSet.
        """
        ...

    def option_sets(self) -> Mapping[str, OptionSet]:
        """Return every global option set by name."""
        ...

    def processes(self) -> Mapping[str, Process]:
        """Return every custom process by name."""
        ...

    def languages(self) -> Sequence[int]:
        """Return the LCIDs of the provisioned languages, the base language first."""
        ...

    def security_roles(self) -> Sequence[SecurityRole]:
        """Return the security roles; empty for a platform without any."""
        ...

    def metadata_revision(self) -> str:
        """Return a text that changes whenever metadata change. Compare it for equality only."""
        ...

    # Users

    def who(self) -> Guid:
        """Return the user that the service itself acts as. Raises Unsupported on a platform without users."""
        ...

    def user(self, id: Guid) -> PlatformUser:
        """Return a user with its teams and business unit.

        Raises RecordNotFound; on a platform without users, for every id.
        """
        ...

    def reports(self, id: Guid, *, call: Call = SERVICE_CALL) -> UserReports:
        """Return the users who report to a user, directly or through others.

        Empty on a platform without users, or without managers.
        """
        ...


def missing_members(platform: object) -> list[str]:
    """Return the names of the members of `Platform` that an object lacks, in alphabetical order."""
    return sorted(name for name in get_protocol_members(Platform) if not hasattr(platform, name))
