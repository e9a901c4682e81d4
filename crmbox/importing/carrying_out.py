"""Entities that are new are made with their tables; those that exist are brought up to date.

Nothing is taken away: what the file does not hold stays. A lookup can only point at entities that are there,
so it is made, or gets further targets, when they are. Work goes in parts, each one transaction: PostgreSQL
holds a lock on every table and index that a transaction makes. A second run goes on where a first one ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed
from itertools import islice
from typing import Final, TypeVar

from crmbox.engine.snapshot import StoredEntity
from crmbox.importing.fitting import ENGINE, fitted
from crmbox.importing.found import Found
from crmbox.metadata.change import Change, change
from crmbox.metadata.placing import Extras
from crmclient.metadata import Attribute, AttributeType, Label, OptionSet, Relationship

PART: Final = 200
"""Entities in one transaction."""

Item = TypeVar("Item")
Show = Callable[[str, int, int], None]


@dataclass(slots=True)
class Outcome:
    """What was done. `left_out` names attributes that could not be had, with the reason."""

    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def carry_out(found: Iterable[Found], option_sets: Mapping[str, OptionSet], show: Show) -> Outcome:
    """`option_sets` are global ones that a file describes by themselves.

    Raises CannotRead, InvalidDefinition.
    """
    wanted = {each.name: fitted(each) for each in found}
    outcome = Outcome()
    _put_option_sets(wanted.values(), option_sets)
    done = 0
    for part in _parts(wanted.values()):
        with change() as changes:
            known = {*changes.snapshot.entities, *(each.name for each in part)}
            for each in part:
                if each.name not in changes.snapshot:
                    _create(changes, each, known)
                    outcome.created.append(each.name)
        done += len(part)
        show("Entities created", done, len(wanted))
    done = 0
    for part in _parts(wanted.values()):
        with change() as changes:
            for each in part:
                if _bring_up_to_date(changes, each, outcome) and each.name not in outcome.created:
                    outcome.changed.append(each.name)
        done += len(part)
        show("Entities compared", done, len(wanted))
    _put_pairs(wanted.values())
    return outcome


def _put_option_sets(found: Iterable[Found], given: Mapping[str, OptionSet]) -> None:
    """The global option sets that the entities use; those without a description are empty."""
    described = {each.name: each for item in found for each in item.option_sets} | dict(given)
    used = {
        attribute.option_set: OptionSet(attribute.option_set, attribute.label, ())
        for item in found
        for attribute in item.attributes
        if attribute.option_set is not None and attribute.options is None
    }
    with change() as changes:
        present = changes.snapshot.option_sets
        for name, empty in used.items():
            if name not in present:
                changes.create_option_set(described.get(name, empty))
            elif name in described and described[name] != present[name]:
                changes.alter_option_set(described[name])


def _create(changes: Change, found: Found, known: set[str]) -> None:
    attributes = [_pointing_at(each, known) for each in found.attributes]
    kept = [each for each in attributes if each.targets or not each.type.is_reference]
    changes.create_entity(
        changed(
            found.entity,
            label=_named(found.entity.label, found.name),
            plural_label=_named(found.entity.plural_label, found.entity.entity_set),
        ),
        [changed(each, label=_named(each.label, each.logical_name)) for each in kept],
        _relationships(found, kept),
        ownership=found.ownership,
        has_states=found.has_states,
        extras=_extras(found),
    )


def _bring_up_to_date(changes: Change, found: Found, outcome: Outcome) -> bool:
    """Whether anything had to be changed."""
    snapshot = changes.snapshot
    stored = snapshot.entity(found.name)
    new: list[Attribute] = []
    touched = False
    for each in found.attributes:
        attribute = _pointing_at(each, set(snapshot.entities))
        before = stored.columns.get(each.logical_name)
        if before is None:
            if each.type.is_reference and not attribute.targets:
                outcome.left_out.append(f"{found.name}.{each.logical_name}: no entity that it points at")
            elif each.type not in (AttributeType.STATE, AttributeType.STATUS):
                new.append(attribute)
            continue
        if (before.attribute.type, before.attribute.behavior) != (attribute.type, attribute.behavior):
            outcome.left_out.append(
                f"{found.name}.{each.logical_name}: it is {before.attribute.type.value} here already"
            )
            continue
        after = _merged(before.attribute, attribute, labels_and_limits=not found.is_outline)
        if after != before.attribute:
            changes.alter_attribute(found.name, after)
            touched = True
    if new:
        named = [changed(each, label=_named(each.label, each.logical_name)) for each in new]
        changes.create_attributes(found.name, named, _relationships(found, new), extras=_extras(found))
    return _relabel(changes, stored, found) or bool(new) or touched


def _relabel(changes: Change, stored: StoredEntity, found: Found) -> bool:
    before = stored.entity
    after = changed(
        before,
        label=_merged_label(before.label, found.entity.label),
        plural_label=_merged_label(before.plural_label, found.entity.plural_label),
        description=_merged_label(before.description, found.entity.description),
        has_notes=before.has_notes or found.entity.has_notes,
    )
    if after == before:
        return False
    changes.alter_entity(after)
    return True


def _merged(before: Attribute, after: Attribute, *, labels_and_limits: bool) -> Attribute:
    """What is there, as the file describes it now; lengths only grow, and targets only come along."""
    if not labels_and_limits:
        return _with_targets(before, after)
    labelled = changed(
        before,
        label=_merged_label(before.label, after.label),
        description=_merged_label(before.description, after.description),
    )
    if before.logical_name in ENGINE or not (before.creatable or before.updatable):
        return labelled
    return changed(
        _with_targets(labelled, after),
        required=before.required if before.is_primary_id else after.required,
        max_length=max(before.max_length or 0, after.max_length or 0) or None,
        minimum=after.minimum,
        maximum=after.maximum,
        max_size=after.max_size or before.max_size,
        options=after.options if _has_options(after) and before.options is not None else before.options,
    )


def _with_targets(before: Attribute, after: Attribute) -> Attribute:
    if before.logical_name in ENGINE:
        return before
    return changed(
        before, targets=(*before.targets, *(each for each in after.targets if each not in before.targets))
    )


def _has_options(attribute: Attribute) -> bool:
    return attribute.options is not None and bool(attribute.options.options)


def _merged_label(before: Label, after: Label) -> Label:
    texts = {**before.texts, **after.texts}
    return before if texts == before.texts else Label(texts)


def _named(label: Label, name: str) -> Label:
    return label if label.texts else Label({1033: name})


def _pointing_at(attribute: Attribute, known: set[str]) -> Attribute:
    if not attribute.type.is_reference:
        return attribute
    return changed(attribute, targets=tuple(each for each in attribute.targets if each in known))


def _relationships(found: Found, attributes: Sequence[Attribute]) -> list[Relationship]:
    """Those of the lookups among `attributes`, to what they point at."""
    targets = {each.logical_name: each.targets for each in attributes}
    return [
        each
        for each in found.relationships
        if each.referenced in targets.get(each.referencing_attribute or "", ())
    ]


def _extras(found: Found) -> Extras:
    names = {each.logical_name for each in found.attributes}
    joined: dict[str, tuple[str, ...]] = {}
    if {"fullname", "firstname", "lastname"} <= names:
        joined["fullname"] = ("firstname", "lastname")
    return Extras(
        joined=joined,
        defaults=dict(found.defaults),
        schema_names=dict(found.schema_names),
        schema_name=found.schema_name,
    )


def _put_pairs(found: Iterable[Found]) -> None:
    """Many-to-many relationships between entities that are both there."""
    pairs = {each.intersect: each for item in found for each in item.pairs if each.intersect}
    for part in _parts(pairs.values()):
        with change() as changes:
            present = changes.snapshot
            for each in part:
                ends = {each.referenced, each.referencing}
                if (
                    each.intersect
                    and each.intersect not in present
                    and len(ends) == 2
                    and all(end in present for end in ends)
                ):
                    changes.create_many_to_many(each, custom=True)


def _parts(items: Iterable[Item]) -> Iterator[list[Item]]:
    rest = iter(items)
    while part := list(islice(rest, PART)):
        yield part
