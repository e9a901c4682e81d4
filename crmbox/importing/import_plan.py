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
from crmbox.importing.fitted_definitions import NAME, engine_attributes, fitted, fitted_option_set, no_key
from crmbox.importing.plan import Made, Plan
from crmbox.importing.relationship_names import RelationshipNames
from crmbox.importing.source_entity import CannotRead, Note, Pair, SourceEntity, Verdict, left_out
from crmbox.metadata import alterations, common, new_definitions
from crmbox.metadata.change import NOTES, REGARDING, complete
from crmbox.metadata.draft import Draft, LengthCheck
from crmbox.metadata.physical_columns import Extras
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
    source_entities: Iterable[SourceEntity],
    option_sets: Mapping[str, OptionSet],
    too_long: Callable[[LengthCheck], str | None],
    *,
    keep_lengths: bool = False,
) -> Plan:
    """Return the plan of an import, and change `draft` accordingly.

    `option_sets` are global ones that a source describes by themselves. `too_long` says what prevents a
    shorter length; None: nothing. `keep_lengths`: no length gets shorter.
    """
    planning = _Planner(draft, keep_lengths=keep_lengths)
    planning.take(source_entities)
    planning.put_option_sets(option_sets)
    planning.put_entities()
    planning.put_pairs()
    complete(draft)
    result = planning.plan
    result.refused += [problem for check in draft.length_checks if (problem := too_long(check))]
    return result


