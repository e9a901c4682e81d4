"""Plans the changes of attributes that exist, so that they become what the source wants."""

from __future__ import annotations

from dataclasses import replace as changed

from crmbox.importing.attribute_merge import (
    completed_attribute,
    differences,
    is_shorter,
    merged_attribute,
    type_conflict,
)
from crmbox.importing.plan import Plan
from crmbox.importing.planned_choices import CHOICES, PlannedChoices
from crmbox.importing.planned_relationships import PlannedRelationships
from crmbox.importing.source_entity import Note, SourceEntity, Verdict, left_out
from crmbox.metadata import alterations, engine_attributes
from crmbox.metadata.change import NOTES, REGARDING
from crmbox.metadata.draft import Draft
from crmclient.metadata import Attribute, AttributeType, OptionSet

_WITH_DEFAULT = (AttributeType.PICKLIST, AttributeType.BOOLEAN)


class PlannedAttributes:
    """Changes existing attributes in the draft, and says so in the plan. `keep_lengths`: no length gets
    shorter.
    """

    def __init__(
        self,
        draft: Draft,
        plan: Plan,
        choices: PlannedChoices,
        relationships: PlannedRelationships,
        *,
        keep_lengths: bool,
    ) -> None:
        self._draft = draft
        self._plan = plan
        self._choices = choices
        self._relationships = relationships
        self._keep_lengths = keep_lengths

    def alter(
        self, source_entity: SourceEntity, before: Attribute, wanted: Attribute, states: OptionSet | None
    ) -> None:
        """Change an attribute that exists to what the source wants.

        A change of its type is not made, and gets a note. `states` are the new options of a state or status;
        None: they stay, or the attribute is another one.
        """
        if before.is_primary_id:
            return
        entity, name = source_entity.name, before.logical_name
        if reason := type_conflict(before, wanted, only_completes=source_entity.only_completes):
            self._plan.notes.append(left_out(f"{entity}.{name}", reason))
            return
        after = self._with_planned_length(entity, before, _merged(source_entity, before, wanted))
        for what in differences(before, after):
            self._plan.change(entity, f"{name}: {what}")
        if not source_entity.only_completes:
            self._note_precision_kept(entity, after, wanted)
        after = self._with_options(source_entity, after, wanted, states)
        if after != before:
            relationships = self._relationships.new_relationships(source_entity, [after])
            alterations.alter_attribute(self._draft, entity, after, relationships)
        # Last, because a default has to be one of the new options.
        if before.type in _WITH_DEFAULT:
            default = None if source_entity.only_completes else source_entity.defaults.get(name)
            self._choices.set_default(entity, name, default)

    def _with_planned_length(self, entity: str, before: Attribute, after: Attribute) -> Attribute:
        """Return `after` with the length that the attribute will have, and leave a note if that is, or would
        be, a shorter one.
        """
        if not is_shorter(before, after):
            return after
        subject = f"{entity}.{before.logical_name}"
        length, source_length = before.max_length, after.max_length
        if self._keep_lengths:
            reason = f"It keeps its length of {length:,} characters; the source has {source_length:,}."
            self._plan.notes.append(left_out(subject, reason, "no --keep-lengths"))
            return changed(after, max_length=length)
        reason = f"Its length goes from {length:,} to {source_length:,} characters."
        self._plan.notes.append(Note(Verdict.SHORTENED, subject, reason))
        return after

    def _note_precision_kept(self, entity: str, after: Attribute, wanted: Attribute) -> None:
        """Leave a note if the source has fewer decimal places than the attribute keeps."""
        if wanted.precision is not None and wanted.precision < (after.precision or 0):
            reason = f"It keeps its {after.precision} decimal places; the source has {wanted.precision}."
            self._plan.notes.append(Note(Verdict.CHANGED, f"{entity}.{after.logical_name}", reason))

    def _with_options(
        self, source_entity: SourceEntity, after: Attribute, wanted: Attribute, states: OptionSet | None
    ) -> Attribute:
        """Return `after` with the options that it will have."""
        # Those of state and status fit each other, so they were planned together.
        if states is not None:
            return changed(after, options=states)
        # The options of a choice that only the platform writes are the platform's.
        if after.type in CHOICES and (after.creatable or after.updatable):
            return self._choices.with_options(source_entity, after, wanted)
        return after


def _merged(source_entity: SourceEntity, before: Attribute, wanted: Attribute) -> Attribute:
    """Return an existing attribute with what the source may say about it. Its options stay."""
    is_engine = before.logical_name in engine_attributes.by_name(source_entity.ownership)
    # Notes get their targets from the entities that have notes.
    keeps_targets = is_engine or (source_entity.name, before.logical_name) == (NOTES, REGARDING)
    if source_entity.only_completes:
        return completed_attribute(before, wanted, keeps_targets=keeps_targets)
    return merged_attribute(before, wanted, is_engine=is_engine, keeps_targets=keeps_targets)
