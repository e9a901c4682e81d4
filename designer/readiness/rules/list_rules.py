"""Inputs of type List: the relationship to the records that they create, and what each of their items is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from crmclient.metadata import Relationship
from designer.definitions import BindingDefinition, InputDefinition
from designer.expressions.nearest import did_you_mean
from designer.readiness.findings import Severity
from designer.readiness.registry import ENDPOINT_RULES, Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import holds_records
from designer.types.lists import MOST_ITEMS

# Rules of inputs and bindings that hold for those of items as well.
_OF_ITEMS = ("input-", "binding-", "attribute-", "required-attribute-")


@blocking("list-place")
def lists_stand_in_creates(subject: EndpointSubject) -> Found:
    for known in subject.inputs:
        if holds_records(known.type) and not subject.endpoint.kind.takes_lists:
            yield (
                _("“%(name)s” is a list: only a create makes records of one.", name=known.name),
                _at(known, "type"),
            )
        for inner in known.inputs:
            if holds_records(inner.type):
                yield (
                    _(
                        "“%(name)s” is a list inside of “%(outer)s”: take it out.",
                        name=inner.name,
                        outer=known.name,
                    ),
                    _at(known, "type"),
                )


@blocking("list-relationship")
def relationships_lead_to_many(subject: EndpointSubject) -> Found:
    if not subject.entity:
        return
    there = {one.name: one for one in subject.metadata.relationships(subject.entity)}
    for known in _lists(subject):
        found = there.get(known.relationship)
        place = _at(known, "relationship")
        if not known.relationship:
            yield _("Choose the relationship that leads to what “%(name)s” holds.", name=known.name), place
        elif found is None:
            hint = did_you_mean(known.relationship, there)
            yield (
                _(
                    "%(entity)s has no relationship “%(relationship)s”.%(hint)s",
                    entity=subject.entity,
                    relationship=known.relationship,
                    hint=hint,
                ),
                place,
            )
        elif not found.is_to_many_from(subject.entity):
            yield (
                _(
                    "“%(relationship)s” does not lead from one %(entity)s to many records.",
                    relationship=known.relationship,
                    entity=subject.entity,
                ),
                place,
            )


@blocking("list-bindings")
def items_are_records(subject: EndpointSubject) -> Found:
    for known, relationship in _related(subject):
        if not known.bindings:
            yield (
                _("Nothing of “%(name)s” is written: bind attributes of its items.", name=known.name),
                _at(known, "name"),
            )
        for binding in known.bindings:
            if binding.attribute == relationship.referencing_attribute:
                yield (
                    _(
                        "“%(attribute)s” of “%(name)s” is the record that is created: do not bind it.",
                        attribute=binding.attribute,
                        name=known.name,
                    ),
                    _at(known, f"bindings.{binding.attribute}"),
                )


@warning("list-length")
def lists_are_short(subject: EndpointSubject) -> Found:
    for known in _lists(subject):
        if known.max_length is not None and known.max_length > MOST_ITEMS:
            yield (
                _("“%(name)s” holds %(most_items)s items at most.", name=known.name, most_items=MOST_ITEMS),
                _at(known, "max_length"),
            )


@blocking("list-item")
def items_can_be_created(subject: EndpointSubject) -> Found:
    yield from _of_items(subject, Severity.BLOCKING)


@warning("list-item-doubtful")
def items_are_as_meant(subject: EndpointSubject) -> Found:
    yield from _of_items(subject, Severity.WARNING)


def _of_items(subject: EndpointSubject, severity: Severity) -> Found:
    """What the rules of inputs and bindings find of each list's items."""
    for known, relationship in _related(subject):
        items = _items(subject, known, relationship)
        for rule in ENDPOINT_RULES:
            if rule.severity is severity and _holds_for_items(rule.id):
                for message, field in rule.find(items):
                    yield _("In “%(name)s”: %(message)s", name=known.name, message=message), _at(known, field)


def _holds_for_items(rule: str) -> bool:
    # Expressions of items are judged with all others.
    return rule.startswith(_OF_ITEMS) and rule != "binding-expression"


def _items(subject: EndpointSubject, known: InputDefinition, relationship: Relationship) -> EndpointSubject:
    """An endpoint that creates one item, as it were. The relationship sets the lookup to the parent."""
    parent = relationship.referencing_attribute or ""
    bound = [binding for binding in known.bindings if binding.attribute != parent]
    set_to_parent = BindingDefinition(attribute=parent, source="constant", value=None)
    definition = subject.definition.model_copy(
        update={"inputs": known.inputs, "bindings": (*bound, set_to_parent)}
    )
    exposed = subject.endpoint.entity
    entity = exposed and exposed.model_copy(update={"entity": relationship.referencing})
    return replace(subject, endpoint=replace(subject.endpoint, definition=definition, entity=entity))


def _related(subject: EndpointSubject) -> Iterator[tuple[InputDefinition, Relationship]]:
    """The lists whose relationship is right."""
    if not subject.entity:
        return
    for known in _lists(subject):
        for relationship in subject.metadata.relationships(subject.entity):
            if relationship.name == known.relationship and relationship.is_to_many_from(subject.entity):
                yield known, relationship


def _lists(subject: EndpointSubject) -> list[InputDefinition]:
    return [known for known in subject.inputs if holds_records(known.type)]


def _at(known: InputDefinition, field: str) -> str:
    return f"inputs.{known.name}.{field}"
