"""Plans the relationships of lookups: one for each entity that a lookup points at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace as changed

from crmbox.importing.plan import Plan
from crmbox.importing.relationship_names import RelationshipNames
from crmbox.importing.source_entity import Note, SourceEntity, Verdict
from crmbox.metadata import engine_attributes
from crmbox.metadata.draft import Draft
from crmclient.metadata import Attribute, Relationship


class PlannedRelationships:
    """Names the relationships of lookups. The draft gets them together with the lookups."""

    def __init__(self, draft: Draft, plan: Plan, names: RelationshipNames) -> None:
        self._draft = draft
        self._plan = plan
        self._names = names

    def new_relationships(
        self, source_entity: SourceEntity, attributes: Sequence[Attribute]
    ) -> list[Relationship]:
        """Return a relationship for each target of the lookups among `attributes`, under a unique name.

        It is the one that the source describes, or else a plain one. Targets that already have one, and the
        lookups that the platform fills in itself, get none. A name that is not the source's gets a note.
        """
        engine = engine_attributes.by_name(source_entity.ownership)
        described = _by_lookup_and_target(source_entity.relationships)
        present: Iterable[Relationship] = ()
        if source_entity.name in self._draft.entities:
            present = self._draft.entity(source_entity.name).relationships
        present_ends = _by_lookup_and_target(present).keys()
        wanted_ends = (
            (attribute.logical_name, target)
            for attribute in attributes
            if attribute.type.is_reference and attribute.logical_name not in engine
            for target in attribute.targets
        )
        return [
            self._named(source_entity.name, lookup, target, described.get((lookup, target)))
            for lookup, target in wanted_ends
            if (lookup, target) not in present_ends
        ]

    def _named(self, entity: str, lookup: str, target: str, described: Relationship | None) -> Relationship:
        """Return the relationship of a lookup with one target, under a unique name.

        `described` is what the source says about it; None: nothing.
        """
        plain_name = f"{entity}_{lookup}_{target}"
        wanted = described or Relationship(plain_name, target, entity, lookup)
        name = self._names.give(wanted, plain_name)
        if name != wanted.name:
            reason = f"Its relationship is called {name}: {wanted.name!r} is another's, or no name."
            self._plan.notes.append(Note(Verdict.CHANGED, f"{wanted.referencing}.{lookup}", reason))
        return changed(wanted, name=name)


def _by_lookup_and_target(
    relationships: Iterable[Relationship],
) -> dict[tuple[str | None, str], Relationship]:
    return {
        (relationship.referencing_attribute, relationship.referenced): relationship
        for relationship in relationships
    }
