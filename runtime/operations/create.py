"""Create: `POST /api/{module}/{endpoint}` → 200 `{"id"}`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from django.http import HttpResponse

from crmclient import Guid, Platform, Reference, new_guid
from crmclient.errors import (
    AccessDenied,
    DuplicateKey,
    InvalidRecord,
    MissingPrivilege,
    PlatformError,
    PossibleDuplicate,
    RecordNotFound,
)
from crmclient.platform import Create
from designer.configuration import Endpoint
from designer.kinds.duplicates import DuplicateSettings
from designer.kinds.record_groups import groups_of_entity
from runtime.http.failures import problem_of
from runtime.http.problems import Problem
from runtime.http.rendering import json_response
from runtime.operations import payload
from runtime.operations.base import Description, Operation
from runtime.operations.child_records import Item, Lists, conflict_at_item, results_of_all
from runtime.operations.duplicates import Duplicates
from runtime.operations.message_language import language_parameter
from runtime.operations.payload import Payload
from runtime.request_context import Exchange
from runtime.steps import CreateGuards, Steps
from runtime.steps.create_guards import Child
from runtime.values.inputs import Sent


class CreateOperation(Operation):
    kind: ClassVar[str] = "create"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        self.entity = self.require_entity()
        self.lists = Lists(
            endpoint, lambda: groups_of_entity(self.entity, platform.relationships(self.entity)), platform
        )
        attributes = platform.attributes(self.entity)
        self.payload = Payload(endpoint, self.entity, attributes, platform, lists=self.lists.payloads)
        self._duplicates = Duplicates(self.settings(DuplicateSettings))
        self._guards = CreateGuards(endpoint, platform, self.lists.entities)
        self.steps = Steps(endpoint, platform, fetched=self._guards.fetchers)

    def run(self, exchange: Exchange) -> HttpResponse:
        """Create the record and the records of its lists. Answer the record's id, and where it can be read as
        `Location`.
        """
        sent = self.payload.receive(exchange)
        try:
            id = self._stored(sent, exchange)
        except (Problem, PlatformError) as error:
            # The request may repeat a try that broke off, with the same id. What that try has created may be
            # in the way of another one: by its id, its keys, and for pre-conditions and rules of the platform
            # that look for duplicates. The records of lists are there, too: all were written in one
            # transaction.
            if not (exchange.taken_over and self._exists(exchange.chosen_id or "", error, exchange)):
                raise
            id = exchange.chosen_id or ""
        path = exchange.record_path(id)
        return json_response({"id": id}, headers={"Location": path} if path else None)

    def _stored(self, sent: Sent, exchange: Exchange) -> Guid:
        """Do the steps, and create the record and the records of its lists. Return the record's id."""
        self.steps.run(exchange)
        items = self.lists.items(sent)
        try:
            return self._create_with_items(items, sent, exchange) if items else self._create(sent, exchange)
        except (DuplicateKey, PossibleDuplicate) as error:
            raise conflict_at_item(items, error) from error

    def _create(self, sent: Sent, exchange: Exchange) -> Guid:
        """Create the record, without lists. Return its id. Raises Problem for wrong inputs."""
        try:
            values = self.payload.bind(exchange, sent)
            self._guards.check(values, exchange)
            return self.platform.create(
                self.entity, values, id=exchange.chosen_id, call=self._duplicates.call(exchange)
            ).id
        except InvalidRecord as error:
            raise self.payload.refusal(error) from error

    def _create_with_items(self, items: Sequence[Item], sent: Sent, exchange: Exchange) -> Guid:
        """Create the record and the records of its lists in one transaction. Return the record's id."""
        id = exchange.chosen_id or new_guid()
        parent = Reference(self.entity, id)
        operations = results_of_all(
            partial(self._create_of_parent, id, sent, exchange),
            *(partial(self.lists.create, item, parent, exchange) for item in items),
        )
        children = [
            Child(item.list, item.at, child_create.values)
            for item, child_create in zip(items, operations[1:], strict=True)
        ]
        try:
            self._guards.check(operations[0].values, exchange, children)
            self.platform.batch(operations, call=self._duplicates.call(exchange))
        except InvalidRecord as error:
            # Operation 0 is the endpoint's own record; the items follow.
            if error.item:
                raise self.lists.refusal(items[error.item - 1], error) from error
            raise self.payload.refusal(error) from error
        return id

    def _create_of_parent(self, id: Guid, sent: Sent, exchange: Exchange) -> Create:
        """Return the write that creates the endpoint's own record, to which the records of the lists belong.
        Raises Problem for wrong inputs.
        """
        try:
            return Create(self.entity, self.payload.bind(exchange, sent), id)
        except InvalidRecord as error:
            raise self.payload.refusal(error) from error

    def _exists(self, id: Guid, refusal: Problem | PlatformError, exchange: Exchange) -> bool:
        """Whether the try that this request takes over had created the record, as far as the platform says
        after a `refusal`. It is not asked after a failure that another repetition may get past.
        """
        if problem_of(refusal).status_code >= 500:
            return False
        try:
            self.platform.retrieve(self.entity, id, (), call=exchange.call)
        except RecordNotFound:
            return False
        except (AccessDenied, MissingPrivilege):
            # Whoever may create and not read knows it only by the id, which nobody else has been given.
            primary_id = self.platform.entities()[self.entity].primary_id
            return isinstance(refusal, DuplicateKey) and refusal.key == primary_id
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
            fields=self.payload.fields(),
            parameters=language_parameter(self.endpoint.definition),
            headers={"Location": "Where the record can be read, if anywhere."},
            problems=self.steps.problems(
                {**payload.PROBLEMS, 409: ("duplicate_key", *self._duplicates.codes), **self._guards.problems}
            ),
        )
