"""What a platform may offer besides `Platform`: changes of records, indexes, saved views, a copy of metadata.

Each ability is a protocol of its own. Whoever uses one asks with `isinstance` whether the platform has it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from crmclient.errors import MissingPrivilege
from crmclient.platform import SERVICE_CALL, Call
from crmclient.values import Guid


@dataclass(frozen=True, slots=True)
class Indexes:
    """The indexed attributes of an entity. An index finds records by the value of one that is `compared`,
    and by a piece of the text of one that is `searched`; of one that is `sorted` it has all records in order.

    The other attributes of `comparable`, `sortable` and `searchable` can be given such an index. `records` is
    the approximate number of records.
    """

    compared: frozenset[str]
    sorted: frozenset[str]
    searched: frozenset[str]
    comparable: frozenset[str]
    sortable: frozenset[str]
    searchable: frozenset[str]
    records: int


@dataclass(frozen=True, slots=True)
class RecordChanges:
    """Whether records of an entity have changed since a mark, and the `mark` for the next question."""

    mark: str
    any: bool


@runtime_checkable
class TracksChanges(Protocol):
    """A platform that tells whether the records of an entity have changed, whoever changed them.

    It does so for each entity with `Entity.tracks_changes`.
    """

    def record_changes(
        self, entity: str, mark: str | None, *, call: Call = SERVICE_CALL
    ) -> RecordChanges | None:
        """Return what has changed since `mark`. Without a mark, return no changes and the present mark.

        Return None when the platform cannot tell: the mark is too old, or the entity has too many records to
        begin. Raises UnknownEntity, InvalidQuery for an entity without such tracking, and PlatformFailure.
        """
        ...


@runtime_checkable
class RefusesUnsent(Protocol):
    """A platform that is left alone at times, and then refuses calls without sending them."""

    def refuse(self, call: Call = SERVICE_CALL) -> None:
        """Raise the PlatformFailure with which such a call would be refused now. Does not ask the platform.

        A call may be refused for all that. What passes here has not been sent, and changes nothing.
        """
        ...


@runtime_checkable
class TellsIndexes(Protocol):
    """A platform whose indexes are known, and can be added to."""

    def indexes(self, entity: str) -> Indexes | None:
        """Return the indexes of an entity; None where the platform does not tell, as of an entity that shows
        records of others. Raises UnknownEntity.
        """
        ...


@dataclass(frozen=True, slots=True)
class SavedView:
    """A query that somebody has saved on the platform, for the organisation or personally."""

    name: str
    fetchxml: str
    is_personal: bool


@dataclass(frozen=True, slots=True)
class SavedViews:
    """The saved views of an entity, by name, personal ones last.

    `denied` is why those of the organisation are unknown; None where they are known.
    """

    views: tuple[SavedView, ...] = ()
    denied: MissingPrivilege | None = None


@runtime_checkable
class OffersViews(Protocol):
    """A platform on which queries are saved, as FetchXML."""

    def saved_views(self, entity: str) -> SavedViews:
        """Return the saved views that list records of an entity; none for an unknown entity."""
        ...


@runtime_checkable
class KeepsMetadata(Protocol):
    """A platform that keeps a copy of its metadata, which is as old as its last refresh."""

    def refresh_metadata(self) -> bool:
        """Fetch the used metadata anew. Return whether any of them differ.

        Raises PlatformFailure when the platform does not answer. The copy then stays as it is.
        """
        ...

    def missing_privileges(self) -> Mapping[str, str]:
        """Return the parts of the metadata that the service's own account may not read, by the keys of
        `crmclient.metadata_parts`, with the missing privilege: {"processes": "prvReadCustomAPI"}.

        The privilege is empty where the platform does not name it. This does not ask the platform.
        """
        ...

    def metadata_refreshed(self) -> dt.datetime | None:
        """Return the time of the last refresh; None if there was none.

        Before the first refresh, everything is as it was when it was first asked for.
        """
        ...


@runtime_checkable
class FetchesMetadata(Protocol):
    """A platform that fetches its metadata piece by piece when they are asked for, which may take its time.

    Who does not wait for all of it (`crmclient.metadata_deadline`) gets MetadataPending.
    """

    def fetch_metadata_ahead(self, entities: Iterable[str]) -> None:
        """Begin to fetch what is not known yet of some entities, by logical name. Does not wait for it."""
        ...

    def metadata_is_pending(self) -> bool:
        """Return whether metadata is being fetched. This does not ask the platform."""
        ...


@runtime_checkable
class TellsMetadataChanges(Protocol):
    """A platform that keeps a copy of its metadata, and can be asked which parts have changed."""

    def refresh_changed_metadata(self) -> bool:
        """Refresh as `refresh_metadata` does, but fetch only what has changed since the last refresh."""
        ...


class AccessRight(str, Enum):
    """What a privilege lets its holder do with records of one entity, in the platform's own words.

    `APPEND` lets a record refer to another one, and `APPEND_TO` lets it be referred to.
    """

    CREATE = "Create"
    READ = "Read"
    WRITE = "Write"
    DELETE = "Delete"
    ASSIGN = "Assign"
    APPEND = "Append"
    APPEND_TO = "AppendTo"


@dataclass(frozen=True, slots=True)
class Privilege:
    """A privilege on the platform. `name` is for people, such as `prvCreateAccount`."""

    id: Guid
    name: str


class Reach(str, Enum):
    """Which records a privilege reaches, the fewest first, in the platform's own words.

    `OWN`: those of its holder. `UNIT`: those of its holder's business unit. `UNITS`: those of the business
    units below, too.
    """

    OWN = "Basic"
    UNIT = "Local"
    UNITS = "Deep"
    ORGANIZATION = "Global"


@runtime_checkable
class TellsPrivileges(Protocol):
    """A platform that can be asked which privileges there are, and which of them its service account has."""

    def privileges_of_entities(
        self, entities: Iterable[str]
    ) -> Mapping[str, Mapping[AccessRight, Privilege]]:
        """Return the privileges for records of `entities`, by logical name and by what they allow.

        An entity that there is not is left out, and so is what nobody can do with records of an entity.
        Raises PlatformFailure, such as MissingPrivilege.
        """
        ...

    def held_privileges(self) -> frozenset[Guid]:
        """Return the ids of all privileges of the service's own account, those of its teams included.

        Raises PlatformError: MissingPrivilege where the account may not ask, UnknownProcess or
        UnexpectedAnswer where the platform does not tell.
        """
        ...

    def reach_of_privileges(self, names: Iterable[str]) -> Mapping[Guid, Reach]:
        """Return which records those of the privileges `names` reach that the service's own account has, by
        their ids. The privileges of its teams are included.

        Raises PlatformError as `held_privileges` does.
        """
        ...

    def rights_of_process(self, name: str) -> Mapping[str, tuple[AccessRight, ...]] | None:
        """Return the rights to records that the process `name` needs, by entity; None where nobody knows.

        This does not ask the platform.
        """
        ...


@runtime_checkable
class TellsVersion(Protocol):
    """A platform that tells its version."""

    def version(self) -> str:
        """Return the version of the platform, such as `9.2.24000.0`. Raises PlatformFailure."""
        ...
