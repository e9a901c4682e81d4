"""Inputs of type List of an update: records that are added, changed and removed with the endpoint's own.

What stands in no part of a list is left alone. A record that is changed or removed must belong to the one
that is updated, and be one that the caller reaches by the row rule of its entity: any other is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from crmclient import Guid, Platform, Reference, Value
from crmclient.errors import InvalidRecord
from crmclient.metadata import Cascade
from crmclient.platform import Create, Delete, Operation, Update
from crmclient.query.ast import Column, Condition, Operator, Query
from designer.configuration import Endpoint
from designer.definitions import InputDefinition
from designer.kinds.record_groups import groups_of_entity
from designer.sentences import Sentence
from designer.types import holds_records
from runtime.http.failures import Misconfigured
from runtime.http.problems import FieldError, Problem
from runtime.operations.child_records import group_of, payload_of_items
from runtime.operations.payload import Payload
from runtime.request_context import Exchange
from runtime.steps.create_guards import WOULD_CREATE_OUTSIDE, CreateGuard
from runtime.steps.move_guards import WOULD_MOVE_OUTSIDE, MoveGuard
from runtime.steps.rules import OUTSIDE_ROW_RULE, both, rule_of_entity
from runtime.values.fields import Field
from runtime.values.inputs import Sent, invalid_input
from runtime.values.list_changes import ADD, CHANGE, ID, REMOVE, ListChanges

# Records that were read, by id; each has its values by attribute.
Rows = Mapping[Guid, Mapping[str, Value]]


class Change(NamedTuple):
    """One write of a list.

    `at` is the JSON Pointer of the item that asks for the write. `payload` has the item's inputs; None for a
    deletion. `outside` is the sentence with which a row rule forbids the write; empty when the write is
    allowed.
    """

    at: str
    operation: Operation
    payload: Payload | None = None
    outside: str = ""


@dataclass(frozen=True, slots=True)
class ChangedItems:
    """The items of a list in an update: records to add, and changes to others."""

    added: Payload
    changed: Payload

    @property
    def items(self) -> ListChanges:
        return ListChanges(self.added.items, self.changed.items)

    def fields(self) -> tuple[Field, ...]:
        return self.added.fields()


class ChildChanges:
    """The lists among the inputs of an endpoint that updates records of `entity`. Raises Misconfigured."""

    def __init__(self, endpoint: Endpoint, entity: str, platform: Platform) -> None:
        self._lists = {
            definition.name: _ChangedList(definition, endpoint, entity, platform)
            for definition in endpoint.definition.inputs
            if holds_records(definition.type)
        }
        self.payloads = {name: changed_list.payloads for name, changed_list in self._lists.items()}

    @property
    def fetchers(self) -> frozenset[str]:
        """The data fetchers whose rows the rules compare with."""
        return frozenset().union(*(changed_list.fetchers for changed_list in self._lists.values()))

    @property
    def problems(self) -> dict[int, tuple[str, ...]]:
        """The problem codes of the row rules by status, for the OpenAPI document."""
        return (
            {403: (OUTSIDE_ROW_RULE,)}
            if any(changed_list.is_ruled for changed_list in self._lists.values())
            else {}
        )

    def names_of_changed_lists(self, sent: Sent) -> list[str]:
        """Return the names of the lists with records to add, change or remove."""
        return [name for name in self._lists if any((sent.get(name) or {}).values())]

    def planned_changes(
        self, sent: Sent, parent: Reference, exchange: Exchange
    ) -> Iterator[Callable[[], Change]]:
        """Yield a function for each requested change, which returns the change or raises a Problem of its
        inputs.

        Removals come first, so that changed and added records may take the keys of removed ones.
        """
        # By name: the list, what was sent for it, and the records in that, as they are on the platform.
        lists = {
            name: (self._lists[name], sent[name], self._lists[name].find(sent[name], parent, exchange))
            for name in self.names_of_changed_lists(sent)
        }
        for name, (changed_list, value, rows) in lists.items():
            for index, id in enumerate(value[REMOVE]):
                yield partial(changed_list.remove, id, f"/{name}/{REMOVE}/{index}", rows, exchange)
        for name, (changed_list, value, rows) in lists.items():
            for index, item in enumerate(value[CHANGE]):
                yield partial(changed_list.change, item, f"/{name}/{CHANGE}/{index}", rows, exchange)
        for name, (changed_list, value, _) in lists.items():
            for index, item in enumerate(value[ADD]):
                yield partial(changed_list.add, item, f"/{name}/{ADD}/{index}", parent, exchange)


def refuse_outside(changes: Iterable[Change]) -> None:
    """Raise Problem 403 naming every change that a row rule forbids, if there are any."""
    outside = [
        FieldError(OUTSIDE_ROW_RULE, change.outside, pointer=change.at)
        for change in changes
        if change.outside
    ]
    if outside:
        raise Problem(403, OUTSIDE_ROW_RULE, outside[0].message, errors=outside)


class _ChangedList:
    """One list of `endpoint`, whose records refer to one of `entity`."""

    def __init__(
        self, definition: InputDefinition, endpoint: Endpoint, entity: str, platform: Platform
    ) -> None:
        relationships = platform.relationships(entity)
        group = group_of(definition, groups_of_entity(entity, relationships))
        if any(inner.name == ID for inner in definition.inputs):
            raise Misconfigured(
                Sentence(
                    "the list %(name)s has an input called id, which names the record", name=definition.name
                )
            )
        self._entity, self._lookup = group.entity, group.parent
        # Whether a record that is removed from the list is deleted: the platform would delete it along with
        # its parent.
        self._deletes = any(
            relationship.name == group.name and relationship.on_delete is Cascade.DELETE
            for relationship in relationships
        )
        self._platform = platform
        self.payloads = ChangedItems(
            payload_of_items(definition, group, endpoint, platform),
            payload_of_items(_for_existing_records(definition), group, endpoint, platform),
        )
        self._rule = rule_of_entity(endpoint, self._entity, platform)
        self._create_guard = None if self._rule is None else CreateGuard(self._rule, platform)
        self._move_guard = MoveGuard(self._rule, self.payloads.changed.written | {self._lookup}, platform)
        entities, attributes = platform.entities(), platform.attributes(self._entity)
        self._primary_id = entities[self._entity].primary_id
        self._version = platform.conventions.version_of(self._entity, attributes)
        columns = (self._primary_id, *([self._version] if self._version else ()), *self._move_guard.reads)
        self._columns = tuple(Column(name) for name in dict.fromkeys(columns))

    @property
    def is_ruled(self) -> bool:
        return self._rule is not None

    @property
    def fetchers(self) -> frozenset[str]:
        return frozenset() if self._rule is None else self._rule.needs.fetchers

    def find(self, value: Mapping[str, Any], parent: Reference, exchange: Exchange) -> Rows:
        """Return the records in a list that belong to `parent` and that the caller reaches, by id.

        `value` is the list as `ListChanges` reads it: items to add, items to change with their ids, and ids
        to remove.
        """
        ids = [*(item[ID] for item in value[CHANGE]), *value[REMOVE]]
        if not ids:
            return {}
        of_parent = both(
            Condition(self._lookup, Operator.EQ, (parent.id,)),
            Condition(self._primary_id, Operator.IN, tuple(ids)),
        )
        rule = None if self._rule is None else self._rule.filter(exchange)
        query = Query(self._entity, self._columns, both(of_parent, rule))
        rows = self._platform.query(query, call=exchange.call).rows
        return {str(row[self._primary_id]): row for row in rows}

    def add(self, item: Sent, pointer: str, parent: Reference, exchange: Exchange) -> Change:
        """Return the change that creates a record below `parent`. Raises Problem of the item's inputs."""
        values = {**self._bind(self.payloads.added, item, pointer, exchange), self._lookup: parent}
        is_inside = self._create_guard is None or self._create_guard.allows(values, exchange)
        create = Create(self._entity, values)
        return Change(pointer, create, self.payloads.added, "" if is_inside else WOULD_CREATE_OUTSIDE)

    def change(self, item: Mapping[str, Any], pointer: str, rows: Rows, exchange: Exchange) -> Change:
        """Return the change of a record that is in `rows`. Raises Problem of the item's inputs."""
        row = self._row_of(item[ID], f"{pointer}/{ID}", rows)
        sent = {name: value for name, value in item.items() if name != ID}
        values = self._bind(self.payloads.changed, sent, pointer, exchange)
        return self._update(item[ID], pointer, row, values, exchange)

    def remove(self, id: Guid, pointer: str, rows: Rows, exchange: Exchange) -> Change:
        """Return the change that removes a record from the list.

        It deletes a record that the platform would delete along with the parent, and unties any other record.
        """
        row = self._row_of(id, pointer, rows)
        if self._deletes:
            return Change(pointer, Delete(self._entity, id, self._version_of(row)))
        return self._update(id, pointer, row, {self._lookup: None}, exchange)

    def _update(
        self,
        id: Guid,
        pointer: str,
        row: Mapping[str, Value],
        values: Mapping[str, Value],
        exchange: Exchange,
    ) -> Change:
        """Return the change that writes `values` to the record in `row`. It is forbidden if the record would
        leave the row rule.
        """
        stays = self._move_guard.stays(row, values, exchange)
        update = Update(self._entity, id, values, self._version_of(row))
        return Change(pointer, update, self.payloads.changed, "" if stays else WOULD_MOVE_OUTSIDE)

    def _row_of(self, id: Guid, pointer: str, rows: Rows) -> Mapping[str, Value]:
        """Return the row of the item.

        Raises Problem 400 for an unknown record, and for one of another parent or out of reach.
        """
        if id not in rows:
            sentence = f"There is no {self._entity} with id {id}."
            raise invalid_input([FieldError("unknown_target", sentence, pointer=pointer)])
        return rows[id]

    def _version_of(self, row: Mapping[str, Value]) -> str | None:
        """Return the version of a record; None when records of the entity have no versions."""
        return str(row[self._version]) if self._version else None

    def _bind(self, payload: Payload, sent: Sent, pointer: str, exchange: Exchange) -> dict[str, Value]:
        """Return the values of an item by attribute. `pointer` is its JSON Pointer. Raises Problem for wrong
        inputs of the item.
        """
        try:
            return payload.bind(exchange, sent)
        except InvalidRecord as error:
            raise payload.refusal(error, pointer) from error


def _for_existing_records(definition: InputDefinition) -> InputDefinition:
    """Return the input definition for records that exist already: an input that is left out keeps
    its value.
    """
    inputs = tuple(
        input_definition.model_copy(
            update={
                "required": False,
                # A required input may be left out here, but null would take away a value that must be there.
                "nullable": input_definition.nullable and not input_definition.required,
                "default": None,
            }
        )
        for input_definition in definition.inputs
    )
    return definition.model_copy(update={"inputs": inputs})
