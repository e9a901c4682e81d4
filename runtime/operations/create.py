"""Create: `POST /api/{module}/{endpoint}` → 200 `{"id"}`."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse

from crmclient import Guid, Platform
from crmclient.errors import DuplicateKey, InvalidRecord, RecordNotFound
from designer.configuration import Endpoint
from runtime import payload
from runtime.exchange import Exchange
from runtime.operations.base import Description, Operation
from runtime.payload import Payload
from runtime.rendering import json_response


class CreateOperation(Operation):
    kind: ClassVar[str] = "create"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        self.entity = self.require_entity()
        attributes = platform.attributes(self.entity)
        self.payload = Payload(endpoint.definition, self.entity, attributes, platform)

    def run(self, exchange: Exchange) -> HttpResponse:
        values = self.payload.read(exchange)
        try:
            id = self.platform.create(self.entity, values, id=exchange.chosen_id, call=exchange.call).id
        except InvalidRecord as error:
            raise self.payload.refusal(error) from error
        except DuplicateKey:
            id = exchange.chosen_id or ""
            if not (exchange.taken_over and self._exists(id, exchange)):
                raise
        place = exchange.place_of(id)
        return json_response({"id": id}, headers={"Location": place} if place else None)

    def _exists(self, id: Guid, exchange: Exchange) -> bool:
        """Whether the try that this request takes over had created the record."""
        try:
            self.platform.retrieve(self.entity, id, (), call=exchange.call)
        except RecordNotFound:
            return False
        return True

    def describe(self) -> Description:
        answer = {
            "type": "object",
            "properties": {"id": {"type": "string", "format": "uuid", "description": "The new record's id."}},
            "required": ["id"],
            "additionalProperties": False,
        }
        return Description(
            success=(200, answer, "The record was created."),
            body=self.payload.schema(),
            headers={"Location": "Where the record can be read, if anywhere."},
            problems={**payload.PROBLEMS, 409: ("duplicate_key",)},
        )
