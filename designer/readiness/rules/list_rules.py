"""Inputs that hold records: what they lead to, and what each record is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from designer.definitions import BindingDefinition, ExposedEntityDefinition, InputDefinition
from designer.expressions.nearest import did_you_mean
from designer.kinds import kind_of_items
from designer.kinds.record_groups import RecordGroup
from designer.kinds.settings import EndpointSettings
from designer.readiness.findings import Severity
from designer.readiness.registry import ENDPOINT_RULES, Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import TYPES, holds_records, type_of_records
from designer.types.lists import MOST_ITEMS

# Rules of inputs and bindings that hold for those of items as well.
_OF_ITEMS = ("input-", "binding-", "attribute-", "required-attribute-")


@blocking("list-place")
def records_stand_where_they_are_made(subject: EndpointSubject) -> Found:
    for known in subject.inputs:
        if holds_records(known.type) and not subject.endpoint.kind.takes_lists:
            yield (
                _(
                    "“%(name)s” holds records: only a create, an update and an action take them.",
                    name=known.name,
                ),
                _at(known, "type"),
            )
        for inner in known.inputs:
            if holds_records(inner.type):
                yield (
                    _(
                        "“%(name)s” holds records inside of “%(outer)s”: take it out.",
                        name=inner.name,
                        outer=known.name,
                    ),
                    _at(known, "type"),
                )


@blocking("list-relationship")
def records_lead_somewhere(subject: EndpointSubject) -> Found:
    if not subject.endpoint.kind.takes_lists:
        return
    offered = _offered(subject)
    for known in _lists(subject):
        place = _at(known, "relationship")
        if not known.relationship:
            yield _("Choose the relationship that leads to what “%(name)s” holds.", name=known.name), place
        elif known.relationship not in offered:
            yield _nowhere(subject, known, offered), place


def _nowhere(subject: EndpointSubject, known: InputDefinition, offered: Mapping[str, RecordGroup]) -> str:
    hint = did_you_mean(known.relationship, offered)
    process = subject.definition.settings.platform_name
    if process:
        return _(
            "%(process)s makes no records of a parameter “%(parameter)s”.%(hint)s",
            process=process,
            parameter=known.relationship,
            hint=hint,
        )
    there = {one.name for one in subject.metadata.relationships(subject.entity)} if subject.entity else ()
    if known.relationship not in there:
        return _(
            "%(entity)s has no relationship “%(relationship)s”.%(hint)s",
            entity=subject.entity,
            relationship=known.relationship,
            hint=hint,
        )
    return _(
        "“%(relationship)s” does not lead from one %(entity)s to many records.",
        relationship=known.relationship,
        entity=subject.entity,
    )


@blocking("record-type")
def types_hold_as_many(subject: EndpointSubject) -> Found:
    for known, group in _related(subject):
        wanted = type_of_records(several=group.several)
        if TYPES[known.type].holds_one is group.several:
            yield (
                _(
                    "“%(name)s” is of type %(type)s, and “%(group)s” holds %(many)s. Make it %(wanted)s.",
                    name=known.name,
                    type=known.type,
                    group=group.name,
                    many=_("several records") if group.several else _("one record"),
                    wanted=wanted.name,
                ),
                _at(known, "type"),
            )


@blocking("record-missing")
def required_records_are_handed_over(subject: EndpointSubject) -> Found:
    held = {known.relationship for known in _lists(subject)}
    for group in _offered(subject).values():
        if group.required and group.name not in held:
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
    for known, group in _related(subject):
        if group.required and not known.required:
            yield (
                _(
                    "The platform requires the record “%(group)s”, but callers may leave out “%(name)s”: "
                    "make the input required.",
                    group=group.name,
                    name=known.name,
                ),
                _at(known, "required"),
            )


@blocking("record-repeated")
def records_are_handed_over_once(subject: EndpointSubject) -> Found:
    if not subject.definition.settings.platform_name:
        return
    taken: dict[str, str] = {}
    for known in _lists(subject):
        if known.relationship and known.relationship in taken:
            yield (
                _(
                    "“%(name)s” and “%(other)s” hold the same record “%(group)s”. Remove one of them.",
                    name=known.name,
                    other=taken[known.relationship],
                    group=known.relationship,
                ),
                _at(known, "relationship"),
            )
        taken.setdefault(known.relationship, known.name)


@blocking("list-bindings")
def items_are_records(subject: EndpointSubject) -> Found:
    for known, group in _related(subject):
        if not known.bindings:
            yield (
                _("Nothing of “%(name)s” is written: bind attributes of its items.", name=known.name),
                _at(known, "name"),
            )
        attributes = subject.metadata.attributes(group.entity)
        for binding in known.bindings:
            attribute = attributes.get(binding.attribute)
            if binding.attribute == group.parent:
                yield (
                    _(
                        "“%(attribute)s” of “%(name)s” is the record that is created: do not bind it.",
                        attribute=binding.attribute,
                        name=known.name,
                    ),
                    _at(known, f"bindings.{binding.attribute}"),
                )
            elif not group.parent and attribute is not None and attribute.is_primary_id:
                yield (
                    _(
                        "“%(attribute)s” of “%(name)s” is the id of a record that is to be made: do not "
                        "bind it.",
                        attribute=binding.attribute,
                        name=known.name,
                    ),
                    _at(known, f"bindings.{binding.attribute}"),
                )


@blocking("list-changes")
def items_can_be_changed(subject: EndpointSubject) -> Found:
    """Of an update, whose lists change records that are there, which their ids name."""
    if not subject.endpoint.kind.partial:
        return
    for known, group in _related(subject):
        for inner in known.inputs:
            if inner.name == "id":
                yield (
                    _("“%(name)s” has an input “id”, which names the record. Rename it.", name=known.name),
                    _at(known, "inputs.id.name"),
                )
        attributes = subject.metadata.attributes(group.entity)
        for binding in known.bindings:
            attribute = attributes.get(binding.attribute)
            if attribute is not None and attribute.creatable and not attribute.updatable:
                yield (
                    _(
                        "“%(attribute)s” of “%(name)s” can be set when a record is created, and never "
                        "changed. Remove the binding.",
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
    """What the rules of inputs and bindings find of the records that inputs hold."""
    for known, group in _related(subject):
        items = _items(subject, known, group)
        for rule in ENDPOINT_RULES:
            if rule.severity is severity and _holds_for_items(rule.id):
                for message, field in rule.find(items):
                    yield _("In “%(name)s”: %(message)s", name=known.name, message=message), _at(known, field)


def _holds_for_items(rule: str) -> bool:
    # Expressions of items are judged with all others.
    return rule.startswith(_OF_ITEMS) and rule != "binding-expression"


def _items(subject: EndpointSubject, known: InputDefinition, group: RecordGroup) -> EndpointSubject:
    """An endpoint that makes one such record, as it were. A relationship sets the lookup to the parent."""
    bindings = tuple(binding for binding in known.bindings if binding.attribute != group.parent)
    if group.parent:
        bindings += (BindingDefinition(attribute=group.parent, source="constant", value=None),)
    definition = subject.definition.model_copy(
        update={
            "kind": kind_of_items().name,
            "inputs": known.inputs,
            "bindings": bindings,
            "settings": EndpointSettings(),
        }
    )
    entity = ExposedEntityDefinition(
        module=subject.definition.module, segment=group.entity, entity=group.entity
    )
    return replace(subject, endpoint=replace(subject.endpoint, definition=definition, entity=entity))


def _related(subject: EndpointSubject) -> Iterator[tuple[InputDefinition, RecordGroup]]:
    """The inputs that hold records which there are."""
    lists = _lists(subject)
    # Most endpoints have no lists, and what an entity offers is not asked for them.
    offered = _offered(subject) if lists else {}
    for known in lists:
        if known.relationship in offered:
            yield known, offered[known.relationship]


def _offered(subject: EndpointSubject) -> Mapping[str, RecordGroup]:
    return subject.definition.settings.record_groups(subject.entity, subject.metadata)


def _lists(subject: EndpointSubject) -> list[InputDefinition]:
    return [known for known in subject.inputs if holds_records(known.type)]


def _at(known: InputDefinition, field: str) -> str:
    return f"inputs.{known.name}.{field}"
