"""Actions, local and global: 200, the process's configured outputs.

`POST /api/{module}/{endpoint}/{id}/actions/{name}`, `POST /api/{module}/actions/{name}`
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from django.http import HttpResponse

from crmclient import Platform, ProcessValue, ProcessValues, Reference
from crmclient.errors import InvalidRecord, Refused, UnknownProcess
from crmclient.metadata import ENGLISH, Process
from designer.configuration import Endpoint
from designer.kinds.actions import ActionSettings
from designer.kinds.process_parameters import inputs_of, outputs_of
from designer.sentences import Sentence
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.http.rendering import json_response
from runtime.operations import payload
from runtime.operations.base import Description, Operation
from runtime.operations.child_records import results_of_all
from runtime.operations.message_language import language_parameter
from runtime.operations.payload import Payload
from runtime.operations.process_records import ProcessRecords
from runtime.request_context import Exchange
from runtime.steps import Steps
from runtime.values.columns import Columns
from runtime.values.inputs import Sent


class ActionOperation(Operation):
    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        settings = self.settings(ActionSettings)
        if not settings.process:
            raise Misconfigured(Sentence("no process is chosen"))
        self.process = _process_named(settings.process, platform)
        self.entity = self._entity()
        if self.process.entity != self.entity:
            raise Misconfigured(_sentence_about_entity(self.process))
        self.shows_message = settings.show_process_message
        inputs = inputs_of(self.process)
        self.records = ProcessRecords(endpoint, self.process, platform)
        self.payload = Payload(
            endpoint, self.process.name, inputs, platform, optional=True, lists=self.records.payloads
        )
        self.steps = Steps(endpoint, platform, fetched=self.records.fetchers)
        self.columns = Columns(endpoint.definition.columns, outputs_of(self.process))

    def _entity(self) -> str | None:
        """Return the entity whose record the process runs on; None for a process that runs on no record."""
        return None

    def run(self, exchange: Exchange) -> HttpResponse:
        """Run the process, and answer its configured outputs. Raises Problem."""
        target = None if self.entity is None else Reference(self.entity, exchange.record_id)
        sent = self.payload.receive(exchange)
        self.steps.run(exchange)
        try:
            values = self._values(sent, exchange)
            outputs = self.platform.execute(self.process.name, values, target=target, call=exchange.call)
        except InvalidRecord as error:
            raise self.records.refusal(error, self.payload, sent) from error
        except Refused as error:
            # Messages of a process are shown only if the endpoint says that they are meant for callers.
            if self.shows_message:
                raise Problem(422, "platform_refused", str(error)) from error
            raise
        return json_response(self.columns.answer(outputs, ENGLISH, exchange))

    def _values(self, sent: Sent, exchange: Exchange) -> ProcessValues:
        """Return the inputs of the process. Raises one Problem with everything that is wrong with any of
        them.
        """
        values, records = results_of_all(
            partial(self._own_values, sent, exchange), partial(self.records.values, sent, exchange)
        )
        return {**values, **records}

    def _own_values(self, sent: Sent, exchange: Exchange) -> dict[str, ProcessValue]:
        """Return the inputs of the process that are no records, by parameter. Raises Problem for wrong
        inputs.
        """
        try:
            return {**self.payload.bind(exchange, sent)}
        except InvalidRecord as error:
            raise self.payload.refusal(error) from error

    def describe(self) -> Description:
        bad = (*payload.PROBLEMS[400], *(() if self.entity is None else ("invalid_id",)))
        return Description(
            success=(200, self.columns.schema(), "What the process answered."),
            body=self.payload.schema(),
            fields=self.payload.fields(),
            parameters=language_parameter(self.endpoint.definition),
            columns=self.columns.fields(),
            body_optional=True,
            problems=self.steps.problems(
                {
                    **payload.PROBLEMS,
                    400: bad,
                    409: ("duplicate_key", "state_conflict", "in_flight"),
                    **self.records.problems,
                }
            ),
        )


class GlobalActionOperation(ActionOperation):
    kind: ClassVar[str] = "global-action"


class LocalActionOperation(ActionOperation):
    kind: ClassVar[str] = "action"

    def _entity(self) -> str | None:
        return self.require_entity()


def _process_named(name: str, platform: Platform) -> Process:
    """Return the platform's process of this name. Raises UnknownProcess."""
    process = platform.processes().get(name)
    if process is None:
        raise UnknownProcess(name)
    return process


def _sentence_about_entity(process: Process) -> Sentence:
    """Return the sentence that a process does not fit the endpoint, because it runs on the records of another
    entity, or on none.
    """
    if process.entity is None:
        return Sentence("%(process)s is bound to no entity", process=process.name)
    return Sentence("%(process)s is bound to %(entity)s", process=process.name, entity=process.entity)
