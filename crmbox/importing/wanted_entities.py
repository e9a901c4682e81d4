"""The entities and many-to-many relationships of a source that can be created or changed here.

Whatever else the source describes gets a note in the plan, which says why it is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace as changed

from crmbox.importing.fitted_definitions import NAME, fitted
from crmbox.importing.plan import Plan
from crmbox.importing.relationship_names import RelationshipNames
from crmbox.importing.source_entity import CannotRead, ManyToMany, SourceEntity, left_out
from crmbox.metadata import engine_attributes
from crmbox.metadata.draft import Draft
from crmclient.metadata import Attribute


class WantedEntities:
    """What an import is to create or change.

    `entities` are the entities that fit, by name; one that exists has the id and the ownership that it has
    here. `many_to_many` are the new many-to-many relationships, by the name of their intersect entity, each
    with an entity set that is free. `described` and `hidden` are those of `import_plan.plan`.
    """

    def __init__(
        self,
        source_entities: Iterable[SourceEntity],
        draft: Draft,
        plan: Plan,
        relationship_names: RelationshipNames,
        *,
        described: Set[str],
        hidden: Set[str],
    ) -> None:
        """Keep what fits of each entity, and reserve the names of its relationships."""
        self.entities: dict[str, SourceEntity] = {}
        self.many_to_many: dict[str, ManyToMany] = {}
        self._draft = draft
        self._plan = plan
        self._relationship_names = relationship_names
        self._described, self._hidden = described, hidden
        # The entities that were asked for and cannot be made. Each has a note that says why.
        self._impossible: set[str] = set()
        self._entity_by_set = {
            definition.entity.entity_set: name for name, definition in draft.entities.items()
        }
        # By entity that is not there: the lookups that should point at it.
        self._lookups_by_absent_target: dict[str, list[str]] = defaultdict(list)
        for source_entity in source_entities:
            try:
                self._take_entity(source_entity)
            except CannotRead as error:
                self._impossible.add(source_entity.name)
                self._plan.notes.append(left_out(source_entity.name, str(error)))
        # The names that the platform gives by itself come before those that a source asks for.
        for source_entity in self.new_entities():
            for relationship in engine_attributes.audit_relationships(
                source_entity.name, source_entity.ownership
            ):
                self._relationship_names.reserve(relationship)
        self._take_many_to_many()

    def new_entities(self) -> list[SourceEntity]:
        """Return the wanted entities that the draft does not have yet."""
        return [entity for name, entity in self.entities.items() if name not in self._draft.entities]

    def usable_attributes(self, source_entity: SourceEntity) -> Iterator[Attribute]:
        """Yield the attributes of an entity. Lookups and party lists have only the targets that exist.

        One that has no target left gets a note instead.
        """
        for attribute in source_entity.attributes:
            if not (attribute.type.is_reference or attribute.type.holds_parties):
                yield attribute
                continue
            name = f"{source_entity.name}.{attribute.logical_name}"
            present_targets = tuple(target for target in attribute.targets if self._will_exist(target))
            for target in attribute.targets:
                if target not in present_targets:
                    self._lookups_by_absent_target[target].append(name)
            if present_targets:
                yield changed(attribute, targets=present_targets)
                continue
            reason = "No entity that it points at is there or made with it."
            if not attribute.targets:
                reason = "The source does not say what it points at."
            self._plan.notes.append(left_out(name, reason))

    def note_absent_targets(self) -> None:
        """Leave a note for each target that `usable_attributes` has left out, with all of its lookups."""
        for target, lookups in sorted(self._lookups_by_absent_target.items()):
            is_described = target in self._described
            reason = "It is not made" if is_described else "The source does not describe it as an entity"
            reason = f"{reason}, so these lookups do not point at it: {', '.join(lookups)}."
            self._plan.notes.append(left_out(target, reason, self._option_for(target)))

    def _take_entity(self, source_entity: SourceEntity) -> None:
        """Keep what fits of an entity. Raises CannotRead if it cannot be made."""
        name = source_entity.name
        present = self._draft.entities.get(name)
        if present is not None:
            # Its records have an id and owners already, whatever the source says about these.
            entity = changed(source_entity.entity, primary_id=present.entity.primary_id)
            source_entity = changed(source_entity, entity=entity, ownership=present.ownership)
        fitted_entity = fitted(source_entity, self._draft.dialect, present)
        self._plan.notes += fitted_entity.notes
        # Two entities cannot have the same entity set. The existing one or the first new one keeps it.
        entity_set = fitted_entity.entity.entity_set
        owner = self._entity_by_set.setdefault(entity_set, name)
        if present is None and owner != name:
            raise CannotRead(f"Its entity set {entity_set} is that of {owner}.")
        self.entities[name] = fitted_entity

    def _take_many_to_many(self) -> None:
        """Keep the new many-to-many relationships that can be created. Others get a note."""
        by_intersect = {
            many_to_many.relationship.intersect: many_to_many
            for source_entity in self.entities.values()
            for many_to_many in source_entity.many_to_many
        }
        for intersect, many_to_many in by_intersect.items():
            if not intersect or intersect in self._draft.entities:
                continue
            reason_and_option = self._why_no_intersect(many_to_many, intersect)
            if reason_and_option is not None:
                self._plan.notes.append(left_out(many_to_many.relationship.name, *reason_and_option))
                continue
            entity_set = self._free_entity_set(many_to_many, intersect)
            self._entity_by_set[entity_set] = intersect
            self._relationship_names.reserve(many_to_many.relationship)
            self.many_to_many[intersect] = changed(many_to_many, entity_set=entity_set)

    def _why_no_intersect(self, many_to_many: ManyToMany, intersect: str) -> tuple[str, str | None] | None:
        """Return why a many-to-many relationship cannot be created, and the option that would help, if any.

        Return None when it can be created.
        """
        relationship = many_to_many.relationship
        ends = (relationship.referenced, relationship.referencing)
        absent = [name for name in ends if name not in self._draft.entities and name not in self.entities]
        if absent:
            option: str | None = f"--entities {','.join(absent)}"
            if any(self._option_for(name) is None for name in absent):
                option = None
            elif self._hidden.isdisjoint(absent):
                option = f"{option} or --all"
            return f"{' and '.join(absent)}, which it ties, is not made.", option
        if intersect in self.entities:
            return f"There is an entity {intersect} of its own.", None
        if not NAME.fullmatch(relationship.name) or not NAME.fullmatch(intersect):
            return f"{relationship.name!r} cannot stand in a URL.", None
        ends_of_owner = self._relationship_names.owner(relationship.name)
        if ends_of_owner is None:
            return None
        return f"Another relationship has the name: {' '.join(ends_of_owner)}.", None

    def _free_entity_set(self, many_to_many: ManyToMany, intersect: str) -> str:
        """Return the entity set of an intersect entity: its own, or another where that is taken."""
        if NAME.fullmatch(many_to_many.entity_set) and many_to_many.entity_set not in self._entity_by_set:
            return many_to_many.entity_set
        names = (f"{intersect}{ending}" for ending in ("set", "_set", "_pairs"))
        return next(name for name in names if name not in self._entity_by_set)

    def _will_exist(self, target: str) -> bool:
        """Whether an entity is here, or made with the import."""
        return target in self.entities or target in self.many_to_many or target in self._draft.entities

    def _option_for(self, target: str) -> str | None:
        """Return the option of the command that would make an entity; None where no option would."""
        if target in self._impossible or target not in self._described:
            return None
        option = f"--entities {target}"
        return option if target in self._hidden else f"{option}, --related or --all"
