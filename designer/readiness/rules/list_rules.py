"""Inputs that hold records: what they lead to, and what each record is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from crmclient import Reference
from designer.definitions import BindingDefinition, ExposedEntityDefinition, InputDefinition
from designer.expressions.nearest import did_you_mean
from designer.kinds import kind_of_items
from designer.kinds.record_groups import RecordGroup
from designer.kinds.settings import EndpointSettings
from designer.readiness.findings import Severity
from designer.readiness.registry import ENDPOINT_RULES, Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import TYPES, as_sent, holds_records, type_of_records
from designer.types.lists import MOST_ITEMS
from designer.types.references import SAMPLE_ID

# Beginnings of the ids of rules that also apply to the inputs and bindings of items.
_OF_ITEMS = ("input-", "binding-", "attribute-", "required-attribute-")


@blocking("list-place")
def records_stand_where_they_are_made(subject: EndpointSubject) -> Found:
    for outer in subject.inputs:
        if holds_records(outer.type) and not subject.endpoint.kind.takes_lists:
            yield (
                _(
                    "“%(name)s” holds records: only a create, an update and an action take them.",
                    name=outer.name,
                ),
                _at(outer, "type"),
            )
        for inner in outer.inputs:
            if holds_records(inner.type):
                yield (
                    _(
                        "“%(name)s” holds records inside of “%(outer)s”: take it out.",
                        name=inner.name,
                        outer=outer.name,
                    ),
                    _at(outer, "type"),
                )


@blocking("list-relationship")
def records_lead_somewhere(subject: EndpointSubject) -> Found:
    if not subject.endpoint.kind.takes_lists:
        return
    offered = _offered(subject)
    for record_input in _lists(subject):
        place = _at(record_input, "relationship")
        if not record_input.relationship:
            yield (
                _("Choose the relationship that leads to what “%(name)s” holds.", name=record_input.name),
                place,
            )
        elif record_input.relationship not in offered:
            yield _nowhere(subject, record_input, offered), place


def _nowhere(
    subject: EndpointSubject, record_input: InputDefinition, offered: Mapping[str, RecordGroup]
) -> str:
    hint = did_you_mean(record_input.relationship, offered)
    process = subject.definition.settings.platform_name
    if process:
        return _(
            "%(process)s makes no records of a parameter “%(parameter)s”.%(hint)s",
            process=process,
            parameter=record_input.relationship,
            hint=hint,
        )
    relationships = (
        {relationship.name for relationship in subject.metadata.relationships(subject.entity)}
        if subject.entity
        else ()
    )
    if record_input.relationship not in relationships:
        return _(
            "%(entity)s has no relationship “%(relationship)s”.%(hint)s",
            entity=subject.entity,
            relationship=record_input.relationship,
            hint=hint,
        )
    return _(
        "“%(relationship)s” does not lead from one %(entity)s to many records.",
        relationship=record_input.relationship,
        entity=subject.entity,
    )


@blocking("record-type")
def types_hold_as_many(subject: EndpointSubject) -> Found:
    for record_input, group in _related(subject):
        fitting_type = type_of_records(several=group.several)
        if TYPES[record_input.type].holds_one is group.several:
            yield (
                _(
                    "“%(name)s” is of type %(type)s, and “%(group)s” holds %(many)s. Make it %(wanted)s.",
                    name=record_input.name,
                    type=record_input.type,
                    group=group.name,
                    many=_("several records") if group.several else _("one record"),
                    wanted=fitting_type.name,
                ),
                _at(record_input, "type"),
            )


@blocking("record-missing")
def required_records_are_handed_over(subject: EndpointSubject) -> Found:
    handed_over = {record_input.relationship for record_input in _lists(subject)}
    for group in _offered(subject).values():
        if group.required and group.name not in handed_over:
            yield (
                _(
                    "The platform requires the record %(name)s (%(entity)s), and no input holds it. Add an "
                    "input of type %(type)s for it.",
                    name=group.name,
                    entity=group.entity,
                    type=type_of_records(several=group.several).name,
                ),
                "inputs",
            )


@warning("record-optional")
def required_records_are_sent(subject: EndpointSubject) -> Found:
    for record_input, group in _related(subject):
        if group.required and not record_input.required:
            yield (
                _(
                    "The platform requires the record “%(group)s”, but callers may leave out “%(name)s”: "
                    "make the input required.",
                    group=group.name,
                    name=record_input.name,
                ),
                _at(record_input, "required"),
            )


@blocking("record-repeated")
def records_are_handed_over_once(subject: EndpointSubject) -> Found:
    if not subject.definition.settings.platform_name:
        return
    first_inputs: dict[str, str] = {}
    for record_input in _lists(subject):
        if record_input.relationship and record_input.relationship in first_inputs:
            yield (
                _(
                    "“%(name)s” and “%(other)s” hold the same record “%(group)s”. Remove one of them.",
                    name=record_input.name,
                    other=first_inputs[record_input.relationship],
                    group=record_input.relationship,
                ),
                _at(record_input, "relationship"),
            )
        first_inputs.setdefault(record_input.relationship, record_input.name)


@blocking("list-bindings")
def items_are_records(subject: EndpointSubject) -> Found:
    for record_input, group in _related(subject):
        if not record_input.bindings:
            yield (
                _("Nothing of “%(name)s” is written: bind attributes of its items.", name=record_input.name),
                _at(record_input, "name"),
            )
        attributes = subject.metadata.attributes(group.entity)
        for binding in record_input.bindings:
            attribute = attributes.get(binding.attribute)
            if binding.attribute == group.parent:
                yield (
                    _(
                        "“%(attribute)s” of “%(name)s” is the record that is created: do not bind it.",
                        attribute=binding.attribute,
                        name=record_input.name,
                    ),
                    _at(record_input, f"bindings.{binding.attribute}"),
                )
            elif not group.parent and attribute is not None and attribute.is_primary_id:
                yield (
                    _(
                        "“%(attribute)s” of “%(name)s” is the id of a record that is to be made: do not "
                        "bind it.",
                        attribute=binding.attribute,
                        name=record_input.name,
                    ),
                    _at(record_input, f"bindings.{binding.attribute}"),
                )


@blocking("list-changes")
def items_can_be_changed(subject: EndpointSubject) -> Found:
    """Check the lists of an update. They change existing records, which their ids name."""
    if not subject.endpoint.kind.partial:
        return
    for record_input, group in _related(subject):
        for inner in record_input.inputs:
            if inner.name == "id":
                yield (
                    _(
                        "“%(name)s” has an input “id”, which names the record. Rename it.",
                        name=record_input.name,
                    ),
                    _at(record_input, "inputs.id.name"),
                )
        attributes = subject.metadata.attributes(group.entity)
        for binding in record_input.bindings:
            attribute = attributes.get(binding.attribute)
            if attribute is not None and attribute.creatable and not attribute.updatable:
                yield (
                    _(
                        "“%(attribute)s” of “%(name)s” can be set when a record is created, and never "
                        "changed. Remove the binding.",
                        attribute=binding.attribute,
                        name=record_input.name,
                    ),
                    _at(record_input, f"bindings.{binding.attribute}"),
                )


@warning("list-length")
def lists_are_short(subject: EndpointSubject) -> Found:
    for record_input in _lists(subject):
        if record_input.max_length is not None and record_input.max_length > MOST_ITEMS:
            yield (
                _(
                    "“%(name)s” holds %(most_items)s items at most.",
                    name=record_input.name,
                    most_items=MOST_ITEMS,
                ),
                _at(record_input, "max_length"),
            )


@blocking("list-item")
def items_can_be_created(subject: EndpointSubject) -> Found:
    yield from _findings_of_items(subject, Severity.BLOCKING)


@warning("list-item-doubtful")
def items_are_as_meant(subject: EndpointSubject) -> Found:
    yield from _findings_of_items(subject, Severity.WARNING)


def _findings_of_items(subject: EndpointSubject, severity: Severity) -> Found:
    """Yield the findings of the rules for inputs and bindings about the items of lists."""
    for record_input, group in _related(subject):
        items = _items(subject, record_input, group)
        for rule in ENDPOINT_RULES:
            if rule.severity is severity and _holds_for_items(rule.id):
                for message, field in rule.find(items):
                    yield (
                        _("In “%(name)s”: %(message)s", name=record_input.name, message=message),
                        _at(record_input, field),
                    )


def _holds_for_items(rule: str) -> bool:
    # Expressions of items are judged with all others.
    return rule.startswith(_OF_ITEMS) and rule != "binding-expression"


def _items(subject: EndpointSubject, record_input: InputDefinition, group: RecordGroup) -> EndpointSubject:
    """Return a subject that stands for an endpoint that makes one such record.

    The relationship sets the lookup to the parent. A constant record of the endpoint's entity stands for it.
    """
    bindings = tuple(binding for binding in record_input.bindings if binding.attribute != group.parent)
    parent = subject.metadata.attributes(group.entity).get(group.parent)
    if parent is not None:
        # Null would be found to empty a lookup that the platform requires, such as the customer of a case.
        record = as_sent(Reference(subject.entity, SAMPLE_ID), parent)
        bindings += (BindingDefinition(attribute=group.parent, source="constant", value=record),)
    definition = subject.definition.model_copy(
        update={
            "kind": kind_of_items().name,
            "inputs": record_input.inputs,
            "bindings": bindings,
            "settings": EndpointSettings(),
        }
    )
    entity = ExposedEntityDefinition(
        module=subject.definition.module, segment=group.entity, entity=group.entity
    )
    return replace(subject, endpoint=replace(subject.endpoint, definition=definition, entity=entity))


def _related(subject: EndpointSubject) -> Iterator[tuple[InputDefinition, RecordGroup]]:
    """Yield the inputs that hold records of a group that exists, with that group."""
    lists = _lists(subject)
    # Most endpoints have no lists. Without lists, the metadata is not asked.
    offered = _offered(subject) if lists else {}
    for record_input in lists:
        if record_input.relationship in offered:
            yield record_input, offered[record_input.relationship]


def _offered(subject: EndpointSubject) -> Mapping[str, RecordGroup]:
    return subject.definition.settings.record_groups(subject.entity, subject.metadata)


def _lists(subject: EndpointSubject) -> list[InputDefinition]:
    return [input_definition for input_definition in subject.inputs if holds_records(input_definition.type)]


def _at(record_input: InputDefinition, field: str) -> str:
    return f"inputs.{record_input.name}.{field}"
