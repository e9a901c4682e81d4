"""Actions, local and global: 200, the process's configured outputs.

`POST /api/{module}/{endpoint}/{id}/actions/{name}`, `POST /api/{module}/actions/{name}`
"""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse

from crmclient import Platform, Reference
from crmclient.errors import InvalidRecord, Refused, UnknownProcess
from crmclient.metadata import ENGLISH, Process
from designer.configuration import Endpoint
from designer.kinds.actions import ActionSettings
from designer.processes import as_attributes
from designer.sentences import Sentence
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.http.rendering import json_response
from runtime.operations import payload
from runtime.operations.base import Description, Operation
from runtime.operations.payload import Payload
from runtime.request_context import Exchange
from runtime.steps import Steps
from runtime.values.columns import Columns


class ActionOperation(Operation):
    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        settings = self.settings(ActionSettings)
        if not settings.process:
            raise Misconfigured(Sentence("no process is chosen"))
        self.process = _process(settings.process, platform)
        self.entity = self._entity()
        if self.process.entity != self.entity:
            raise Misconfigured(_bound_otherwise(self.process))
        self.shows_message = settings.show_process_message
        inputs = as_attributes(self.process.inputs)
        self.payload = Payload(endpoint, self.process.name, inputs, platform, optional=True)
        self.steps = Steps(endpoint, platform)
        self.columns = Columns(endpoint.definition.columns, as_attributes(self.process.outputs))

    def _entity(self) -> str | None:
        """The entity whose record the process runs on."""
        return None

    def run(self, exchange: Exchange) -> HttpResponse:
        target = None if self.entity is None else Reference(self.entity, exchange.record_id)
        sent = self.payload.receive(exchange)
        self.steps.run(exchange)
        try:
            values = self.payload.bind(exchange, sent)
            outputs = self.platform.execute(self.process.name, values, target=target, call=exchange.call)
        except InvalidRecord as error:
            raise self.payload.refusal(error) from error
        except Refused as error:
            if self.shows_message:
                raise Problem(422, "platform_refused", str(error)) from error
            raise
        return json_response(self.columns.answer(outputs, ENGLISH, exchange))

    def describe(self) -> Description:
        bad = (*payload.PROBLEMS[400], *(() if self.entity is None else ("invalid_id",)))
        return Description(
            success=(200, self.columns.schema(), "What the process answered."),
            body=self.payload.schema(),
            fields=self.payload.fields(),
            columns=self.columns.fields(),
            body_optional=True,
            problems=self.steps.problems(
                {**payload.PROBLEMS, 400: bad, 409: ("duplicate_key", "state_conflict", "in_flight")}
            ),
        )


class GlobalActionOperation(ActionOperation):
    kind: ClassVar[str] = "global-action"


class LocalActionOperation(ActionOperation):
    kind: ClassVar[str] = "action"

    def _entity(self) -> str | None:
        return self.require_entity()


def _process(name: str, platform: Platform) -> Process:
    known = platform.processes().get(name)
    if known is None:
        raise UnknownProcess(name)
    return known


def _bound_otherwise(process: Process) -> Sentence:
    if process.entity is None:
        return Sentence("%(process)s is bound to no entity", process=process.name)
    return Sentence("%(process)s is bound to %(entity)s", process=process.name, entity=process.entity)
