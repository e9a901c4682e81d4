"""Plans the entities themselves: new ones, and the changes of those that exist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace as changed

from crmbox.engine.definitions import ACTIVITY_TYPE
from crmbox.importing.fitted_definitions import why_no_key
from crmbox.importing.fitted_option_sets import STATE
from crmbox.importing.label_merge import completed_label, label_differences, label_or_name, merged_label
from crmbox.importing.plan import Made, Plan
from crmbox.importing.planned_attributes import PlannedAttributes
from crmbox.importing.planned_choices import PlannedChoices
from crmbox.importing.planned_relationships import PlannedRelationships
from crmbox.importing.source_entity import SourceEntity, left_out
from crmbox.importing.wanted_entities import WantedEntities
from crmbox.metadata import alterations, new_definitions
from crmbox.metadata.draft import Draft
from crmbox.metadata.physical_columns import Extras
from crmclient.metadata import AlternateKey, Attribute, AttributeType, Entity
from crmclient.parties import ACTIVITY


class PlannedEntities:
    """Creates and changes entities in the draft, and says so in the plan."""

    def __init__(
        self,
        draft: Draft,
        plan: Plan,
        wanted: WantedEntities,
        choices: PlannedChoices,
        relationships: PlannedRelationships,
        attributes: PlannedAttributes,
    ) -> None:
        self._draft = draft
        self._plan = plan
        self._wanted = wanted
        self._choices = choices
        self._relationships = relationships
        self._attributes = attributes

    def create(self, source_entity: SourceEntity) -> None:
        """Create an entity, without lookups whose targets do not exist."""
        entity, name = source_entity.entity, source_entity.name
        attributes = list(self._wanted.usable_attributes(source_entity))
        extras = _extras(source_entity)
        new_definitions.create_entity(
            self._draft,
            changed(
                entity,
                label=label_or_name(entity.label, name),
                plural_label=label_or_name(entity.plural_label, entity.entity_set),
            ),
            [_new_attribute(attribute, entity, extras) for attribute in attributes],
            self._relationships.new_relationships(source_entity, attributes),
            ownership=source_entity.ownership,
            has_states=source_entity.has_states,
            extras=extras,
        )
        names = tuple(attribute.logical_name for attribute in attributes)
        self._plan.created.append(Made(name, entity.entity_set, names))

    def bring_up_to_date(self, source_entity: SourceEntity) -> None:
        """Change an entity that exists, and add the attributes that it lacks.

        A state and a status are never added, because the records that exist have none.
        """
        before = self._draft.attributes(source_entity.name)
        states = self._choices.states(source_entity)
        new_attributes: list[Attribute] = []
        for attribute in self._wanted.usable_attributes(source_entity):
            name = attribute.logical_name
            if name in before:
                self._attributes.alter(source_entity, before[name], attribute, states.get(name))
            elif attribute.type not in (AttributeType.STATE, AttributeType.STATUS):
                new_attributes.append(attribute)
        if new_attributes:
            self._extend(source_entity, new_attributes)
        if source_entity.has_states and STATE not in before:
            reason = "The entity is here without states, so that its records have none."
            self._plan.notes.append(left_out(f"{source_entity.name}.{STATE}", reason))
        # After its attributes, because new keys may have new attributes.
        self._alter(source_entity)

    def _extend(self, source_entity: SourceEntity, new_attributes: list[Attribute]) -> None:
        """Add attributes to an entity that exists. It keeps the primary name that it has."""
        extras = _extras(source_entity)
        new_definitions.create_attributes(
            self._draft,
            source_entity.name,
            [
                changed(_new_attribute(attribute, source_entity.entity, extras), is_primary_name=False)
                for attribute in new_attributes
            ],
            self._relationships.new_relationships(source_entity, new_attributes),
            extras,
        )
        names = tuple(attribute.logical_name for attribute in new_attributes)
        self._plan.extended.append(Made(source_entity.name, source_entity.entity.entity_set, names))

    def _alter(self, source_entity: SourceEntity) -> None:
        """Change the labels of an entity that exists, and add notes and keys where the source has them."""
        before = self._draft.entity(source_entity.name).entity
        after = changed(
            _with_labels(before, source_entity),
            has_notes=before.has_notes or source_entity.entity.has_notes,
            keys=(*before.keys, *self._new_keys(source_entity, before)),
        )
        if after != before:
            alterations.alter_entity(self._draft, after)
            for what in _differences(before, after):
                self._plan.change(source_entity.name, what)

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
                self._plan.notes.append(left_out(subject, reason))


def _with_labels(before: Entity, source_entity: SourceEntity) -> Entity:
    """Return an entity that exists with the labels and the description of the source."""
    wanted = source_entity.entity
    if source_entity.only_completes:
        return changed(
            before,
            label=completed_label(before.label, wanted.label, source_entity.name),
            plural_label=completed_label(before.plural_label, wanted.plural_label, before.entity_set),
            description=completed_label(before.description, wanted.description, ""),
        )
    return changed(
        before,
        label=merged_label(before.label, wanted.label),
        plural_label=merged_label(before.plural_label, wanted.plural_label),
        description=merged_label(before.description, wanted.description),
    )


def _differences(before: Entity, after: Entity) -> Iterator[str]:
    """Yield the changes of an entity in words. The keys of `before` are the first ones of `after`."""
    if after.has_notes != before.has_notes:
        yield "it has notes"
    for key in after.keys[len(before.keys) :]:
        yield f"it has a key of {', '.join(key.attributes)}"
    yield from label_differences("its label", before.label, after.label)
    yield from label_differences("its plural label", before.plural_label, after.plural_label)
    yield from label_differences("its description", before.description, after.description)


def _new_attribute(attribute: Attribute, entity: Entity, extras: Extras) -> Attribute:
    """Return a new attribute of an entity, with a label. Only the platform writes a value that is joined from
    others, and which entity an activity is of.
    """
    is_activity_type = attribute.logical_name == ACTIVITY_TYPE and entity.primary_id == ACTIVITY
    is_written = attribute.logical_name not in extras.joined and not is_activity_type
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
