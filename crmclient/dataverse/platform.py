"""Dataverse behind the platform's interface. Every method delegates to one module."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

from crmclient.dataverse import users, views
from crmclient.dataverse.api import Api
from crmclient.dataverse.conventions import CONVENTIONS
from crmclient.dataverse.files.download import Downloads
from crmclient.dataverse.files.upload import Uploads
from crmclient.dataverse.http.budget import Budget, Limits, ReportedBudget
from crmclient.dataverse.http.client import Client
from crmclient.dataverse.http.impersonation import Impersonation
from crmclient.dataverse.http.observer import Observer, Silent
from crmclient.dataverse.http.process_budget import ProcessBudget
from crmclient.dataverse.http.tokens import Tokens, TokenSource
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.metadata.metadata_requests import Fetcher
from crmclient.dataverse.metadata.store import MemoryStore, MetadataStore
from crmclient.dataverse.options import Options
from crmclient.dataverse.own_messages import RIGHTS
from crmclient.dataverse.processes import Processes
from crmclient.dataverse.queries.query_runs import Queries
from crmclient.dataverse.records.associations import Associations
from crmclient.dataverse.records.batch import Batches
from crmclient.dataverse.records.changes import Changes
from crmclient.dataverse.records.file_facts import FileFacts
from crmclient.dataverse.records.parties import Parties
from crmclient.dataverse.records.record_answers import RecordAnswers
from crmclient.dataverse.records.single_records import Records
from crmclient.dataverse.records.upserts import Upserts
from crmclient.dataverse.records.writes import Writes
from crmclient.dataverse.service_account import ServiceAccount
from crmclient.errors import UnknownOptionSet
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
from crmclient.metadata_parts import OPTIONS, RELATIONSHIPS
from crmclient.optional_abilities import AccessRight, Privilege, Reach, RecordChanges, SavedViews
from crmclient.platform import SERVICE_CALL, Call, Create, Delete, Operation, Update
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


class DataversePlatform:
    """`crmclient.Platform`, and most of its optional abilities, over the Dataverse Web API.

    Safe to share between threads, not between processes.

    With several sources each is an application user's, and each request goes as the one who has most left.
    `budget` may be what several processes have used together; it counts as many users as there are sources.
    `local_revision_sql` is how the revision of `store` is read in the service's own database.
    """

    conventions = CONVENTIONS

    def __init__(
        self,
        options: Options,
        *sources: TokenSource,
        store: MetadataStore | None = None,
        observer: Observer | None = None,
        budget: Budget | None = None,
        local_revision_sql: str | None = None,
    ) -> None:
        self.local_revision_sql = local_revision_sql
        if budget is None:
            budget = ProcessBudget(Limits(places=options.concurrency), len(sources))
        self.budget = budget
        client = Client(options, [Tokens(source) for source in sources], observer or Silent(), budget)
        self._build_parts(client, store or MemoryStore())

    def as_user(self, number: int) -> DataversePlatform:
        """Return the platform as application user `number` alone sees it, in the order of the sources.

        It has metadata of its own, and spends the same budget.
        """
        alone = copy(self)
        # The revision of its own metadata is in no database.
        alone.local_revision_sql = None
        alone._build_parts(self._client.as_user(number), MemoryStore())
        return alone

    def _build_parts(self, client: Client, store: MetadataStore) -> None:
        """Build all parts anew on `client` and `store`; `as_user` does it on a copy.

        Gives `client`, which must be this platform's own, the look-up of object ids where calls name callers
        by these.
        """
        self._client = client
        api = self._api = Api(client)
        self._fetcher = Fetcher(api)
        self._catalogue = Catalogue(self._fetcher, store)
        files = FileFacts(api)
        parties = Parties(api, self._catalogue)
        answers = RecordAnswers(api)
        writes = Writes(api, self._catalogue, parties, answers)
        self._records = Records(api, self._catalogue, writes, answers, files)
        self._associations = Associations(api, self._catalogue, self._records.retrieve)
        self._batches = Batches(api, writes, answers)
        self._queries = Queries(api, self._catalogue, files, parties)
        self._upserts = Upserts(api, self._catalogue, self._records, answers, self._queries.run)
        self._uploads = Uploads(api, self._catalogue, files, answers, self._records.retrieve)
        self._downloads = Downloads(api, self._catalogue, files, self._records.retrieve)
        self._changes = Changes(api, self._catalogue)
        self._processes = Processes(api, self._catalogue)
        self._service_account = ServiceAccount(api, self.who)
        self._users = users.Users(api, self._queries.run, self._records.retrieve)
        if client.options.by_object_id:
            client.impersonation = Impersonation(partial(users.object_id, self._records.retrieve))

    def refuse(self, call: Call = SERVICE_CALL) -> None:
        self._client.refuse(call)

    def create(
        self, entity: str, values: Values, *, id: Guid | None = None, call: Call = SERVICE_CALL
    ) -> Stored:
        return self._records.create(Create(entity, values, id), call)

    def retrieve(self, entity: str, id: Guid, columns: Sequence[str], *, call: Call = SERVICE_CALL) -> Record:
        return self._records.retrieve(entity, id, columns, call)

    def update(
        self,
        entity: str,
        id: Guid,
        values: Values,
        *,
        if_version: str | None = None,
        call: Call = SERVICE_CALL,
    ) -> Stored:
        return self._records.update(Update(entity, id, values, if_version), call)

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
        return self._upserts.upsert(entity, key, values, exists, if_version, call)

    def delete(
        self, entity: str, id: Guid, *, if_version: str | None = None, call: Call = SERVICE_CALL
    ) -> None:
        self._records.delete(Delete(entity, id, if_version), call)

    def batch(self, operations: Sequence[Operation], *, call: Call = SERVICE_CALL) -> list[Stored | None]:
        return self._batches.run(operations, call)

    def associate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        self._associations.associate(entity, id, relationship, related, call)

    def disassociate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        self._associations.disassociate(entity, id, relationship, related, call)

    def query(self, query: Query, page: Page = ALL, *, call: Call = SERVICE_CALL) -> QueryResult:
        return self._queries.run(query, page, call)

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
        return self._uploads.upload(
            entity,
            id,
            attribute,
            content,
            file_name=file_name,
            content_type=content_type,
            if_version=if_version,
            call=call,
        )

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
        return self._downloads.download(entity, id, attribute, start, length, known, call)

    def thumbnail(
        self, entity: str, id: Guid, attribute: str, *, call: Call = SERVICE_CALL
    ) -> Download | None:
        return self._downloads.thumbnail(entity, id, attribute, call)

    def execute(
        self,
        process: str,
        inputs: ProcessValues,
        *,
        target: Reference | None = None,
        call: Call = SERVICE_CALL,
    ) -> ProcessValues:
        return self._processes.execute(process, inputs, target, call)

    def entities(self) -> Mapping[str, Entity]:
        self._catalogue.synchronise()
        return self._catalogue.entities()

    def definitions(self, entities: Sequence[str]) -> list[dict[str, Any]]:
        """Return the complete definitions of some entities as Dataverse writes them, to make a copy
        of them.
        """
        return self._fetcher.definitions(entities)

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        self._catalogue.synchronise()
        return self._catalogue.document(entity).attributes

    def relationships(self, entity: str) -> Sequence[Relationship]:
        self._catalogue.synchronise()
        document = self._catalogue.document(entity)
        document.require(RELATIONSHIPS)
        return document.relationships

    def option_set(self, name: str, *, entity: str | None = None) -> OptionSet:
        """Return a global option set or, with `entity`, the option set of its choice attribute `name`.

        That may be the attribute's own one, or a global one. Raises UnknownEntity, UnknownOptionSet, and
        MissingPrivilege where the options may not be read.
        """
        self._catalogue.synchronise()
        if entity is not None:
            document = self._catalogue.document(entity)
            attribute = document.attributes.get(name)
            if attribute is not None and attribute.type.has_options and attribute.option_set is None:
                # Every choice has options, so they could not be read.
                document.require(OPTIONS)
            if attribute is None or attribute.option_set is None:
                raise UnknownOptionSet(name)
            if attribute.options is not None:
                return attribute.options
            name = attribute.option_set
        global_set = self._catalogue.option_sets().get(name)
        if global_set is None:
            raise UnknownOptionSet(name)
        return global_set

    def option_sets(self) -> Mapping[str, OptionSet]:
        self._catalogue.synchronise()
        return self._catalogue.option_sets()

    def processes(self) -> Mapping[str, Process]:
        self._catalogue.synchronise()
        return {name: document.process for name, document in self._catalogue.processes().items()}

    def languages(self) -> Sequence[int]:
        self._catalogue.synchronise()
        return self._catalogue.languages()

    def security_roles(self) -> Sequence[SecurityRole]:
        return users.security_roles(self._queries.run)

    # From here to `last_reported_budget`: optional abilities, as `crmclient.optional_abilities` has them.

    def saved_views(self, entity: str) -> SavedViews:
        return views.saved_views(self._api, entity)

    def metadata_revision(self) -> str:
        return self._catalogue.revision()

    def record_changes(
        self, entity: str, mark: str | None, *, call: Call = SERVICE_CALL
    ) -> RecordChanges | None:
        """Return what has changed since `mark`. None, if Dataverse cannot tell: `TracksChanges` says when."""
        self._catalogue.synchronise()
        return self._changes.since(entity, mark, call)

    def refresh_metadata(self) -> bool:
        return self._catalogue.refresh()

    def refresh_changed_metadata(self) -> bool:
        return self._catalogue.refresh_changed()

    def fetch_metadata_ahead(self, entities: Iterable[str]) -> None:
        self._catalogue.fetch_ahead(entities)

    def metadata_is_pending(self) -> bool:
        return self._catalogue.is_pending()

    def missing_privileges(self) -> Mapping[str, str]:
        return self._catalogue.missing_privileges()

    def metadata_refreshed(self) -> dt.datetime | None:
        return self._catalogue.refreshed()

    def version(self) -> str:
        return self._service_account.version()

    def privileges_of_entities(
        self, entities: Iterable[str]
    ) -> Mapping[str, Mapping[AccessRight, Privilege]]:
        return self._service_account.privileges_of_entities(entities)

    def held_privileges(self) -> frozenset[Guid]:
        return self._service_account.held_privileges()

    def reach_of_privileges(self, names: Iterable[str]) -> Mapping[Guid, Reach]:
        return self._service_account.reach_of_privileges(names)

    def rights_of_process(self, name: str) -> Mapping[str, tuple[AccessRight, ...]] | None:
        return RIGHTS.get(name)

    def last_reported_budget(self, user: int) -> ReportedBudget:
        return self._client.last_reported_budget(user)

    def who(self) -> Guid:
        return self._catalogue.service_user()

    def user(self, id: Guid) -> PlatformUser:
        return self._users.user(id)

    def reports(self, id: Guid, *, call: Call = SERVICE_CALL) -> UserReports:
        # The service itself asks: a user may not be allowed to read everybody below.
        return users.reports(self.query, id, replace(call, caller=None))
