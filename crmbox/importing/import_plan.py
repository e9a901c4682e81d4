"""From what a source describes to a plan, and the draft that holds it. Nothing is written.

Nothing is taken away but options that no record has: what else the source does not hold stays. A lookup can
only point at entities that are there or are made with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from crmbox.engine.connection import Unit
from crmbox.importing.plan import Plan
from crmbox.importing.planned_attributes import PlannedAttributes
from crmbox.importing.planned_choices import PlannedChoices
from crmbox.importing.planned_entities import PlannedEntities
from crmbox.importing.planned_relationships import PlannedRelationships
from crmbox.importing.relationship_names import RelationshipNames
from crmbox.importing.source_entity import SourceEntity
from crmbox.importing.wanted_entities import WantedEntities
from crmbox.metadata import new_definitions
from crmbox.metadata.change import complete, problems_of_records
from crmbox.metadata.draft import Draft
from crmclient.metadata import OptionSet


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
    result = Plan()
    names = RelationshipNames(
        relationship for definition in draft.entities.values() for relationship in definition.relationships
    )
    wanted = WantedEntities(source_entities, draft, result, names, described=described, hidden=hidden)
    choices = PlannedChoices(draft, result, unit)
    # Option sets come first: attributes refer to them.
    choices.put_option_sets(wanted.entities.values(), option_sets)
    relationships = PlannedRelationships(draft, result, names)
    attributes = PlannedAttributes(draft, result, choices, relationships, keep_lengths=keep_lengths)
    entities = PlannedEntities(
        draft=draft,
        plan=result,
        wanted=wanted,
        choices=choices,
        relationships=relationships,
        attributes=attributes,
    )
    # What exists may point at what is new, so that comes before. Creating an entity makes it one that exists.
    new_entities = wanted.new_entities()
    new_names = {source_entity.name for source_entity in new_entities}
    for source_entity in new_entities:
        entities.create(source_entity)
    for name, source_entity in wanted.entities.items():
        if name not in new_names:
            entities.bring_up_to_date(source_entity)
    wanted.note_absent_targets()
    for many_to_many in wanted.many_to_many.values():
        new_definitions.create_many_to_many(
            draft,
            many_to_many.relationship,
            custom=True,
            entity_set=many_to_many.entity_set,
            primary_id=many_to_many.primary_id,
        )
        result.many_to_many.append(many_to_many.relationship.name)
    complete(draft)
    result.refused += problems_of_records(unit, draft)
    return result
