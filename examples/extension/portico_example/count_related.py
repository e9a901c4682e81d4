"""Count related: the descriptor of a kind of operation, and the rule for its setting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from crmclient.conventions import Ability
from designer.kinds import OperationKind, Scope
from designer.kinds.effects import Effect, Told
from designer.kinds.operation_kind import STEPS
from designer.kinds.pickers import Picker, PickerPlace
from designer.kinds.settings import EndpointSettings
from designer.readiness.registry import Found, blocking_of
from designer.readiness.subjects import EndpointSubject


def _one_to_many(place: PickerPlace) -> Iterator[tuple[str, str]]:
    """What the studio offers for the relationship: names, each with what it leads to."""
    for relationship in place.metadata.relationships(place.entity):
        if relationship.is_to_many_from(place.entity):
            yield relationship.name, f"{relationship.referencing} ({relationship.name})"


class CountRelatedSettings(EndpointSettings):
    """`relationship` leads from the record to those that are counted."""

    relationship: Annotated[str, Picker(_one_to_many), Told("relationship", Effect.BREAKING)] = Field(
        "", title="Relationship", description="A one-to-many relationship of the entity."
    )


@blocking_of(CountRelatedSettings, "count-relationship")
def relationship_leads_to_many(subject: EndpointSubject, settings: CountRelatedSettings) -> Found:
    if not subject.entity:
        return
    related = {candidate.name: candidate for candidate in subject.metadata.relationships(subject.entity)}
    relationship = related.get(settings.relationship)
    if relationship is None or not relationship.is_to_many_from(subject.entity):
        yield (
            f"{subject.entity} has no one-to-many relationship “{settings.relationship}”. Choose another.",
            "settings.relationship",
        )


@blocking_of(CountRelatedSettings, "count-platform")
def platform_counts(subject: EndpointSubject, settings: CountRelatedSettings) -> Found:
    if Ability.AGGREGATES not in subject.metadata.conventions.abilities:
        yield "The platform cannot count records.", "settings.relationship"


COUNT_RELATED = OperationKind(
    name="count-related",
    label="Count related",
    summary="Counts the records that belong to a record.",
    scope=Scope.ENTITY,
    methods=("GET",),
    path="/api/{module}/{segment}/{id}/counts/{name}",
    settings=CountRelatedSettings,
    sections=STEPS,
)
