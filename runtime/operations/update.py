"""Update: `PATCH /api/{module}/{endpoint}/{id}`, or `PUT`, which is partial too → 204 + `ETag`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from django.http import HttpResponse

from crmclient import Platform, Value
from crmclient.errors import InvalidRecord, VersionMismatch
from designer.configuration import Endpoint
from designer.kinds.versions import VersionSettings
from runtime.http.if_match import Versions
from runtime.operations import payload
from runtime.operations.base import Description, Operation
from runtime.operations.payload import Payload
from runtime.request_context import Exchange
from runtime.steps import Found
from runtime.steps.row_rule_guard import WriteGuard


class UpdateOperation(Operation):
    kind: ClassVar[str] = "update"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        self.entity = self.require_entity()
        attributes = platform.attributes(self.entity)
        self.payload = Payload(endpoint.without_defaults(), self.entity, attributes, platform)
        self.guard = WriteGuard(endpoint, self.payload.written, platform)
        self.versions = Versions(self.guard.steps.version, self.settings(VersionSettings))

    def run(self, exchange: Exchange) -> HttpResponse:
        _ = exchange.record_id
        sent = self.payload.receive(exchange)
        meant = self.versions.meant(exchange.request)
        version = self.guard.steps.write(
            exchange, meant, lambda found, version: self._write(exchange, sent, found, version)
        )
        return HttpResponse(status=204, headers={"ETag": f'"{version}"'} if self.versions.kept else None)

    def _write(
        self, exchange: Exchange, sent: Mapping[str, Value], found: Found | None, wanted: str | None
    ) -> str | None:
        """The record's version after the write, where it keeps one."""
        id = exchange.record_id
        try:
            values = self.payload.bind(exchange, sent)
            if not values:
                return self._unchanged(exchange, wanted) if found is None else found.version
            if found is not None:
                self.guard.check(found.values, values, exchange)
            return self.platform.update(
                self.entity, id, values, if_version=wanted, call=exchange.call
            ).version
        except InvalidRecord as error:
            raise self.payload.refusal(error) from error

    def _unchanged(self, exchange: Exchange, wanted: str | None) -> str | None:
        """The version of a record that nothing is written to."""
        version = self.platform.retrieve(self.entity, exchange.record_id, (), call=exchange.call).version
        if wanted not in (None, version):
            raise VersionMismatch(self.entity, exchange.record_id)
        return version

    def describe(self) -> Description:
        return Description(
            success=(204, None, "The record was changed."),
            body=self.payload.schema(),
            fields=self.payload.fields(),
            parameters=self.versions.parameters(),
            headers={"ETag": "The record's new version."} if self.versions.kept else {},
            problems=self.guard.steps.problems(
                {
                    **payload.PROBLEMS,
                    **self.versions.problems(*payload.PROBLEMS[400], "invalid_id"),
                    409: ("duplicate_key", "state_conflict"),
                }
            ),
        )
