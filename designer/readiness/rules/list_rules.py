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
    """Find inputs that hold records where the kind takes none, or inside of other such inputs."""
    for outer in subject.inputs:
        if holds_records(outer.type) and not subject.endpoint.kind.takes_lists:
            yield (
                _(
                    "“%(name)s” holds records: only a create, an update and an action take them.",
                    name=outer.name,
                ),
                _place_in_input(outer, "type"),
            )
        for inner in outer.inputs:
            if holds_records(inner.type):
                yield (
                    _(
                        "“%(name)s” holds records inside of “%(outer)s”: take it out.",
                        name=inner.name,
                        outer=outer.name,
                    ),
                    _place_in_input(outer, "type"),
                )


@blocking("list-relationship")
def records_lead_somewhere(subject: EndpointSubject) -> Found:
    """Find inputs whose relationship, or parameter of the process, is not chosen or does not fit."""
    if not subject.endpoint.kind.takes_lists:
        return
    offered = _groups_offered(subject)
    for record_input in _record_inputs(subject):
        place = _place_in_input(record_input, "relationship")
        if not record_input.relationship:
            yield (
                _("Choose the relationship that leads to what “%(name)s” holds.", name=record_input.name),
                place,
            )
        elif not subject.lacks_entity and record_input.relationship not in offered:
            yield _why_not_offered(subject, record_input, offered), place


def _why_not_offered(
    subject: EndpointSubject, record_input: InputDefinition, offered: Mapping[str, RecordGroup]
) -> str:
    """Return the finding about an input whose relationship or parameter is not among those `offered`."""
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
    """Find inputs of one record where several are meant, and the reverse."""
    for record_input, group in _record_inputs_with_group(subject):
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
                _place_in_input(record_input, "type"),
            )


@blocking("record-missing")
def required_records_are_handed_over(subject: EndpointSubject) -> Found:
    """Find records that the platform requires and that no input holds."""
    handed_over = {record_input.relationship for record_input in _record_inputs(subject)}
    for group in _groups_offered(subject).values():
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
    """Find records that the platform requires and that callers may leave out."""
    for record_input, group in _record_inputs_with_group(subject):
        if group.required and not record_input.required:
            yield (
                _(
                    "The platform requires the record “%(group)s”, but callers may leave out “%(name)s”: "
                    "make the input required.",
                    group=group.name,
                    name=record_input.name,
                ),
                _place_in_input(record_input, "required"),
            )


@blocking("record-repeated")
def records_are_handed_over_once(subject: EndpointSubject) -> Found:
    """Find parameters of a process that two inputs hold. A relationship may have several inputs."""
    if not subject.definition.settings.platform_name:
        return
    first_inputs: dict[str, str] = {}
    for record_input in _record_inputs(subject):
        if record_input.relationship and record_input.relationship in first_inputs:
            yield (
                _(
                    "“%(name)s” and “%(other)s” hold the same record “%(group)s”. Remove one of them.",
                    name=record_input.name,
                    other=first_inputs[record_input.relationship],
                    group=record_input.relationship,
                ),
                _place_in_input(record_input, "relationship"),
            )
        first_inputs.setdefault(record_input.relationship, record_input.name)


@blocking("list-bindings")
def items_are_records(subject: EndpointSubject) -> Found:
    """Find inputs of records that set nothing, or that set what the create itself sets."""
    for record_input, group in _record_inputs_with_group(subject):
        if not record_input.bindings:
            yield (
                _("Nothing of “%(name)s” is written: bind attributes of its items.", name=record_input.name),
                _place_in_input(record_input, "name"),
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
                    _place_in_input(record_input, f"bindings.{binding.attribute}"),
                )
            elif not group.parent and attribute is not None and attribute.is_primary_id:
                yield (
                    _(
                        "“%(attribute)s” of “%(name)s” is the id of a record that is to be made: do not "
                        "bind it.",
                        attribute=binding.attribute,
                        name=record_input.name,
                    ),
                    _place_in_input(record_input, f"bindings.{binding.attribute}"),
                )


@blocking("list-changes")
def items_can_be_changed(subject: EndpointSubject) -> Found:
    """Find, in lists of an update, inputs called “id”, which names the record to change, and bindings that
    only a create can set.
    """
    if not subject.endpoint.kind.partial:
        return
    for record_input, group in _record_inputs_with_group(subject):
        for inner in record_input.inputs:
            if inner.name == "id":
                yield (
                    _(
                        "“%(name)s” has an input “id”, which names the record. Rename it.",
                        name=record_input.name,
                    ),
                    _place_in_input(record_input, "inputs.id.name"),
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
                    _place_in_input(record_input, f"bindings.{binding.attribute}"),
                )


