"""The CRM in the box, behind the platform's interface. Every method opens one unit of work and delegates."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from crmbox import users
from crmbox.engine.bulkhead import Bulkhead
from crmbox.engine.connection import read_unit, write_unit
from crmbox.engine.deadlines import Work, check_deadline
from crmbox.engine.identities import SERVICE_USER
from crmbox.engine.queries import run_at_once as run_query_at_once
from crmbox.engine.revision import LOCAL_REVISION_SQL
from crmbox.engine.single_statements import single_read, single_unit
from crmbox.entity_indexes import entity_indexes
from crmbox.processes.registry import Context
from crmbox.processes.run import execute, offered_processes
from crmbox.records import deletions
from crmbox.records.associations import associate, disassociate
from crmbox.records.batch import run_batch
from crmbox.records.create import create, create_at_once
from crmbox.records.delete import delete
from crmbox.records.duplicates import refuse_duplicates
from crmbox.records.party_queries import run_query
from crmbox.records.record_files import Upload, download, image_thumbnail
from crmbox.records.retrieve import retrieve, retrieve_at_once
from crmbox.records.update import update, update_at_once
from crmbox.records.upsert import upsert
from crmbox.saved_views import saved_views
from crmclient.dataverse.conventions import CONVENTIONS
from crmclient.dataverse.users import reports
from crmclient.ended_connections import ask_again_if_ended
from crmclient.errors import PlatformError, Unavailable
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
from crmclient.optional_abilities import Indexes, RecordChanges, SavedViews
from crmclient.platform import SERVICE_CALL, Call, Operation
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

T = TypeVar("T")


class EmbeddedPlatform:
    """`crmclient.Platform` on the tables of one of Django's databases.

    Calls hold a place of `bulkhead` while they work; those about the caller hold one of `caller_bulkhead`.
    """

    local_revision_sql: str | None = LOCAL_REVISION_SQL

    def __init__(
        self,
        alias: str = DEFAULT_DB_ALIAS,
        *,
        bulkhead: Bulkhead | None = None,
        caller_bulkhead: Bulkhead | None = None,
    ) -> None:
        """Serve the tables of the database `alias`. Without a bulkhead, calls are not limited."""
        # It stands in for Dataverse, so it uses the names of Dataverse, too. But its records, and files that
        # are kept in the database, are undone with a transaction of the service.
        self.conventions = replace(
            CONVENTIONS, takes_writes_back=True, takes_files_back=settings.PORTICO["CRM_FILES"] == "database"
        )
        self._alias = alias
        self._bulkhead = bulkhead
        self._caller_bulkhead = caller_bulkhead

    def create(
        self, entity: str, values: Values, *, id: Guid | None = None, call: Call = SERVICE_CALL
    ) -> Stored:
        """Create a record: by one statement where that will do, else in a transaction of several."""
        with self._work(call):
            # The fast way is one statement, but to look for duplicates needs more. `single_unit` returns None
            # where one statement cannot be used at all, `create_at_once` where these values need more.
            single = None if call.refuses_duplicates else single_unit(self._alias)
            if single is not None:
                stored = create_at_once(single, entity, values, id=id, caller=call.caller)
                if stored is not None:
                    return stored
            with write_unit(self._alias) as unit:
                created = create(unit, entity, values, id=id, caller=call.caller)
                refuse_duplicates(unit, entity, created.id, call)
                return created

    def retrieve(self, entity: str, id: Guid, columns: Sequence[str], *, call: Call = SERVICE_CALL) -> Record:
        """Return the attributes `columns` of a record: by one statement where that will do."""

        # A function of its own, because `_read` calls it again where the connection was cut meanwhile.
        def read() -> Record:
            check_deadline(call)
            # Most records are read by one statement without a transaction. Where that finds nothing, because
            # the metadata has changed or there is no such record, the unit of work reads it or says why not.
            single = single_read(self._alias)
            if single is not None:
                record = retrieve_at_once(single, entity, id, tuple(columns))
                if record is not None:
                    return record
            with read_unit(self._alias) as unit:
                return retrieve(unit, entity, id, tuple(columns))

        return self._read(read, call)

    def update(
        self,
        entity: str,
        id: Guid,
        values: Values,
        *,
        if_version: str | None = None,
        call: Call = SERVICE_CALL,
    ) -> Stored:
        """Write `values`: by one statement where that will do, else in a transaction of several."""
        with self._work(call):
            # The fast way is one statement, as in `create`. None says that it does not do.
            single = None if call.refuses_duplicates else single_unit(self._alias)
            if single is not None:
                stored = update_at_once(single, entity, id, values, if_version=if_version, caller=call.caller)
                if stored is not None:
                    return stored
            with write_unit(self._alias) as unit:
                updated = update(unit, entity, id, values, if_version=if_version, caller=call.caller)
                refuse_duplicates(unit, entity, updated.id, call, values)
                return updated

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
        """Write `values` to the record with an alternate key, or create one of `key` and `values`."""
        with self._work(call), write_unit(self._alias) as unit:
            upserted = upsert(
                unit, entity, key, values, exists=exists, if_version=if_version, caller=call.caller
            )
            # For a new record, every rule counts; for a changed one, those about a changed attribute.
            refuse_duplicates(unit, entity, upserted.id, call, None if upserted.created else values)
            return upserted

    def delete(
        self, entity: str, id: Guid, *, if_version: str | None = None, call: Call = SERVICE_CALL
    ) -> None:
        with self._work(call), write_unit(self._alias) as unit:
            delete(unit, entity, id, if_version=if_version, caller=call.caller)

    def batch(self, operations: Sequence[Operation], *, call: Call = SERVICE_CALL) -> list[Stored | None]:
        with self._work(call), write_unit(self._alias) as unit:
            return run_batch(unit, operations, call)

    def associate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        with self._work(call), write_unit(self._alias) as unit:
            associate(unit, entity, id, relationship, related, caller=call.caller)

    def disassociate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        with self._work(call), write_unit(self._alias) as unit:
            disassociate(unit, entity, id, relationship, related, caller=call.caller)

    def query(self, query: Query, page: Page = ALL, *, call: Call = SERVICE_CALL) -> QueryResult:
        """Return a page of a query's rows: by one statement where that will do."""

        # A function of its own, because `_read` calls it again where the connection was cut meanwhile.
        def read() -> QueryResult:
            check_deadline(call)
            # The fast way is one statement without a transaction. It returns None for a query that needs
            # more.
            single = single_read(self._alias)
            if single is not None:
                answer = run_query_at_once(single, query, page)
                if answer is not None:
                    return answer
            with read_unit(self._alias) as unit:
                return run_query(unit, query, page)

        return self._read(read, call)

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
        """Write a file to a file or image column. What has been stored of a failed upload is removed."""
        upload = Upload(
            alias=self._alias, entity=entity, record=id, attribute=attribute, if_version=if_version, call=call
        )
        try:
            with self._work(call):
                return upload.run(content, file_name, content_type)
        except BaseException:
            # The deadline of the call may have ended it, so the cleaning has a deadline of its own.
            with suppress(PlatformError), self._work(Call(deadline=time.monotonic() + _CLEANING_SECONDS)):
                upload.abandon()
            raise

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
        with self._work(call):
            return download(self._alias, entity, id, attribute, start, length, known)

    def thumbnail(
        self, entity: str, id: Guid, attribute: str, *, call: Call = SERVICE_CALL
    ) -> Download | None:
        with self._work(call):
            return image_thumbnail(self._alias, entity, id, attribute)

    def execute(
        self,
        process: str,
        inputs: ProcessValues,
        *,
        target: Reference | None = None,
        call: Call = SERVICE_CALL,
    ) -> ProcessValues:
        with self._work(call):
            return execute(self._alias, process, inputs, Context(self, call, target))

    def entities(self) -> Mapping[str, Entity]:
        with read_unit(self._alias) as unit:
            return {name: stored.entity for name, stored in unit.snapshot.entities.items()}

    def record_changes(
        self, entity: str, mark: str | None, *, call: Call = SERVICE_CALL
    ) -> RecordChanges | None:
        with self._work(call), read_unit(self._alias) as unit:
            return deletions.record_changes(unit, entity, mark)

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        with read_unit(self._alias) as unit:
            return unit.snapshot.entity(entity).attributes

    def relationships(self, entity: str) -> Sequence[Relationship]:
        with read_unit(self._alias) as unit:
            # The result is not used: this raises UnknownEntity.
            unit.snapshot.entity(entity)
            return unit.snapshot.relationships_of(entity)

    def option_set(self, name: str, *, entity: str | None = None) -> OptionSet:
        with read_unit(self._alias) as unit:
            return unit.snapshot.option_set(name, entity)

    def option_sets(self) -> Mapping[str, OptionSet]:
        with read_unit(self._alias) as unit:
            return unit.snapshot.option_sets

    def processes(self) -> Mapping[str, Process]:
        with read_unit(self._alias) as unit:
            return offered_processes(unit.snapshot)

    def languages(self) -> Sequence[int]:
        with read_unit(self._alias) as unit:
            return unit.snapshot.languages

    def security_roles(self) -> Sequence[SecurityRole]:
        with read_unit(self._alias) as unit:
            return users.security_roles(unit)

    def indexes(self, entity: str) -> Indexes | None:
        with read_unit(self._alias) as unit:
            return entity_indexes(unit, entity)

    def saved_views(self, entity: str) -> SavedViews:
        return SavedViews(tuple(saved_views(self.query, entity)))

    def metadata_revision(self) -> str:
        with read_unit(self._alias) as unit:
            return unit.snapshot.revision.token

    def who(self) -> Guid:
        return SERVICE_USER

    def user(self, id: Guid) -> PlatformUser:
        """Return a user. The places for calls about the caller are used, whichever call this serves."""

        def read() -> PlatformUser:
            with read_unit(self._alias) as unit:
                return users.user(unit, id)

        return self._read(read, _ABOUT_CALLER)

    def _read(self, read: Callable[[], T], call: Call) -> T:
        """Return what `read` reads, in a place of the bulkhead and within the call's deadline."""
        with self._work(call):
            # A read changes nothing, so it may be done again where its connection was cut.
            return ask_again_if_ended(connections[self._alias], read, (Unavailable,))

    def reports(self, id: Guid, *, call: Call = SERVICE_CALL) -> UserReports:
        # The service itself asks: a user may not be allowed to read everybody below.
        return reports(self.query, id, replace(call, caller=None))

    def _work(self, call: Call) -> Work:
        """Return the context manager of a call's work: with its place, its deadline and its tally.

        Raises DeadlineExceeded; entering it raises Unavailable where no place gets free.
        """
        bulkhead = self._caller_bulkhead if call.about_caller else self._bulkhead
        return Work(self._alias, call, None if bulkhead is None else bulkhead.place(call.deadline))


_CLEANING_SECONDS = 5.0
"""What the cleaning after a failed upload may take."""
_ABOUT_CALLER = Call(about_caller=True)
