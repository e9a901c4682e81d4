"""Create: `POST /api/{module}/{endpoint}` → 200 `{"id"}`."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse

from crmclient import Guid, Platform
from crmclient.errors import DuplicateKey, InvalidRecord, RecordNotFound
from designer.configuration import Endpoint
from runtime.bindings import Bindings
from runtime.bodies import read_object
from runtime.exchange import Exchange
from runtime.failures import Misconfigured
from runtime.inputs import Inputs, limits_of_inputs
from runtime.operations.base import Description, Operation
from runtime.parameters import read_parameters
from runtime.rendering import json_response


class CreateOperation(Operation):
    kind: ClassVar[str] = "create"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        if endpoint.entity is None:
            raise Misconfigured("a create needs an entity")
        self.entity = endpoint.entity.entity
        definition = endpoint.definition
        attributes = platform.attributes(self.entity)
        limits = limits_of_inputs(definition, self.entity, attributes, platform)
        self.inputs = Inputs(definition.inputs, limits)
        self.bindings = Bindings(definition, attributes)

    def run(self, exchange: Exchange) -> HttpResponse:
        read_parameters(exchange.request, ())
        inputs = self.inputs.read(read_object(exchange.request))
        values = self.bindings.values(exchange, inputs)
        try:
            id = self.platform.create(self.entity, values, id=exchange.chosen_id, call=exchange.call).id
        except InvalidRecord as error:
            raise self.bindings.problem_of(error) from error
        except DuplicateKey:
            id = exchange.chosen_id or ""
            if not (exchange.taken_over and self._exists(id, exchange)):
                raise
        return json_response({"id": id})

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
            body=self.inputs.schema(),
            problems={
                400: ("malformed_body", "invalid_input", "invalid_parameter"),
                409: ("duplicate_key",),
                413: ("too_large",),
                415: ("unsupported_media_type",),
                422: ("platform_refused",),
            },
        )