@blocking("list-records")
def records_can_be_linked(subject: EndpointSubject) -> Found:
    """Find lists whose records cannot be written, or cannot be tied to the record of the call."""
    for record_input, group in _record_inputs_with_group(subject):
        entity = subject.metadata.entities().get(group.entity)
        attribute = subject.metadata.attributes(group.entity).get(group.parent)
        place = _place_in_input(record_input, "relationship")
        if entity is not None and entity.is_read_only:
            yield (
                _(
                    "“%(name)s” holds records of “%(entity)s”, which can only be read. Choose a relationship "
                    "to an entity whose records can be written.",
                    name=record_input.name,
                    entity=group.entity,
                ),
                place,
            )
        elif attribute is not None and not attribute.creatable:
            yield (
                _(
                    "Records of “%(name)s” cannot be tied to their %(entity)s: “%(attribute)s” is set by the "
                    "platform alone.",
                    name=record_input.name,
                    entity=subject.entity,
                    attribute=group.parent,
                ),
                place,
            )
        elif attribute is not None and not attribute.readable and subject.endpoint.kind.partial:
            yield (
                _(
                    "Which records “%(name)s” has cannot be found out: the platform does not let "
                    "“%(attribute)s” be read.",
                    name=record_input.name,
                    attribute=group.parent,
                ),
                place,
            )


@warning("list-length")
def lists_are_short(subject: EndpointSubject) -> Found:
    """Find lists whose limit is higher than the service allows."""
    for record_input in _record_inputs(subject):
        if record_input.max_length is not None and record_input.max_length > MOST_ITEMS:
            yield (
                _(
                    "“%(name)s” holds %(most_items)s items at most.",
                    name=record_input.name,
                    most_items=MOST_ITEMS,
                ),
                _place_in_input(record_input, "max_length"),
            )


@blocking("list-item")
def items_can_be_created(subject: EndpointSubject) -> Found:
    """Find what blocks the items of lists, by the rules for inputs and bindings."""
    yield from _findings_of_items(subject, Severity.BLOCKING)


@warning("list-item-doubtful")
def items_are_as_meant(subject: EndpointSubject) -> Found:
    """Find what is doubtful in the items of lists, by the rules for inputs and bindings."""
    yield from _findings_of_items(subject, Severity.WARNING)


def _findings_of_items(subject: EndpointSubject, severity: Severity) -> Found:
    """Yield the findings of the rules for inputs and bindings about the items of lists."""
    for record_input, group in _record_inputs_with_group(subject):
        items = _subject_of_items(subject, record_input, group)
        for rule in ENDPOINT_RULES:
            if rule.severity is severity and _holds_for_items(rule.id):
                for message, field in rule.find(items):
                    yield (
                        _("In “%(name)s”: %(message)s", name=record_input.name, message=message),
                        _place_in_input(record_input, field),
                    )


def _holds_for_items(rule: str) -> bool:
    """Whether the rule with the id `rule` also applies to the items of lists."""
    # Expressions of items are judged with all others.
    return rule.startswith(_OF_ITEMS) and rule != "binding-expression"


def _subject_of_items(
    subject: EndpointSubject, record_input: InputDefinition, group: RecordGroup
) -> EndpointSubject:
    """Return a subject for the rules of inputs and bindings: an endpoint that makes one record of the list.

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


def _record_inputs_with_group(subject: EndpointSubject) -> Iterator[tuple[InputDefinition, RecordGroup]]:
    """Yield the inputs that hold records of a group that exists, with that group."""
    lists = _record_inputs(subject)
    # Most endpoints have no lists. Without lists, the metadata is not asked.
    offered = _groups_offered(subject) if lists else {}
    for record_input in lists:
        if record_input.relationship in offered:
            yield record_input, offered[record_input.relationship]


def _groups_offered(subject: EndpointSubject) -> Mapping[str, RecordGroup]:
    """Return the groups of records that inputs may hold, by relationship or by parameter of the process."""
    return subject.definition.settings.record_groups(subject.entity, subject.metadata)


def _record_inputs(subject: EndpointSubject) -> list[InputDefinition]:
    """Return the inputs that hold records."""
    return [input_definition for input_definition in subject.inputs if holds_records(input_definition.type)]


def _place_in_input(record_input: InputDefinition, field: str) -> str:
    return f"inputs.{record_input.name}.{field}"
