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
from runtime.http.failures import Misconfigured, of_platform
from runtime.http.problems import FieldError, Problem
from runtime.operations.payload import Payload
from runtime.request_context import Exchange
from runtime.values.inputs import REFUSED, Sent, invalid_input, refused

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Item:
    """One record that was sent: `at` is its pointer in the body."""

    list: str
    at: str
    sent: Sent


class Placed(Protocol):
    """What stands at a pointer of the body."""

    @property
    def at(self) -> str: ...


class Lists:
    """The inputs of an endpoint that hold records, each a group of those `offered`. Raises Misconfigured."""

    def __init__(self, endpoint: Endpoint, offered: Mapping[str, RecordGroup], platform: Platform) -> None:
        self.groups: dict[str, RecordGroup] = {}
        # The entity whose records each input holds.
        self.entities: dict[str, str] = {}
        self.payloads: dict[str, Payload] = {}
        for known in endpoint.definition.inputs:
            if holds_records(known.type):
                group = group_of(known, offered)
                self.groups[known.name] = group
                self.entities[known.name] = group.entity
                self.payloads[known.name] = payload_of_items(known, group, endpoint, platform)

    def items(self, sent: Sent) -> list[Item]:
        """All records that were sent, in the order of the inputs."""
        found: list[Item] = []
        for name, group in self.groups.items():
            held = sent.get(name)
            if held is not None and group.several:
                found += [Item(name, f"/{name}/{index}", item) for index, item in enumerate(held)]
            elif held is not None:
                found.append(Item(name, f"/{name}", held))
        return found

    def create(self, item: Item, parent: Reference, exchange: Exchange) -> Create:
        """What creates the item's record, belonging to `parent`. Raises Problem of the item's inputs."""
        values = self.values(item, exchange)
        return Create(self.entities[item.list], {**values, self.groups[item.list].parent: parent})

    def values(self, item: Item, exchange: Exchange) -> dict[str, Value]:
        """The values of the item's record. Raises Problem of the item's inputs."""
        try:
            return self.payloads[item.list].bind(exchange, item.sent)
        except InvalidRecord as error:
            raise self.refusal(item, error) from error

    def refusal(self, item: Item, error: InvalidRecord) -> Exception:
        """What to raise for the platform's refusal of an item."""
        return self.payloads[item.list].refusal(error, item.at)


def all_of(*makes: Callable[[], T]) -> list[T]:
    """What each of them makes. Raises one Problem with everything that is wrong with any."""
    made: list[T] = []
    problems: list[Problem] = []
    for make in makes:
        try:
            made.append(make())
        except Problem as problem:
            of_inputs = problem.status_code == 400 and problem.errors
            if not of_inputs and problem.code != REFUSED:
                raise
            problems.append(problem)
    if not problems:
        return made
    raise as_one(problems)


def as_one(problems: Sequence[Problem]) -> Problem:
    """One problem with all that is wrong with any inputs."""
    errors = [error for problem in problems for error in problem.errors]
    if any(problem.code == REFUSED for problem in problems):
        return refused(errors)
    return invalid_input(errors)


def conflict(items: Sequence[Placed], error: DuplicateKey | PossibleDuplicate) -> Exception:
    """What to raise for a key that is taken: it is said of the item that has it, where there is one."""
    if not error.item:
        return error
    said = of_platform(error)
    found = FieldError(said.code, said.sentence, pointer=items[error.item - 1].at)
    return Problem(said.status_code, said.code, said.sentence, errors=[found])


def group_of(known: InputDefinition, offered: Mapping[str, RecordGroup]) -> RecordGroup:
    """What an input that holds records stands for. Raises Misconfigured."""
    group = offered.get(known.relationship)
    if group is None:
        raise Misconfigured(
            Sentence(
                "%(name)s holds records of %(relationship)s, which does not exist",
                name=known.name,
                relationship=repr(known.relationship),
            )
        )
    if group.several is TYPES[known.type].holds_one:
        raise Misconfigured(
            Sentence("%(name)s is of type %(type)s, which does not fit", name=known.name, type=known.type)
        )
    return group


def payload_of_items(
    known: InputDefinition, group: RecordGroup, endpoint: Endpoint, platform: Platform
) -> Payload:
    """What callers send of each record. Raises Misconfigured."""
    attributes = platform.attributes(group.entity)
    for binding in known.bindings:
        attribute = attributes.get(binding.attribute)
        if binding.attribute == group.parent:
            raise Misconfigured(
                Sentence(
                    "%(name)s binds %(attribute)s, which is the parent",
                    name=known.name,
                    attribute=group.parent,
                )
            )
        if not group.parent and attribute is not None and attribute.is_primary_id:
            # The id of a record that is there would reach it whatever its row rule says.
            raise Misconfigured(
                Sentence(
                    "%(name)s binds %(attribute)s, which is the id of a record that is to be made",
                    name=known.name,
                    attribute=binding.attribute,
                )
            )
    definition = endpoint.definition.model_copy(update={"inputs": known.inputs, "bindings": known.bindings})
    return Payload(replace(endpoint, definition=definition), group.entity, attributes, platform)
