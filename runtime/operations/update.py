"""Update: `PATCH /api/{module}/{endpoint}/{id}`, or `PUT`, which is partial too → 204 + `ETag`.

With lists among its inputs, records that belong to the path's own are added, changed and removed with it, in
one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, Final

from django.http import HttpResponse

from crmclient import Platform, Reference, Value
from crmclient.errors import (
    DuplicateKey,
    InvalidRecord,
    PossibleDuplicate,
    RecordNotFound,
    StateConflict,
    VersionMismatch,
)
from crmclient.platform import Update
from designer.configuration import Endpoint
from designer.kinds.duplicates import DuplicateSettings
from designer.kinds.versions import VersionSettings
from runtime.http.if_match import Versions
from runtime.operations import payload
from runtime.operations.base import Description, Operation
from runtime.operations.child_changes import Change, ChildChanges, refuse_outside
from runtime.operations.child_records import conflict_at_item, results_of_all
from runtime.operations.duplicates import Duplicates
from runtime.operations.message_language import language_parameter
from runtime.operations.payload import Payload
from runtime.request_context import Exchange
from runtime.steps import FoundRecord
from runtime.steps.move_guards import WriteGuard
from runtime.steps.rules import OUTSIDE_ROW_RULE

# How often a write is tried on records of lists that others change at the same moment.
_ATTEMPTS: Final = 3


class UpdateOperation(Operation):
    kind: ClassVar[str] = "update"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        self.entity = self.require_entity()
        attributes = platform.attributes(self.entity)
        # What a call leaves out stays as it is in the record.
        endpoint = endpoint.without_defaults()
        self.children = ChildChanges(endpoint, self.entity, platform)
        self.payload = Payload(endpoint, self.entity, attributes, platform, lists=self.children.payloads)
        self.duplicates = Duplicates(self.settings(DuplicateSettings))
        self.guard = WriteGuard(endpoint, self.payload.written, platform, self.children.fetchers)
        self.versions = Versions(self.guard.steps.version, self.settings(VersionSettings))

    def run(self, exchange: Exchange) -> HttpResponse:
        """Change the record and the records of its lists. Answer 204 with the new version as `ETag`."""
        # A wrong id is a Problem 400 before the body is read.
        exchange.check_record_id()
        sent = self.payload.receive(exchange)
        wanted_versions = self.versions.wanted(exchange.request)
        version = self.guard.steps.write(
            exchange, wanted_versions, lambda record, version: self._write(exchange, sent, record, version)
        )
        return HttpResponse(status=204, headers=self.versions.headers(version))

    def _write(
        self,
        exchange: Exchange,
        sent: Mapping[str, Value],
        record: FoundRecord | None,
        wanted_version: str | None,
    ) -> str | None:
        """Write the values. Return the record's version after the write; None where records keep no
        versions.
        """
        id = exchange.record_id
        if self.children.names_of_changed_lists(sent):
            return self._write_all(exchange, sent, record, wanted_version)
        try:
            values = self.payload.bind(exchange, sent)
            if not values:
                return (
                    self._version_without_write(exchange, wanted_version)
                    if record is None
                    else record.version
                )
            # The steps read the record wherever there is a row rule to check.
            if record is not None:
                self.guard.check(record.values, values, exchange)
            return self.platform.update(
                self.entity, id, values, if_version=wanted_version, call=self.duplicates.call(exchange)
            ).version
        except InvalidRecord as error:
            raise self.payload.refusal(error) from error

    def _write_all(
        self,
        exchange: Exchange,
        sent: Mapping[str, Value],
        record: FoundRecord | None,
        wanted_version: str | None,
    ) -> str | None:
        """Write the values and the changes of lists in one transaction. Return the record's version as
        `_write` does.
        """
        id = exchange.record_id
        for _ in range(_ATTEMPTS):
            planned_changes = self.children.planned_changes(sent, Reference(self.entity, id), exchange)
            own_change, *changes = results_of_all(
                partial(self._own_change, exchange, sent, wanted_version), *planned_changes
            )
            if record is not None and isinstance(own_change.operation, Update):
                self.guard.check(record.values, own_change.operation.values, exchange)
            refuse_outside(changes)
            operations = [own_change.operation, *(change.operation for change in changes)]
            try:
                stored = self.platform.batch(operations, call=self.duplicates.call(exchange))
            except InvalidRecord as error:
                # Operation 0 is the endpoint's own record; those of the lists follow.
                change = changes[error.item - 1] if error.item else own_change
                raise (change.payload or self.payload).refusal(error, change.at) from error
            except (DuplicateKey, PossibleDuplicate) as error:
                raise conflict_at_item(changes, error) from error
            except (VersionMismatch, RecordNotFound) as error:
                # Somebody else has changed a record meanwhile. The steps, which have read the path's own
                # record, read that again; records of lists are read again here, in the next round.
                if not error.item:
                    raise
            else:
                return stored[0].version if stored[0] else None
        raise StateConflict(f"Records of the {self.entity} are changed by others all the time.")

    def _own_change(
        self, exchange: Exchange, sent: Mapping[str, Value], wanted_version: str | None
    ) -> Change:
        """Return the change of the endpoint's own record. Raises Problem for wrong inputs."""
        try:
            values = self.payload.bind(exchange, sent)
        except InvalidRecord as error:
            raise self.payload.refusal(error) from error
        return Change("", Update(self.entity, exchange.record_id, values, wanted_version), self.payload)

    def _version_without_write(self, exchange: Exchange, wanted_version: str | None) -> str | None:
        """Return the version of a record to which nothing is written; None where records have no versions.

        Raises VersionMismatch when another version than `wanted_version` is there. None means any version.
        """
        version = self.platform.retrieve(self.entity, exchange.record_id, (), call=exchange.call).version
        if wanted_version not in (None, version):
            raise VersionMismatch(self.entity, exchange.record_id)
        return version

    def describe(self) -> Description:
        return Description(
            success=(204, None, "The record was changed."),
            body=self.payload.schema(),
            fields=self.payload.fields(),
            parameters=(*self.versions.parameters(), *language_parameter(self.endpoint.definition)),
            headers={"ETag": "The record's new version."} if self.versions.are_kept else {},
            problems=self.guard.steps.problems(
                {
                    **payload.PROBLEMS,
                    **self.versions.problems(*payload.PROBLEMS[400], "invalid_id"),
                    409: ("duplicate_key", *self.duplicates.codes, "state_conflict"),
                    **self.children.problems,
                    **({403: (OUTSIDE_ROW_RULE,)} if self.guard.reads else {}),
                }
            ),
        )
