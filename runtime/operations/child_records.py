"""Inputs of type List: records created along with the endpoint's own, all of them or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from crmclient import Platform, Reference
from crmclient.errors import DuplicateKey, InvalidRecord
from crmclient.metadata import Relationship
from crmclient.platform import Create
from designer.configuration import Endpoint
from designer.definitions import InputDefinition
from designer.sentences import Sentence
from designer.types import holds_records
from runtime.http.failures import Misconfigured
from runtime.http.problems import FieldError, Problem
from runtime.operations.payload import Payload
from runtime.request_context import Exchange
from runtime.values.inputs import REFUSED, Sent, invalid_input, refused

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Item:
    """One item that was sent: `at` is its pointer in the body."""

    list: str
    at: str
    sent: Sent


class Lists:
    """The lists among an endpoint's inputs, which creates records of `entity`. Raises Misconfigured."""

    def __init__(self, endpoint: Endpoint, entity: str, platform: Platform) -> None:
        self._lookups: dict[str, str] = {}
        # The entity whose records each list holds.
        self.entities: dict[str, str] = {}
        self.payloads: dict[str, Payload] = {}
        for known in endpoint.definition.inputs:
            if holds_records(known.type):
                relationship = _relationship(known, entity, platform)
                self._lookups[known.name] = relationship.referencing_attribute or ""
                self.entities[known.name] = relationship.referencing
                self.payloads[known.name] = _payload(known, relationship, endpoint, platform)

    def items(self, sent: Sent) -> list[Item]:
        """All that was sent in lists, in the order of the inputs."""
        return [
            Item(name, f"/{name}/{index}", item)
            for name in self.payloads
            for index, item in enumerate(sent.get(name) or ())
        ]

    def create(self, item: Item, parent: Reference, exchange: Exchange) -> Create:
        """What creates the item's record, belonging to `parent`. Raises Problem of the item's inputs."""
        payload = self.payloads[item.list]
        try:
            values = payload.bind(exchange, item.sent)
        except InvalidRecord as error:
            raise self.refusal(item, error) from error
        return Create(self.entities[item.list], {**values, self._lookups[item.list]: parent})

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
            if not problem.errors and problem.code != REFUSED:
                raise
            problems.append(problem)
    if not problems:
        return made
    errors = [error for problem in problems for error in problem.errors]
    if any(problem.code == REFUSED for problem in problems):
        raise refused(errors)
    raise invalid_input(errors)


def conflict(items: Sequence[Item], error: DuplicateKey) -> Exception:
    """What to raise for a key that is taken: it is said of the item that has it."""
    if not error.item:
        return error
    sentence = "A record with the same key exists."
    found = FieldError("duplicate_key", sentence, pointer=items[error.item - 1].at)
    return Problem(409, "duplicate_key", sentence, errors=[found])


def _relationship(known: InputDefinition, entity: str, platform: Platform) -> Relationship:
    for relationship in platform.relationships(entity):
        if relationship.name == known.relationship and relationship.is_to_many_from(entity):
            return relationship
    raise Misconfigured(
        Sentence(
            "%(entity)s has no one-to-many relationship %(relationship)s for %(name)s",
            entity=entity,
            relationship=repr(known.relationship),
            name=known.name,
        )
    )


def _payload(
    known: InputDefinition, relationship: Relationship, endpoint: Endpoint, platform: Platform
) -> Payload:
    if any(binding.attribute == relationship.referencing_attribute for binding in known.bindings):
        raise Misconfigured(
            Sentence(
                "%(name)s binds %(attribute)s, which is the parent",
                name=known.name,
                attribute=relationship.referencing_attribute,
            )
        )
    definition = endpoint.definition.model_copy(update={"inputs": known.inputs, "bindings": known.bindings})
    attributes = platform.attributes(relationship.referencing)
    return Payload(replace(endpoint, definition=definition), relationship.referencing, attributes, platform)
