"""Plans global option sets, and the options of choices that exist.

Options that the source lacks go. Those that records have stay, and a note says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace as changed
from typing import Final

from crmbox.engine.connection import Unit
from crmbox.engine.definitions import EntityDefinition
from crmbox.importing.fitted_option_sets import STATE, STATUS, fitted_option_set
from crmbox.importing.option_set_merge import (
    merged_option_set,
    option_differences,
    options_that_go,
    states_with_statuses,
)
from crmbox.importing.plan import Plan
from crmbox.importing.source_entity import Note, SourceEntity, Verdict
from crmbox.metadata import alterations, engine_attributes
from crmbox.metadata.change import option_uses
from crmbox.metadata.draft import Draft, OptionCheck
from crmclient.metadata import Attribute, AttributeType, OptionSet

CHOICES: Final = frozenset({AttributeType.PICKLIST, AttributeType.MULTISELECT})
"""The choices whose options need not fit those of another attribute."""


class PlannedChoices:
    """Changes option sets in the draft, and says so in the plan."""

    def __init__(self, draft: Draft, plan: Plan, unit: Unit) -> None:
        self._draft = draft
        self._plan = plan
        self._unit = unit
        self._former_sets = dict(draft.option_sets)

    def put_option_sets(
        self, entities: Collection[SourceEntity], source_option_sets: Mapping[str, OptionSet]
    ) -> None:
        """Add or change the global option sets that `entities` use.

        The source's own option sets win over those that its attributes carry. One that neither describes
        stays as it is here, or is added without options.
        """
        described = {
            option_set.name: option_set
            for source_entity in entities
            for option_set in source_entity.option_sets
        }
        for source_option_set in source_option_sets.values():
            fitted_set = fitted_option_set(source_option_set, self._plan.notes)
            described[fitted_set.name] = fitted_set
        used = {
            attribute.option_set: OptionSet(attribute.option_set, attribute.label, ())
            for source_entity in entities
            for attribute in source_entity.attributes
            if attribute.option_set is not None and attribute.options is None
        }
        for name, empty in used.items():
            present = self._draft.option_sets.get(name)
            self._put_option_set(described.get(name, present or empty))

    def _put_option_set(self, wanted: OptionSet) -> None:
        """Add a global option set, or change the one that exists to what the source wants.

        Options that records have stay. Where other options go, a default value that is gone is taken away.
        """
        present = self._draft.option_sets.get(wanted.name)
        if present is None:
            self._draft.put_option_set(wanted)
            self._plan.option_sets[wanted.name] = []
            return
        used: set[int] = set()
        gone = frozenset(option.value for option in options_that_go(present, wanted))
        if gone:
            used = self._note_used(
                _option_check(definition, name, gone) for definition, name in self._choices_of(wanted.name)
            )
        after = merged_option_set(present, wanted, used)
        if after != present:
            self._draft.put_option_set(after)
            self._plan.option_sets[wanted.name] = list(option_differences(present, after))
        if gone - used:
            for definition, name in self._choices_of(wanted.name):
                self.set_default(definition.entity.logical_name, name, None)

    def with_options(self, source_entity: SourceEntity, after: Attribute, wanted: Attribute) -> Attribute:
        """Return `after`, an existing choice as it is changed so far, with the options that the source wants.

        The options may be the choice's own or those of a global option set, before and afterwards. They stay
        where the source has none, only completes what is there, or names the same global option set.
        """
        entity, name = source_entity.name, after.logical_name
        # A global option set may have been changed in the draft before, so the former one is looked up apart.
        former, new = self._options(after, self._former_sets), self._options(wanted, self._draft.option_sets)
        is_same = after.options is None and wanted.options is None and after.option_set == wanted.option_set
        if former is None or new is None or not new.options or is_same:
            return after
        if source_entity.only_completes and former.options:
            return after
        gone = frozenset(option.value for option in options_that_go(former, new))
        used = self._note_used([_option_check(self._draft.entity(entity), name, gone)]) if gone else set()
        if wanted.options is None:
            if used:
                reason = f"It keeps its options here. In the source, it has those of {wanted.option_set}."
                self._plan.notes.append(Note(Verdict.CHANGED, f"{entity}.{name}", reason))
                return after
            self._plan.change(entity, f"{name}: it has the options of {wanted.option_set}")
            self._note_differences(entity, name, former, new)
            return changed(after, option_set=wanted.option_set, options=None)
        if after.options is None:
            self._plan.change(entity, f"{name}: it has options of its own, and not those of {former.name}")
            former = changed(former, name=new.name, entity=new.entity)
        options = changed(merged_option_set(former, new, used), name=former.name, entity=former.entity)
        self._note_differences(entity, name, former, options)
        return changed(after, option_set=options.name, options=options)

    def states(self, source_entity: SourceEntity) -> dict[str, OptionSet]:
        """Return the option sets of state and status that the source wants, which must fit each other.

        Return nothing where those that exist stay.
        """
        entity = self._draft.entity(source_entity.name)
        present = self._draft.attributes(source_entity.name)
        wanted = {attribute.logical_name: attribute.options for attribute in source_entity.attributes}
        merged: dict[str, OptionSet] = {}
        if source_entity.only_completes and not _has_own_states(source_entity.name, present):
            return {}
        for name in (STATE, STATUS):
            former, new = present[name].options if name in present else None, wanted.get(name)
            if former is None or new is None:
                return {}
            gone = frozenset(option.value for option in options_that_go(former, new))
            used = self._note_used([_option_check(entity, name, gone)]) if gone else set()
            merged[name] = changed(
                merged_option_set(former, new, used), name=former.name, entity=former.entity
            )
        merged[STATE] = states_with_statuses(merged[STATE], merged[STATUS])
        for name, options in merged.items():
            former = present[name].options
            assert former is not None  # noqa: S101  for the type checker: looked at above
            self._note_differences(source_entity.name, name, former, options)
        return merged

    def set_default(self, entity: str, name: str, wanted: bool | int | None) -> None:
        """Give an attribute the default value that the source wants. None: it keeps its own, if that is still
        one of the options.
        """
        item = self._draft.attribute(entity, name)
        default = item.default if wanted is None else wanted
        options = self._options(item.attribute, self._draft.option_sets)
        if options is not None and default not in {option.value for option in options.options}:
            default = None
        if default != item.default:
            alterations.alter_default(self._draft, entity, name, default)
            before, after = ("none" if each is None else str(each) for each in (item.default, default))
            self._plan.change(entity, f"{name}: its default goes from {before} to {after}")

    def _note_used(self, checks: Iterable[OptionCheck]) -> set[int]:
        """Return the options that records have, with a note on each in the plan.

        The draft checks the others again when it is written: they must be without records still.
        """
        used: set[int] = set()
        all_checks = list(checks)
        for check in all_checks:
            for value, count in sorted(option_uses(self._unit, check).items()):
                used.add(value)
                reason = f"It stays, because {count:,} records have it. The source does not have it."
                self._plan.notes.append(Note(Verdict.CHANGED, f"{check.attribute}: option {value}", reason))
        self._draft.option_checks += [
            changed(check, values=check.values - used) for check in all_checks if check.values - used
        ]
        return used

    def _choices_of(self, option_set: str) -> list[tuple[EntityDefinition, str]]:
        """Return the attributes that have the options of a global option set, each with its entity."""
        return [
            (definition, item.attribute.logical_name)
            for definition in self._draft.entities.values()
            for item in definition.attributes
            if item.attribute.options is None and item.attribute.option_set == option_set
        ]

    def _options(self, attribute: Attribute, option_sets: Mapping[str, OptionSet]) -> OptionSet | None:
        return attribute.options or option_sets.get(attribute.option_set or "")

    def _note_differences(self, entity: str, name: str, before: OptionSet, after: OptionSet) -> None:
        for what in option_differences(before, after):
            self._plan.change(entity, f"{name}: {what}")


def _option_check(definition: EntityDefinition, name: str, values: frozenset[int]) -> OptionCheck:
    """Return the check which records of an entity have one of the option `values` in the choice `name`."""
    [item] = [item for item in definition.attributes if item.attribute.logical_name == name]
    return OptionCheck(
        attribute=f"{definition.entity.logical_name}.{name}",
        table=definition.table,
        column=item.column,
        values=values,
        is_several=item.attribute.type is AttributeType.MULTISELECT,
    )


def _has_own_states(entity: str, present: Mapping[str, Attribute]) -> bool:
    """Whether the states are those that the platform gives where nobody has described any."""
    return all(
        attribute.logical_name in present and present[attribute.logical_name].options == attribute.options
        for attribute in engine_attributes.states(entity)
    )
