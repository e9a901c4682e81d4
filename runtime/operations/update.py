"""Update: `PATCH /api/{module}/{endpoint}/{id}`, or `PUT`, which is partial too → 204 + `ETag`."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse

from crmclient import Platform
from crmclient.errors import InvalidRecord, VersionMismatch
from designer.configuration import Endpoint
from designer.kinds.versions import VersionSettings
from runtime import payload, versions
from runtime.exchange import Exchange
from runtime.operations.base import Description, Operation
from runtime.payload import Payload
from runtime.versions import version_to_write


class UpdateOperation(Operation):
    kind: ClassVar[str] = "update"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        self.entity = self.require_entity()
        definition = endpoint.definition
        # An absent key is left alone, so a default would never mean anything.
        inputs = tuple(known.model_copy(update={"default": None}) for known in definition.inputs)
        definition = definition.model_copy(update={"inputs": inputs})
        self.payload = Payload(definition, self.entity, platform.attributes(self.entity), platform)
        settings = definition.settings
        self.require_version = isinstance(settings, VersionSettings) and settings.require_if_match

    def run(self, exchange: Exchange) -> HttpResponse:
        id, values = exchange.record_id, self.payload.read(exchange)
        wanted = version_to_write(exchange, self.platform, self.entity, required=self.require_version)
        if not values:
            return _answer(self._unchanged(exchange, wanted))
        try:
            stored = self.platform.update(self.entity, id, values, if_version=wanted, call=exchange.call)
        except InvalidRecord as error:
            raise self.payload.refusal(error) from error
        return _answer(stored.version)

    def _unchanged(self, exchange: Exchange, wanted: str | None) -> str:
        """The version of a record that nothing is written to."""
        version = self.platform.retrieve(self.entity, exchange.record_id, (), call=exchange.call).version
        if wanted not in (None, version):
            raise VersionMismatch(self.entity, exchange.record_id)
        return version

    def describe(self) -> Description:
        problems = {**payload.PROBLEMS, **versions.PROBLEMS}
        return Description(
            success=(204, None, "The record was changed."),
            body=self.payload.schema(),
            parameters=(versions.PARAMETER,),
            headers={"ETag": "The record's new version."},
            problems={
                **problems,
                400: (*payload.PROBLEMS[400], "invalid_id", "invalid_if_match"),
                409: ("duplicate_key", "state_conflict"),
            },
        )


def _answer(version: str) -> HttpResponse:
    return HttpResponse(status=204, headers={"ETag": f'"{version}"'})
