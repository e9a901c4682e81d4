"""Inputs that hold records: those created along with the endpoint's own, all of them or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from crmclient import Platform, Reference, Value
from crmclient.errors import DuplicateKey, InvalidRecord, PossibleDuplicate
from crmclient.platform import Create
from designer.configuration import Endpoint
from designer.definitions import InputDefinition
from designer.kinds.record_groups import RecordGroup
from designer.sentences import Sentence
from designer.types import TYPES, holds_records
from runtime.http.failures import Misconfigured, problem_of_platform
from runtime.http.problems import FieldError, Problem
from runtime.operations.payload import Payload
from runtime.request_context import Exchange
from runtime.values.inputs import REFUSED, Sent, invalid_input, platform_refusal

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Item:
    """One record that was sent for an input.

    `list` is the name of the input, `at` the JSON Pointer of the record in the body, and `sent` its values by
    inner input.
    """

    list: str
    at: str
    sent: Sent


class LocatedValue(Protocol):
    """A value with the JSON Pointer of its place in the body."""

    @property
    def at(self) -> str: ...


class Lists:
    """The inputs of an endpoint that hold records, by name.

    Each input stands for a group of records; `offer` returns the groups by relationship. Raises Misconfigured
    when an input does not fit its group.
    """

    def __init__(
        self, endpoint: Endpoint, offer: Callable[[], Mapping[str, RecordGroup]], platform: Platform
    ) -> None:
        self.groups: dict[str, RecordGroup] = {}
        # The entity whose records each input holds.
        self.entities: dict[str, str] = {}
        self.payloads: dict[str, Payload] = {}
        inputs = [entry for entry in endpoint.definition.inputs if holds_records(entry.type)]
        if inputs:
            # Only now: the service's own account may not be allowed to read relationships.
            offered = offer()
            for input_definition in inputs:
                group = group_of(input_definition, offered)
                self.groups[input_definition.name] = group
                self.entities[input_definition.name] = group.entity
                self.payloads[input_definition.name] = payload_of_items(
                    input_definition, group, endpoint, platform
                )

    def items(self, sent: Sent) -> list[Item]:
        """Return all records that were sent, in the order of the inputs."""
        records: list[Item] = []
        for name, group in self.groups.items():
            sent_records = sent.get(name)
            if sent_records is not None and group.several:
                records += [Item(name, f"/{name}/{index}", item) for index, item in enumerate(sent_records)]
            elif sent_records is not None:
                records.append(Item(name, f"/{name}", sent_records))
        return records

    def create(self, item: Item, parent: Reference, exchange: Exchange) -> Create:
        """Return the write that creates the item's record below `parent`.

        Raises Problem for wrong inputs of the item.
        """
        values = self.values(item, exchange)
        return Create(self.entities[item.list], {**values, self.groups[item.list].parent: parent})

    def values(self, item: Item, exchange: Exchange) -> dict[str, Value]:
        """Return the values of the item's record by attribute. Raises Problem for wrong inputs of the
        item.
        """
        try:
            return self.payloads[item.list].bind(exchange, item.sent)
        except InvalidRecord as error:
            raise self.refusal(item, error) from error

    def refusal(self, item: Item, error: InvalidRecord) -> Exception:
        """Return the exception to raise for the platform's refusal of an item: a Problem that points at the
        item's inputs.
        """
        return self.payloads[item.list].refusal(error, item.at)


def results_of_all(*functions: Callable[[], T]) -> list[T]:
    """Call every function, and return the results in the same order.

    Wrong inputs are collected: raises one Problem with the mistakes that all functions found. Any other
    Problem is raised at once.
    """
    results: list[T] = []
    problems: list[Problem] = []
    for function in functions:
        try:
            results.append(function())
        except Problem as problem:
            of_inputs = problem.status_code == 400 and problem.errors
            if not of_inputs and problem.code != REFUSED:
                raise
            problems.append(problem)
    if not problems:
        return results
    raise merged_problem(problems)


def merged_problem(problems: Sequence[Problem]) -> Problem:
    """Return one problem with all errors of several problems of inputs: 422 if the platform refused one
    of them, otherwise 400.
    """
    errors = [error for problem in problems for error in problem.errors]
    if any(problem.code == REFUSED for problem in problems):
        return platform_refusal(errors)
    return invalid_input(errors)


def conflict_at_item(items: Sequence[LocatedValue], error: DuplicateKey | PossibleDuplicate) -> Exception:
    """Return the exception to raise for a duplicate key.

    It points at the item of the list that has the key, if any. `error.item` is the number of the operation in
    the batch: 0 is the endpoint's own record, and `items` follow.
    """
    if not error.item:
        return error
    problem = problem_of_platform(error)
    field_error = FieldError(problem.code, problem.sentence, pointer=items[error.item - 1].at)
    return Problem(problem.status_code, problem.code, problem.sentence, errors=[field_error])


def group_of(input_definition: InputDefinition, offered: Mapping[str, RecordGroup]) -> RecordGroup:
    """Return the group of records that an input stands for.

    Raises Misconfigured when there is no such group, and when the type of the input does not fit it.
    """
    group = offered.get(input_definition.relationship)
    if group is None:
        raise Misconfigured(
            Sentence(
                "%(name)s holds records of %(relationship)s, which does not exist",
                name=input_definition.name,
                relationship=repr(input_definition.relationship),
            )
        )
    if group.several is TYPES[input_definition.type].holds_one:
        raise Misconfigured(
            Sentence(
                "%(name)s is of type %(type)s, which does not fit",
                name=input_definition.name,
                type=input_definition.type,
            )
        )
    return group


def payload_of_items(
    input_definition: InputDefinition, group: RecordGroup, endpoint: Endpoint, platform: Platform
) -> Payload:
    """Return the payload of the records that an input holds. Raises Misconfigured for a binding to the
    parent or, where records have no parent, to their id; and for what `Payload` raises it for.
    """
    attributes = platform.attributes(group.entity)
    for binding in input_definition.bindings:
        attribute = attributes.get(binding.attribute)
        if binding.attribute == group.parent:
            raise Misconfigured(
                Sentence(
                    "%(name)s binds %(attribute)s, which is the parent",
                    name=input_definition.name,
                    attribute=group.parent,
                )
            )
        if not group.parent and attribute is not None and attribute.is_primary_id:
            # The id of a record that is there would reach it whatever its row rule says.
            raise Misconfigured(
                Sentence(
                    "%(name)s binds %(attribute)s, which is the id of a record that is to be made",
                    name=input_definition.name,
                    attribute=binding.attribute,
                )
            )
    definition = endpoint.definition.model_copy(
        update={"inputs": input_definition.inputs, "bindings": input_definition.bindings}
    )
    return Payload(replace(endpoint, definition=definition), group.entity, attributes, platform)
