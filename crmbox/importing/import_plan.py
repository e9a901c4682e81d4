"""From what a source describes to a plan, and the draft that holds it. Nothing is written.

Nothing is taken away but options that no record has: what else the source does not hold stays. A lookup can
only point at entities that are there or are made with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace as changed

from crmbox.engine.connection import Unit
from crmbox.engine.definitions import Ownership
from crmbox.importing.attribute_merge import (
    completed_attribute,
    differences,
    is_shorter,
    merged_attribute,
    type_conflict,
)
from crmbox.importing.fitted_definitions import (
    NAME,
    STATE,
    engine_attributes,
    fitted,
    fitted_option_set,
    why_no_key,
)
from crmbox.importing.label_merge import completed_label, label_differences, label_or_name, merged_label
from crmbox.importing.plan import Made, Plan
from crmbox.importing.planned_choices import CHOICES, PlannedChoices
from crmbox.importing.relationship_names import RelationshipNames
from crmbox.importing.source_entity import CannotRead, Note, Pair, SourceEntity, Verdict, left_out
from crmbox.metadata import alterations, common, new_definitions
from crmbox.metadata.change import NOTES, REGARDING, complete, problems_of_records
from crmbox.metadata.draft import Draft
from crmbox.metadata.physical_columns import Extras
from crmclient.metadata import AlternateKey, Attribute, AttributeType, Entity, OptionSet, Relationship


def plan(
    draft: Draft,
    source_entities: Iterable[SourceEntity],
    option_sets: Mapping[str, OptionSet],
    unit: Unit,
    *,
    described: Set[str] = frozenset(),
    hidden: Set[str] = frozenset(),
    keep_lengths: bool = False,
) -> Plan:
    """Return the plan of an import, and change `draft` accordingly.

    `option_sets` are global ones that a source describes by themselves. `unit` reads the records that exist:
    no length is shortened below theirs, no option goes that they have, and no key is made of values that they
    repeat. `described` are the names of all entities that the source knows, `hidden` those of them that are
    made only when they are named: what is told to bring an entity depends on both. `keep_lengths`: no length
    gets shorter.
    """
    planning = _Planner(draft, unit, described, hidden, keep_lengths=keep_lengths)
    planning.take(source_entities)
    planning.put_option_sets(option_sets)
    planning.put_entities()
    planning.put_pairs()
    complete(draft)
    result = planning.plan
    result.refused += problems_of_records(unit, draft)
    return result


class _Planner:
    """Makes `plan`, and changes the draft as it says. Its public methods are called in their order."""

    def __init__(
        self, draft: Draft, unit: Unit, described: Set[str], hidden: Set[str], *, keep_lengths: bool
    ) -> None:
        """Begin with the names that the draft has taken already: of entity sets and relationships."""
        self.plan = Plan()
        self._described, self._hidden = described, hidden
        self._draft = draft
        self._choices = PlannedChoices(draft, self.plan, unit)
        self._keep_lengths = keep_lengths
        # The entities to create or change, and the many-to-many relationships to create by intersect entity.
        self._wanted: dict[str, SourceEntity] = {}
        self._pairs: dict[str, Pair] = {}
        # By entity that is not there: the lookups that should point at it.
        self._absent: dict[str, list[str]] = defaultdict(list)
        # The entities that were asked for and cannot be made. Each has a note that says why.
        self._impossible: set[str] = set()
        self._entity_by_set = {
            definition.entity.entity_set: name for name, definition in draft.entities.items()
        }
        self._relationship_names = RelationshipNames(
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
                else changed(source_entity, entity=_with_existing_id(source_entity.entity, present.entity))
            )
            try:
                fitted_entity = fitted(
                    candidate, self._draft.dialect, self._ownership(source_entity), present
                )
            except CannotRead as error:
                self._impossible.add(source_entity.name)
                self.plan.notes.append(left_out(source_entity.name, str(error)))
                continue
            self.plan.notes += fitted_entity.notes
            # Two entities cannot have the same entity set. The existing one or the first new one keeps it.
            owner = self._entity_by_set.setdefault(fitted_entity.entity.entity_set, fitted_entity.name)
            if fitted_entity.name not in self._draft.entities and owner != fitted_entity.name:
                reason = f"Its entity set {fitted_entity.entity.entity_set} is that of {owner}."
                self._impossible.add(fitted_entity.name)
                self.plan.notes.append(left_out(fitted_entity.name, reason))
            else:
                self._wanted[fitted_entity.name] = fitted_entity
        for name in self._new_names():
            # Reserve the names that the platform gives by itself.
            for relationship in common.audit_relationships(name, self._wanted[name].ownership):
                self._relationship_names.reserve(relationship)
        self._take_pairs()

    def put_option_sets(self, source_option_sets: Mapping[str, OptionSet]) -> None:
        """Add or change the global option sets that the entities use.

        The source's own option sets win over those that its attributes carry. One that neither describes
        stays as it is here, or is added without options.
        """
        described = {
            option_set.name: option_set
            for source_entity in self._wanted.values()
            for option_set in source_entity.option_sets
        }
        for source_option_set in source_option_sets.values():
            fitted_set = fitted_option_set(source_option_set, self.plan.notes)
            described[fitted_set.name] = fitted_set
        used = {
            attribute.option_set: OptionSet(attribute.option_set, attribute.label, ())
            for item in self._wanted.values()
            for attribute in item.attributes
            if attribute.option_set is not None and attribute.options is None
        }
        for name, empty in used.items():
            present = self._draft.option_sets.get(name)
            self._choices.put_option_set(described.get(name, present or empty))

    def put_entities(self) -> None:
        """Create the new entities, and change those that exist."""
        for name in self._new_names():
            self._create(self._wanted[name])
        created_names = {created.entity for created in self.plan.created}
        for name, source_entity in self._wanted.items():
            if name not in created_names:
                self._bring_up_to_date(source_entity)
        for target, lookups in sorted(self._absent.items()):
            is_described = target in self._described
            reason = "It is not made" if is_described else "The source does not describe it as an entity"
            reason = f"{reason}, so these lookups do not point at it: {', '.join(lookups)}."
            self.plan.notes.append(left_out(target, reason, self._option_for(target)))

    def put_pairs(self) -> None:
        """Create the many-to-many relationships whose two entities exist."""
        for intersect, pair in self._pairs.items():
            self._create_pair(pair, intersect)

    def _option_for(self, target: str) -> str | None:
        """Return the option that would make an entity; None where no option would."""
        if target in self._impossible or target not in self._described:
            return None
        option = f"--entities {target}"
        return option if target in self._hidden else f"{option}, --related or --all"

    def _take_pairs(self) -> None:
        """Keep the new many-to-many relationships that can be created. Others get a note."""
        pairs = {
            pair.relationship.intersect: pair
            for source_entity in self._wanted.values()
            for pair in source_entity.pairs
        }
        for intersect, pair in pairs.items():
            if intersect and intersect not in self._draft.entities:
                reason_and_option = self._why_no_pair(pair, intersect)
                if reason_and_option is None:
                    self._pairs[intersect] = pair
                    self._relationship_names.reserve(pair.relationship)
                else:
                    self.plan.notes.append(left_out(pair.relationship.name, *reason_and_option))

    def _entity(self, name: str) -> Entity | None:
        """Return an entity that exists or is being created; None for any other."""
        if name in self._draft.entities:
            return self._draft.entities[name].entity
        return self._wanted[name].entity if name in self._wanted else None

    def _new_names(self) -> list[str]:
        """Return the names of the wanted entities that do not exist yet."""
        return [name for name in self._wanted if name not in self._draft.entities]

    def _ownership(self, source_entity: SourceEntity) -> Ownership:
        """Return who owns the records: as the source says, unless the entity exists already."""
        present = self._draft.entities.get(source_entity.name)
        return source_entity.ownership if present is None else present.ownership

    def _create(self, source_entity: SourceEntity) -> None:
        """Create an entity in the draft, without lookups whose targets do not exist. Note it in the plan."""
        attributes = [
            attribute
            for attribute in map(self._with_present_targets(source_entity), source_entity.attributes)
            if attribute is not None
        ]
        extras = _extras(source_entity)
        new_definitions.create_entity(
            self._draft,
            changed(
                source_entity.entity,
                label=label_or_name(source_entity.entity.label, source_entity.name),
                plural_label=label_or_name(
                    source_entity.entity.plural_label, source_entity.entity.entity_set
                ),
            ),
            [_new_attribute(attribute, extras) for attribute in attributes],
            self._relationships(source_entity, attributes),
            ownership=source_entity.ownership,
            has_states=source_entity.has_states,
            extras=extras,
        )
        names = tuple(attribute.logical_name for attribute in attributes)
        self.plan.created.append(Made(source_entity.name, source_entity.entity.entity_set, names))

    def _bring_up_to_date(self, source_entity: SourceEntity) -> None:
        """Change an entity that exists, and add the attributes that it lacks.

        A state and a status are never added, because the records that exist have none.
        """
        before = self._draft.attributes(source_entity.name)
        states = self._choices.states(source_entity)
        new_attributes: list[Attribute] = []
        for attribute in map(self._with_present_targets(source_entity), source_entity.attributes):
            if attribute is None:
                continue
            present = before.get(attribute.logical_name)
            if present is not None:
                self._alter_attribute(source_entity, present, attribute, states.get(attribute.logical_name))
            elif attribute.type not in (AttributeType.STATE, AttributeType.STATUS):
                new_attributes.append(attribute)
        if new_attributes:
            extras = _extras(source_entity)
            new_definitions.create_attributes(
                self._draft,
                source_entity.name,
                [
                    changed(_new_attribute(attribute, extras), is_primary_name=False)
                    for attribute in new_attributes
                ],
                self._relationships(source_entity, new_attributes),
                extras,
            )
            names = tuple(attribute.logical_name for attribute in new_attributes)
            self.plan.extended.append(Made(source_entity.name, source_entity.entity.entity_set, names))
        if source_entity.has_states and STATE not in before:
            reason = "The entity is here without states, so that its records have none."
            self.plan.notes.append(left_out(f"{source_entity.name}.{STATE}", reason))
        self._alter_entity(source_entity)

    def _alter_attribute(
        self,
        source_entity: SourceEntity,
        before: Attribute,
        wanted: Attribute,
        states: OptionSet | None,
    ) -> None:
        """Change an attribute that exists to what the source wants. Say each change in the plan.

        A change of its type is not made, and gets a note. `states` are the new options of a state or status;
        None: they stay, or the attribute is another one.
        """
        name = before.logical_name
        if before.is_primary_id:
            return
        if reason := type_conflict(before, wanted, only_completes=source_entity.only_completes):
            self.plan.notes.append(left_out(f"{source_entity.name}.{name}", reason))
            return
        is_engine = name in engine_attributes(self._ownership(source_entity))
        # Notes get their targets from the entities that have notes.
        keeps_targets = is_engine or (source_entity.name, name) == (NOTES, REGARDING)
        if source_entity.only_completes:
            after = completed_attribute(before, wanted, keeps_targets=keeps_targets)
        else:
            after = merged_attribute(before, wanted, is_engine=is_engine, keeps_targets=keeps_targets)
        if self._keep_lengths and is_shorter(before, after):
            after = self._with_length_kept(source_entity, before, after)
        for what in differences(before, after):
            self.plan.change(source_entity.name, f"{name}: {what}")
        if is_shorter(before, after):
            reason = f"Its length goes from {before.max_length:,} to {after.max_length:,} characters."
            self.plan.notes.append(Note(Verdict.SHORTENED, f"{source_entity.name}.{name}", reason))
        source_precision = None if source_entity.only_completes else wanted.precision
        if source_precision is not None and source_precision < (after.precision or 0):
            reason = f"It keeps its {after.precision} decimal places; the source has {source_precision}."
            self.plan.notes.append(Note(Verdict.CHANGED, f"{source_entity.name}.{name}", reason))
        # Options: those of state and status are planned together, other choices each by itself.
        if states is not None:
            after = changed(after, options=states)
        # The options of a choice that only the platform writes are the platform's.
        elif before.type in CHOICES and (before.creatable or before.updatable):
            after = self._choices.with_options(source_entity, after, wanted)
        if after != before:
            relationships = self._relationships(source_entity, [after])
            alterations.alter_attribute(self._draft, source_entity.name, after, relationships)
        if before.type in (AttributeType.PICKLIST, AttributeType.BOOLEAN):
            default = None if source_entity.only_completes else source_entity.defaults.get(name)
            self._choices.set_default(source_entity.name, name, default)

    def _with_length_kept(
        self, source_entity: SourceEntity, before: Attribute, after: Attribute
    ) -> Attribute:
        """Return `after` with the length that the attribute has now, and leave a note about it."""
        length, source_length = before.max_length, after.max_length
        reason = f"It keeps its length of {length:,} characters; the source has {source_length:,}."
        self.plan.notes.append(
            left_out(f"{source_entity.name}.{before.logical_name}", reason, "no --keep-lengths")
        )
        return changed(after, max_length=length)

    def _alter_entity(self, source_entity: SourceEntity) -> None:
        """Change the labels of an entity that exists, and add notes and keys where the source has them."""
        before, wanted = self._draft.entity(source_entity.name).entity, source_entity.entity
        if source_entity.only_completes:
            label = completed_label(before.label, wanted.label, source_entity.name)
            plural_label = completed_label(before.plural_label, wanted.plural_label, before.entity_set)
            description = completed_label(before.description, wanted.description, "")
        else:
            label = merged_label(before.label, wanted.label)
            plural_label = merged_label(before.plural_label, wanted.plural_label)
            description = merged_label(before.description, wanted.description)
        after = changed(
            before,
            label=label,
            plural_label=plural_label,
            description=description,
            has_notes=before.has_notes or wanted.has_notes,
            keys=(*before.keys, *self._new_keys(source_entity, before)),
        )
        if after == before:
            return
        alterations.alter_entity(self._draft, after)
        if after.has_notes != before.has_notes:
            self.plan.change(source_entity.name, "it has notes")
        for key in after.keys[len(before.keys) :]:
            self.plan.change(source_entity.name, f"it has a key of {', '.join(key.attributes)}")
        for what, former, new in (
            ("its label", before.label, after.label),
            ("its plural label", before.plural_label, after.plural_label),
            ("its description", before.description, after.description),
        ):
            for difference in label_differences(what, former, new):
                self.plan.change(source_entity.name, difference)

    def _new_keys(self, source_entity: SourceEntity, before: Entity) -> Iterator[AlternateKey]:
        """Yield the keys that an existing entity lacks. One that cannot be created gets a note instead."""
        attributes = self._draft.attributes(source_entity.name)
        present = {key.attributes for key in before.keys}
        for key in source_entity.entity.keys:
            if key.attributes in present:
                continue
            reason = why_no_key(key, attributes, before.keys, before.primary_id)
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
        """Return a relationship for each target of the lookups among `attributes`, under a unique name.

        It is the one that the source describes, or else a plain one. Targets that already have one, and the
        lookups that the platform fills in itself, get none. A name that is not the source's gets a note.
        """
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
                name = self._relationship_names.give(wanted, plain)
                if name != wanted.name:
                    reason = f"Its relationship is called {name}: {wanted.name!r} is another's, or no name."
                    self.plan.notes.append(Note(Verdict.CHANGED, f"{wanted.referencing}.{lookup}", reason))
                new_relationships.append(changed(wanted, name=name))
        return new_relationships

    def _why_no_pair(self, pair: Pair, intersect: str) -> tuple[str, str | None] | None:
        """Return why a many-to-many relationship cannot be created, and the option that would help, if any.

        Return None when it can be created.
        """
        relationship = pair.relationship
        ends = (relationship.referenced, relationship.referencing)
        absent = [name for name in ends if self._entity(name) is None]
        if absent:
            option: str | None = f"--entities {','.join(absent)}"
            if any(self._option_for(name) is None for name in absent):
                option = None
            elif self._hidden.isdisjoint(absent):
                option = f"{option} or --all"
            return f"{' and '.join(absent)}, which it ties, is not made.", option
        if intersect in self._wanted:
            return f"There is an entity {intersect} of its own.", None
        if not NAME.fullmatch(relationship.name) or not NAME.fullmatch(intersect):
            return f"{relationship.name!r} cannot stand in a URL.", None
        ends_of_owner = self._relationship_names.owner(relationship.name)
        if ends_of_owner is None:
            return None
        return f"Another relationship has the name: {' '.join(ends_of_owner)}.", None

    def _create_pair(self, pair: Pair, intersect: str) -> None:
        """Create a many-to-many relationship, with another entity set where its own is taken."""
        entity_set = pair.entity_set
        if not NAME.fullmatch(entity_set) or entity_set in self._entity_by_set:
            names = (f"{intersect}{ending}" for ending in ("set", "_set", "_pairs"))
            entity_set = next(name for name in names if name not in self._entity_by_set)
        self._entity_by_set[entity_set] = intersect
        new_definitions.create_many_to_many(
            self._draft,
            pair.relationship,
            custom=True,
            entity_set=entity_set,
            primary_id=pair.primary_id,
        )
        self.plan.many_to_many.append(pair.relationship.name)


def _with_existing_id(entity: Entity, present: Entity) -> Entity:
    """Return the entity with the id of the existing one, whatever the source calls it."""
    return changed(entity, primary_id=present.primary_id)


def _new_attribute(attribute: Attribute, extras: Extras) -> Attribute:
    """Return a new attribute with a label. Only the platform writes a value that is joined from others."""
    is_written = attribute.logical_name not in extras.joined
    return changed(
        attribute,
        label=label_or_name(attribute.label, attribute.logical_name),
        creatable=attribute.creatable and is_written,
        updatable=attribute.updatable and is_written,
    )


def _extras(source_entity: SourceEntity) -> Extras:
    """Return the facts that the store keeps beside the definitions. No source tells that a full name is
    joined of a first and a last name: an entity with all three attributes is taken for a person.
    """
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