class _Planner:
    """Makes `plan`, and changes the draft as it says. Its public methods are called in their order."""

    def __init__(self, draft: Draft, *, keep_lengths: bool) -> None:
        self.plan = Plan()
        self._draft = draft
        self._keep_lengths = keep_lengths
        self._wanted: dict[str, SourceEntity] = {}
        self._pairs: dict[str, Pair] = {}
        # By entity that is not there: the lookups that should point at it.
        self._absent: dict[str, list[str]] = defaultdict(list)
        self._sets = {definition.entity.entity_set: name for name, definition in draft.entities.items()}
        self._names = RelationshipNames(
            relationship
            for definition in draft.entities.values()
            for relationship in definition.relationships
        )

    def take(self, source_entities: Iterable[SourceEntity]) -> None:
        """Keep what fits of each entity. What does not fit gets a note."""
        for source_entity in source_entities:
            present = self._draft.entities.get(source_entity.name)
            candidate = (
                source_entity
                if present is None
                else changed(source_entity, entity=_with_id(source_entity.entity, present.entity))
            )
            try:
                fit = fitted(candidate, self._draft.dialect, self._ownership(source_entity), present)
            except CannotRead as error:
                self.plan.notes.append(left_out(source_entity.name, str(error)))
                continue
            self.plan.notes += fit.notes
            owner = self._sets.setdefault(fit.entity.entity_set, fit.name)
            if fit.name not in self._draft.entities and owner != fit.name:
                reason = f"Its entity set {fit.entity.entity_set} is that of {owner}."
                self.plan.notes.append(left_out(fit.name, reason))
            else:
                self._wanted[fit.name] = fit
        for name in self._new():
            # Reserve the names that the platform gives by itself.
            for relationship in common.audit_relationships(name, self._wanted[name].ownership):
                self._names.reserve(relationship)
        self._take_pairs()

    def put_option_sets(self, source_option_sets: Mapping[str, OptionSet]) -> None:
        """Add or change the global option sets that the entities use.

        An option set that the source does not describe is added without options.
        """
        described = {
            option_set.name: option_set
            for source_entity in self._wanted.values()
            for option_set in source_entity.option_sets
        }
        for source_option_set in source_option_sets.values():
            fitted = fitted_option_set(source_option_set, self.plan.notes)
            described[fitted.name] = fitted
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
        """Create the new entities, and change those that exist."""
        for name in self._new():
            self._create(self._wanted[name])
        new = {created.entity for created in self.plan.created}
        for name, source_entity in self._wanted.items():
            if name not in new:
                self._bring_up_to_date(source_entity)
        for target, lookups in sorted(self._absent.items()):
            reason = f"It is not made, so these lookups do not point at it: {', '.join(lookups)}."
            option = f"--entities {target}, --related or --all"
            self.plan.notes.append(left_out(target, reason, option))

    def put_pairs(self) -> None:
        """Create the many-to-many relationships whose two entities exist."""
        for intersect, pair in self._pairs.items():
            self._create_pair(pair, intersect)

    def _take_pairs(self) -> None:
        """Keep the new many-to-many relationships that can be created. Others get a note."""
        pairs = {
            pair.relationship.intersect: pair
            for source_entity in self._wanted.values()
            for pair in source_entity.pairs
        }
        for intersect, pair in pairs.items():
            if intersect and intersect not in self._draft.entities:
                reason = self._no_pair(pair, intersect)
                if reason is None:
                    self._pairs[intersect] = pair
                    self._names.reserve(pair.relationship)
                else:
                    self.plan.notes.append(left_out(pair.relationship.name, *reason))

    def _entity(self, name: str) -> Entity | None:
        """Return an entity that exists or is being created; None for any other."""
        if name in self._draft.entities:
            return self._draft.entities[name].entity
        return self._wanted[name].entity if name in self._wanted else None

    def _new(self) -> list[str]:
        return [name for name in self._wanted if name not in self._draft.entities]

    def _ownership(self, source_entity: SourceEntity) -> Ownership:
        present = self._draft.entities.get(source_entity.name)
        return source_entity.ownership if present is None else present.ownership

    def _create(self, source_entity: SourceEntity) -> None:
        attributes = [
            attribute
            for attribute in map(self._with_present_targets(source_entity), source_entity.attributes)
            if attribute is not None
        ]
        new_definitions.create_entity(
            self._draft,
            changed(
                source_entity.entity,
                label=_label_or_name(source_entity.entity.label, source_entity.name),
                plural_label=_label_or_name(
                    source_entity.entity.plural_label, source_entity.entity.entity_set
                ),
            ),
            [
                changed(attribute, label=_label_or_name(attribute.label, attribute.logical_name))
                for attribute in attributes
            ],
            self._relationships(source_entity, attributes),
            ownership=source_entity.ownership,
            has_states=source_entity.has_states,
            extras=_extras(source_entity),
        )
        names = tuple(attribute.logical_name for attribute in attributes)
        self.plan.created.append(Made(source_entity.name, source_entity.entity.entity_set, names))

    def _bring_up_to_date(self, source_entity: SourceEntity) -> None:
        """Change an entity that exists, and add the attributes that it lacks."""
        before = self._draft.attributes(source_entity.name)
        new: list[Attribute] = []
        for attribute in map(self._with_present_targets(source_entity), source_entity.attributes):
            if attribute is None:
                continue
            present = before.get(attribute.logical_name)
            if present is not None:
                self._alter(source_entity, present, attribute)
            elif attribute.type not in (AttributeType.STATE, AttributeType.STATUS):
                new.append(attribute)
        if new:
            named = [
                changed(
                    attribute,
                    label=_label_or_name(attribute.label, attribute.logical_name),
                    is_primary_name=False,
                )
                for attribute in new
            ]
            new_definitions.create_attributes(
                self._draft,
                source_entity.name,
                named,
                self._relationships(source_entity, new),
                _extras(source_entity),
            )
            names = tuple(attribute.logical_name for attribute in new)
            self.plan.extended.append(Made(source_entity.name, source_entity.entity.entity_set, names))
        self._relabel(source_entity)

    def _alter(self, source_entity: SourceEntity, before: Attribute, wanted: Attribute) -> None:
        """Change an attribute that exists to what the source wants. A change of its type gets a note."""
        name = before.logical_name
        if before.is_primary_id:
            return
        if reason := other_type(before, wanted, is_outline=source_entity.is_outline):
            self.plan.notes.append(left_out(f"{source_entity.name}.{name}", reason))
            return
        is_engine = name in engine_attributes(self._ownership(source_entity))
        after = merged(
            before,
            wanted,
            is_outline=source_entity.is_outline,
            is_engine=is_engine,
            # Notes get their targets from the entities that have notes.
            keeps_targets=is_engine or (source_entity.name, name) == (NOTES, REGARDING),
        )
        if self._keep_lengths and is_shorter(before, after):
            after = self._with_length_kept(source_entity, before, after)
        if after != before:
            relationships = self._relationships(source_entity, [after])
            alterations.alter_attribute(self._draft, source_entity.name, after, relationships)
            for what in differences(before, after):
                self.plan.change(source_entity.name, f"{name}: {what}")
            if is_shorter(before, after):
                reason = f"Its length goes from {before.max_length:,} to {after.max_length:,} characters."
                self.plan.notes.append(Note(Verdict.SHORTENED, f"{source_entity.name}.{name}", reason))

    def _with_length_kept(
        self, source_entity: SourceEntity, before: Attribute, after: Attribute
    ) -> Attribute:
        length, source_length = before.max_length, after.max_length
        reason = f"It keeps its length of {length:,} characters; the source has {source_length:,}."
        self.plan.notes.append(
            left_out(f"{source_entity.name}.{before.logical_name}", reason, "no --keep-lengths")
        )
        return changed(after, max_length=length)

    def _relabel(self, source_entity: SourceEntity) -> None:
        """Change the labels of an entity that exists, and add notes and keys where the source has them."""
        before = self._draft.entity(source_entity.name).entity
        after = changed(
            before,
            label=merged_label(before.label, source_entity.entity.label),
            plural_label=merged_label(before.plural_label, source_entity.entity.plural_label),
            description=merged_label(before.description, source_entity.entity.description),
            has_notes=before.has_notes or source_entity.entity.has_notes,
            keys=(*before.keys, *self._new_keys(source_entity, before)),
        )
        if after == before:
            return
        alterations.alter_entity(self._draft, after)
        if after.has_notes != before.has_notes:
            self.plan.change(source_entity.name, "it has notes")
        for key in after.keys[len(before.keys) :]:
            self.plan.change(source_entity.name, f"it has a key of {', '.join(key.attributes)}")
        if (after.label, after.plural_label, after.description) != (
            before.label,
            before.plural_label,
            before.description,
        ):
            self.plan.change(source_entity.name, "its labels")

    def _new_keys(self, source_entity: SourceEntity, before: Entity) -> Iterator[AlternateKey]:
        attributes = self._draft.attributes(source_entity.name)
        present = {key.attributes for key in before.keys}
        for key in source_entity.entity.keys:
            if key.attributes in present:
                continue
            reason = no_key(key, attributes, before.keys, before.primary_id)
            if reason is None:
                yield key
            else:
                subject = f"{source_entity.name}: key {', '.join(key.attributes)}"
                self.plan.notes.append(left_out(subject, reason))

    def _with_present_targets(self, source_entity: SourceEntity) -> Callable[[Attribute], Attribute | None]:
        """Return a function that removes the targets of a lookup or party list that do not exist.

        The function returns None, and leaves a note, when no target is left. Other attributes stay as they
        are.
        """

        def with_present_targets(attribute: Attribute) -> Attribute | None:
            if not (attribute.type.is_reference or attribute.type.holds_parties):
                return attribute
            name = f"{source_entity.name}.{attribute.logical_name}"
            targets = []
            for target in attribute.targets:
                if target in self._wanted or target in self._pairs or target in self._draft.entities:
                    targets.append(target)
                else:
                    self._absent[target].append(name)
            if targets:
                return changed(attribute, targets=tuple(targets))
            reason = "No entity that it points at is there or made with it."
            if not attribute.targets:
                reason = "The source does not say what it points at."
            self.plan.notes.append(left_out(name, reason))
            return None

        return with_present_targets

    def _relationships(
        self, source_entity: SourceEntity, attributes: Sequence[Attribute]
    ) -> list[Relationship]:
        """Return a relationship for each target of the lookups among `attributes`, under a unique name."""
        engine = engine_attributes(self._ownership(source_entity))
        described = {
            (relationship.referencing_attribute, relationship.referenced): relationship
            for relationship in source_entity.relationships
        }
        present = set()
        if source_entity.name in self._draft.entities:
            present = {
                (relationship.referencing_attribute, relationship.referenced)
                for relationship in self._draft.entity(source_entity.name).relationships
            }
        new_relationships = []
        for attribute in attributes:
            lookup = attribute.logical_name
            for target in attribute.targets if attribute.type.is_reference and lookup not in engine else ():
                if (lookup, target) in present:
                    continue
                plain = f"{source_entity.name}_{lookup}_{target}"
                wanted = described.get((lookup, target)) or Relationship(
                    plain, target, source_entity.name, lookup
                )
                name = self._names.give(wanted, plain)
                if name != wanted.name:
                    reason = f"Its relationship is called {name}: {wanted.name!r} is another's, or no name."
                    self.plan.notes.append(Note(Verdict.CHANGED, f"{wanted.referencing}.{lookup}", reason))
                new_relationships.append(changed(wanted, name=name))
        return new_relationships

    def _no_pair(self, pair: Pair, intersect: str) -> tuple[str, str | None] | None:
        """Return why a many-to-many relationship cannot be created, and the option that would help, if any.

        Return None when it can be created.
        """
        relationship = pair.relationship
        ends = (relationship.referenced, relationship.referencing)
        absent = [name for name in ends if self._entity(name) is None]
        if absent:
            option = f"--entities {','.join(absent)} or --all"
            return f"{' and '.join(absent)}, which it ties, is not made.", option
        if intersect in self._wanted:
            return f"There is an entity {intersect} of its own.", None
        if not NAME.fullmatch(relationship.name) or not NAME.fullmatch(intersect):
            return f"{relationship.name!r} cannot stand in a URL.", None
        taken = self._names.owner(relationship.name)
        return None if taken is None else (f"Another relationship has the name: {' '.join(taken)}.", None)

    def _create_pair(self, pair: Pair, intersect: str) -> None:
        """Create a many-to-many relationship, with another entity set where its own is taken."""
        entity_set = pair.entity_set
        if not NAME.fullmatch(entity_set) or entity_set in self._sets:
            names = (f"{intersect}{ending}" for ending in ("set", "_set", "_pairs"))
            entity_set = next(name for name in names if name not in self._sets)
        self._sets[entity_set] = intersect
        new_definitions.create_many_to_many(
            self._draft,
            pair.relationship,
            custom=True,
            entity_set=entity_set,
            primary_id=pair.primary_id,
        )
        self.plan.many_to_many.append(pair.relationship.name)


def _with_id(entity: Entity, present: Entity) -> Entity:
    """Return the entity with the id of the existing one, whatever the source calls it."""
    return changed(entity, primary_id=present.primary_id)


def _label_or_name(label: Label, name: str) -> Label:
    """Return the label or, when it is empty, `name` as its English text."""
    return label if label.texts else Label({ENGLISH: name})


def _extras(source_entity: SourceEntity) -> Extras:
    if source_entity.extras is not None:
        return source_entity.extras
    names = {
        attribute.logical_name
        for attribute in source_entity.attributes
        if attribute.type is AttributeType.STRING
    }
    joined: dict[str, tuple[str, ...]] = {}
    if {"fullname", "firstname", "lastname"} <= names:
        joined["fullname"] = ("firstname", "lastname")
    return Extras(
        joined=joined,
        defaults=dict(source_entity.defaults),
        schema_names=dict(source_entity.schema_names),
        schema_name=source_entity.schema_name,
    )
