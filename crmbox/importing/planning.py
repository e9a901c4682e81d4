"""From what a source describes to a plan, and the draft that holds it. Nothing is written.

Nothing is taken away: what the source does not hold stays. A lookup can only point at entities that are there
or are made with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace as changed

from crmbox.engine.definitions import Ownership
from crmbox.importing.attribute_merge import differences, is_shorter, merged, merged_label, other_type
from crmbox.importing.fitting import NAME, engine_attributes, fitted, fitted_option_set, no_key
from crmbox.importing.found import CannotRead, Found, Note, Pair, Verdict, left_out
from crmbox.importing.plan import Made, Plan
from crmbox.importing.relationship_names import RelationshipNames
from crmbox.metadata import altering, common, creating
from crmbox.metadata.change import NOTES, REGARDING, complete
from crmbox.metadata.draft import Draft, LengthCheck
from crmbox.metadata.placing import Extras
from crmclient.metadata import (
    ENGLISH,
    AlternateKey,
    Attribute,
    AttributeType,
    Entity,
    Label,
    OptionSet,
    Relationship,
)


def plan(
    draft: Draft,
    found: Iterable[Found],
    option_sets: Mapping[str, OptionSet],
    too_long: Callable[[LengthCheck], str | None],
    *,
    keep_lengths: bool = False,
) -> Plan:
    """`option_sets` are global ones that a source describes by themselves. `too_long` tells what hinders a
    shorter length. `keep_lengths`: no length gets shorter.
    """
    planning = _Planning(draft, keep_lengths=keep_lengths)
    planning.take(found)
    planning.put_option_sets(option_sets)
    planning.put_entities()
    planning.put_pairs()
    complete(draft)
    result = planning.plan
    result.refused += [problem for check in draft.length_checks if (problem := too_long(check))]
    return result


class _Planning:
    def __init__(self, draft: Draft, *, keep_lengths: bool) -> None:
        self.plan = Plan()
        self._draft = draft
        self._keep_lengths = keep_lengths
        self._wanted: dict[str, Found] = {}
        self._pairs: dict[str, Pair] = {}
        self._absent: dict[str, list[str]] = defaultdict(list)
        self._sets = {each.entity.entity_set: name for name, each in draft.entities.items()}
        self._names = RelationshipNames(
            relationship for each in draft.entities.values() for relationship in each.relationships
        )

    def take(self, found: Iterable[Found]) -> None:
        """Keep what can be had of each entity."""
        for each in found:
            present = self._draft.entities.get(each.name)
            known = each if present is None else changed(each, entity=_with_id(each.entity, present.entity))
            try:
                fit = fitted(known, self._draft.dialect, self._ownership(each))
            except CannotRead as error:
                self.plan.notes.append(left_out(each.name, str(error)))
                continue
            self.plan.notes += fit.notes
            owner = self._sets.setdefault(fit.entity.entity_set, fit.name)
            if fit.name not in self._draft.entities and owner != fit.name:
                reason = f"Its entity set {fit.entity.entity_set} is that of {owner}."
                self.plan.notes.append(left_out(fit.name, reason))
            else:
                self._wanted[fit.name] = fit
        for name in self._new():
            # The names that the platform gives by itself are no others'.
            for relationship in common.audit_relationships(name, self._wanted[name].ownership):
                self._names.reserve(relationship)
        self._take_pairs()

    def put_option_sets(self, given: Mapping[str, OptionSet]) -> None:
        """The global option sets that the entities use; those without a description are empty."""
        notes = self.plan.notes
        described = {each.name: each for item in self._wanted.values() for each in item.option_sets}
        described |= {each.name: each for each in (fitted_option_set(one, notes) for one in given.values())}
        used = {
            attribute.option_set: OptionSet(attribute.option_set, attribute.label, ())
            for item in self._wanted.values()
            for attribute in item.attributes
            if attribute.option_set is not None and attribute.options is None
        }
        for name, empty in used.items():
            present = self._draft.option_sets.get(name)
            wanted = described.get(name, present or empty)
            if wanted != present:
                self._draft.put_option_set(wanted)
                self.plan.option_sets.append(name)

    def put_entities(self) -> None:
        for name in self._new():
            self._create(self._wanted[name])
        new = {each.entity for each in self.plan.created}
        for name, each in self._wanted.items():
            if name not in new:
                self._bring_up_to_date(each)
        for target, lookups in sorted(self._absent.items()):
            reason = f"It is not made, so these lookups do not point at it: {', '.join(lookups)}."
            option = f"--entities {target}, --related or --all"
            self.plan.notes.append(left_out(target, reason, option))

    def put_pairs(self) -> None:
        """Many-to-many relationships between entities that are both there."""
        for intersect, pair in self._pairs.items():
            self._create_pair(pair, intersect)

    def _take_pairs(self) -> None:
        pairs = {each.relationship.intersect: each for item in self._wanted.values() for each in item.pairs}
        for intersect, pair in pairs.items():
            if intersect and intersect not in self._draft.entities:
                reason = self._no_pair(pair, intersect)
                if reason is None:
                    self._pairs[intersect] = pair
                    self._names.reserve(pair.relationship)
                else:
                    self.plan.notes.append(left_out(pair.relationship.name, *reason))

    def _ids(self, pair: Pair) -> set[str]:
        ends = (self._entity(pair.relationship.referenced), self._entity(pair.relationship.referencing))
        return {each.primary_id for each in ends if each is not None}

    def _entity(self, name: str) -> Entity | None:
        """An entity that is there or made."""
        if name in self._draft.entities:
            return self._draft.entities[name].entity
        return self._wanted[name].entity if name in self._wanted else None

    def _new(self) -> list[str]:
        return [name for name in self._wanted if name not in self._draft.entities]

    def _ownership(self, found: Found) -> Ownership:
        present = self._draft.entities.get(found.name)
        return found.ownership if present is None else present.ownership

    def _create(self, found: Found) -> None:
        attributes = [each for each in map(self._pointing(found), found.attributes) if each is not None]
        creating.create_entity(
            self._draft,
            changed(
                found.entity,
                label=_named(found.entity.label, found.name),
                plural_label=_named(found.entity.plural_label, found.entity.entity_set),
            ),
            [changed(each, label=_named(each.label, each.logical_name)) for each in attributes],
            self._relationships(found, attributes),
            ownership=found.ownership,
            has_states=found.has_states,
            extras=_extras(found),
        )
        names = tuple(each.logical_name for each in attributes)
        self.plan.created.append(Made(found.name, found.entity.entity_set, names))

    def _bring_up_to_date(self, found: Found) -> None:
        before = {
            each.attribute.logical_name: each.attribute for each in self._draft.entity(found.name).attributes
        }
        new: list[Attribute] = []
        for attribute in map(self._pointing(found), found.attributes):
            if attribute is None:
                continue
            present = before.get(attribute.logical_name)
            if present is not None:
                self._alter(found, present, attribute)
            elif attribute.type not in (AttributeType.STATE, AttributeType.STATUS):
                new.append(attribute)
        if new:
            named = [
                changed(each, label=_named(each.label, each.logical_name), is_primary_name=False)
                for each in new
            ]
            creating.create_attributes(
                self._draft, found.name, named, self._relationships(found, new), _extras(found)
            )
            names = tuple(each.logical_name for each in new)
            self.plan.extended.append(Made(found.name, found.entity.entity_set, names))
        self._relabel(found)

    def _alter(self, found: Found, before: Attribute, wanted: Attribute) -> None:
        name = before.logical_name
        if before.is_primary_id:
            return
        if reason := other_type(before, wanted, is_outline=found.is_outline):
            self.plan.notes.append(left_out(f"{found.name}.{name}", reason))
            return
        is_engine = name in engine_attributes(self._ownership(found))
        after = merged(
            before,
            wanted,
            is_outline=found.is_outline,
            is_engine=is_engine,
            # Notes get their targets from the entities that have notes.
            keeps_targets=is_engine or (found.name, name) == (NOTES, REGARDING),
        )
        if self._keep_lengths and is_shorter(before, after):
            after = self._with_length_kept(found, before, after)
        if after != before:
            relationships = self._relationships(found, [after])
            altering.alter_attribute(self._draft, found.name, after, relationships)
            for what in differences(before, after):
                self.plan.change(found.name, f"{name}: {what}")
            if is_shorter(before, after):
                reason = f"Its length goes from {before.max_length:,} to {after.max_length:,} characters."
                self.plan.notes.append(Note(Verdict.SHORTENED, f"{found.name}.{name}", reason))

    def _with_length_kept(self, found: Found, before: Attribute, after: Attribute) -> Attribute:
        kept, given = before.max_length, after.max_length
        reason = f"It keeps its length of {kept:,} characters; the source has {given:,}."
        self.plan.notes.append(left_out(f"{found.name}.{before.logical_name}", reason, "no --keep-lengths"))
        return changed(after, max_length=kept)

    def _relabel(self, found: Found) -> None:
        before = self._draft.entity(found.name).entity
        after = changed(
            before,
            label=merged_label(before.label, found.entity.label),
            plural_label=merged_label(before.plural_label, found.entity.plural_label),
            description=merged_label(before.description, found.entity.description),
            has_notes=before.has_notes or found.entity.has_notes,
            keys=(*before.keys, *self._new_keys(found, before)),
        )
        if after == before:
            return
        altering.alter_entity(self._draft, after)
        if after.has_notes != before.has_notes:
            self.plan.change(found.name, "it has notes")
        for key in after.keys[len(before.keys) :]:
            self.plan.change(found.name, f"it has a key of {', '.join(key.attributes)}")
        if (after.label, after.plural_label, after.description) != (
            before.label,
            before.plural_label,
            before.description,
        ):
            self.plan.change(found.name, "its labels")

    def _new_keys(self, found: Found, before: Entity) -> Iterator[AlternateKey]:
        attributes = {
            each.attribute.logical_name: each.attribute for each in self._draft.entity(found.name).attributes
        }
        present = {each.attributes for each in before.keys}
        for key in found.entity.keys:
            if key.attributes in present:
                continue
            reason = no_key(key, attributes, before.keys)
            if reason is None:
                yield key
            else:
                subject = f"{found.name}: key {', '.join(key.attributes)}"
                self.plan.notes.append(left_out(subject, reason))

    def _pointing(self, found: Found) -> Callable[[Attribute], Attribute | None]:
        """Lookups and party lists as they can be had, without the entities that are not there.

        None where none is left.
        """

        def pointing(attribute: Attribute) -> Attribute | None:
            if not (attribute.type.is_reference or attribute.type.holds_parties):
                return attribute
            name = f"{found.name}.{attribute.logical_name}"
            known = []
            for each in attribute.targets:
                if each in self._wanted or each in self._pairs or each in self._draft.entities:
                    known.append(each)
                else:
                    self._absent[each].append(name)
            if known:
                return changed(attribute, targets=tuple(known))
            reason = "No entity that it points at is there or made with it."
            if not attribute.targets:
                reason = "The source does not say what it points at."
            self.plan.notes.append(left_out(name, reason))
            return None

        return pointing

    def _relationships(self, found: Found, attributes: Sequence[Attribute]) -> list[Relationship]:
        """One for each target of the lookups among `attributes`, under a name that no other has."""
        engine = engine_attributes(self._ownership(found))
        described = {(each.referencing_attribute, each.referenced): each for each in found.relationships}
        present = set()
        if found.name in self._draft.entities:
            present = {
                (each.referencing_attribute, each.referenced)
                for each in self._draft.entity(found.name).relationships
            }
        made = []
        for attribute in attributes:
            lookup = attribute.logical_name
            for target in attribute.targets if attribute.type.is_reference and lookup not in engine else ():
                if (lookup, target) in present:
                    continue
                plain = f"{found.name}_{lookup}_{target}"
                given = described.get((lookup, target)) or Relationship(plain, target, found.name, lookup)
                name = self._names.give(given, plain)
                if name != given.name:
                    reason = f"Its relationship is called {name}: {given.name!r} is another's, or no name."
                    self.plan.notes.append(Note(Verdict.CHANGED, f"{given.referencing}.{lookup}", reason))
                made.append(changed(given, name=name))
        return made

    def _no_pair(self, pair: Pair, intersect: str) -> tuple[str, str | None] | None:
        """Why a many-to-many relationship cannot be had, and what would bring it; None for one that can."""
        relationship = pair.relationship
        ends = (relationship.referenced, relationship.referencing)
        if ends[0] == ends[1]:
            return "The CRM in the box ties no entity to itself by a many-to-many relationship.", None
        absent = [each for each in ends if self._entity(each) is None]
        if absent:
            option = f"--entities {','.join(absent)} or --all"
            return f"{' and '.join(absent)}, which it ties, is not made.", option
        ids = self._ids(pair)
        if len(ids) == 1:
            return f"Both entities that it ties have {ids.pop()} for their id.", None
        if intersect in self._wanted:
            return f"There is an entity {intersect} of its own.", None
        if not NAME.fullmatch(relationship.name) or not NAME.fullmatch(intersect):
            return f"{relationship.name!r} cannot stand in a URL.", None
        taken = self._names.owner(relationship.name)
        return None if taken is None else (f"Another relationship has the name: {' '.join(taken)}.", None)

    def _create_pair(self, pair: Pair, intersect: str) -> None:
        entity_set = pair.entity_set
        if not NAME.fullmatch(entity_set) or entity_set in self._sets:
            names = (f"{intersect}{ending}" for ending in ("set", "_set", "_pairs"))
            entity_set = next(name for name in names if name not in self._sets)
        self._sets[entity_set] = intersect
        creating.create_many_to_many(
            self._draft,
            pair.relationship,
            custom=True,
            entity_set=entity_set,
            primary_id="" if pair.primary_id in self._ids(pair) else pair.primary_id,
        )
        self.plan.many_to_many.append(pair.relationship.name)


def _with_id(entity: Entity, present: Entity) -> Entity:
    """An entity that exists keeps its id, whatever the source calls it."""
    return changed(entity, primary_id=present.primary_id)


def _named(label: Label, name: str) -> Label:
    return label if label.texts else Label({ENGLISH: name})


def _extras(found: Found) -> Extras:
    if found.extras is not None:
        return found.extras
    names = {each.logical_name for each in found.attributes if each.type is AttributeType.STRING}
    joined: dict[str, tuple[str, ...]] = {}
    if {"fullname", "firstname", "lastname"} <= names:
        joined["fullname"] = ("firstname", "lastname")
    return Extras(
        joined=joined,
        defaults=dict(found.defaults),
        schema_names=dict(found.schema_names),
        schema_name=found.schema_name,
    )
