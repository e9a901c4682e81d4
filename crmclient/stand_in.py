"""What stands in for a platform. It implements each member of `Platform`, and declares what the member does.

A member that is not declared here does not exist on a stand-in, so that no call passes it unseen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import wraps
from typing import Any, BinaryIO, Concatenate, NamedTuple, ParamSpec, TypeVar

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
from crmclient.platform import SERVICE_CALL, Call, Operation, Platform
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

P = ParamSpec("P")
R = TypeVar("R")


class Effect(Enum):
    """The effect of a call of a platform's member."""

    METADATA = "reads metadata"
    READ = "reads data"
    WRITE = "writes"


class MemberCall(NamedTuple):
    """One call of a member: its name, what it does, its positional arguments, and the keyword ones
    (`options`).
    """

    member: str
    effect: Effect
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]


def _declared(
    effect: Effect,
) -> Callable[[Callable[Concatenate[StandIn, P], R]], Callable[Concatenate[StandIn, P], R]]:
    """Declare the effect of a member, and pass its calls to the stand-in's `answer`."""

    def decorate(member: Callable[Concatenate[StandIn, P], R]) -> Callable[Concatenate[StandIn, P], R]:
        """Note the effect under the member's name, and put `asked` in the member's place."""

        @wraps(member)
        def asked(self: StandIn, /, *args: P.args, **kwargs: P.kwargs) -> R:
            """Return what `answer` makes of the call. It may have the member itself ask the platform."""
            request = MemberCall(member.__name__, effect, args, kwargs)
            return self.answer(request, lambda: member(self, *args, **kwargs))

        EFFECTS[member.__name__] = effect
        return asked

    return decorate


# What each declared member does, by its name.
EFFECTS: dict[str, Effect] = {}


class StandIn(ABC):
    """A `Platform` in front of `platform`; `answer` decides what becomes of each call."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.conventions = platform.conventions
        self.local_revision_sql = platform.local_revision_sql

    @abstractmethod
    def answer(self, member_call: MemberCall, ask: Callable[[], R]) -> R:
        """Return what the caller of a member gets; `ask` asks the platform itself."""

    @_declared(Effect.WRITE)
    def create(
        self, entity: str, values: Values, *, id: Guid | None = None, call: Call = SERVICE_CALL
    ) -> Stored:
        return self._platform.create(entity, values, id=id, call=call)

    @_declared(Effect.READ)
    def retrieve(self, entity: str, id: Guid, columns: Sequence[str], *, call: Call = SERVICE_CALL) -> Record:
        return self._platform.retrieve(entity, id, columns, call=call)

    @_declared(Effect.WRITE)
    def update(
        self,
        entity: str,
        id: Guid,
        values: Values,
        *,
        if_version: str | None = None,
        call: Call = SERVICE_CALL,
    ) -> Stored:
        return self._platform.update(entity, id, values, if_version=if_version, call=call)

    @_declared(Effect.WRITE)
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
        return self._platform.upsert(entity, key, values, exists=exists, if_version=if_version, call=call)

    @_declared(Effect.WRITE)
    def delete(
        self, entity: str, id: Guid, *, if_version: str | None = None, call: Call = SERVICE_CALL
    ) -> None:
        return self._platform.delete(entity, id, if_version=if_version, call=call)

    @_declared(Effect.WRITE)
    def batch(self, operations: Sequence[Operation], *, call: Call = SERVICE_CALL) -> list[Stored | None]:
        return self._platform.batch(operations, call=call)

    @_declared(Effect.WRITE)
    def associate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        return self._platform.associate(entity, id, relationship, related, call=call)

    @_declared(Effect.WRITE)
    def disassociate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        return self._platform.disassociate(entity, id, relationship, related, call=call)

    @_declared(Effect.READ)
    def query(self, query: Query, page: Page = ALL, *, call: Call = SERVICE_CALL) -> QueryResult:
        return self._platform.query(query, page, call=call)

    @_declared(Effect.WRITE)
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
        return self._platform.upload(
            entity,
            id,
            attribute,
            content,
            file_name=file_name,
            content_type=content_type,
            if_version=if_version,
            call=call,
        )

    @_declared(Effect.READ)
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
        return self._platform.download(
            entity, id, attribute, start=start, length=length, known=known, call=call
        )

    @_declared(Effect.READ)
    def thumbnail(
        self, entity: str, id: Guid, attribute: str, *, call: Call = SERVICE_CALL
    ) -> Download | None:
        return self._platform.thumbnail(entity, id, attribute, call=call)

    # Nothing says of a process that it only reads.
    @_declared(Effect.WRITE)
    def execute(
        self,
        process: str,
        inputs: ProcessValues,
        *,
        target: Reference | None = None,
        call: Call = SERVICE_CALL,
    ) -> ProcessValues:
        return self._platform.execute(process, inputs, target=target, call=call)

    @_declared(Effect.METADATA)
    def entities(self) -> Mapping[str, Entity]:
        return self._platform.entities()

    @_declared(Effect.METADATA)
    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        return self._platform.attributes(entity)

    @_declared(Effect.METADATA)
    def relationships(self, entity: str) -> Sequence[Relationship]:
        return self._platform.relationships(entity)

    @_declared(Effect.METADATA)
    def option_set(self, name: str, *, entity: str | None = None) -> OptionSet:
        return self._platform.option_set(name, entity=entity)

    @_declared(Effect.METADATA)
    def option_sets(self) -> Mapping[str, OptionSet]:
        return self._platform.option_sets()

    @_declared(Effect.METADATA)
    def processes(self) -> Mapping[str, Process]:
        return self._platform.processes()

    @_declared(Effect.METADATA)
    def languages(self) -> Sequence[int]:
        return self._platform.languages()

    @_declared(Effect.METADATA)
    def security_roles(self) -> Sequence[SecurityRole]:
        return self._platform.security_roles()

    @_declared(Effect.METADATA)
    def metadata_revision(self) -> str:
        return self._platform.metadata_revision()

    @_declared(Effect.METADATA)
    def who(self) -> Guid:
        return self._platform.who()

    @_declared(Effect.READ)
    def user(self, id: Guid) -> PlatformUser:
        return self._platform.user(id)

    @_declared(Effect.READ)
    def reports(self, id: Guid, *, call: Call = SERVICE_CALL) -> UserReports:
        return self._platform.reports(id, call=call)
