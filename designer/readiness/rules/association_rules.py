"""Associations: by which relationship, and with records of which exposed entity."""

from __future__ import annotations

from designer.configuration import Endpoint
from designer.definitions import ExposedEntityDefinition
from designer.kinds.associate import AssociateSettings
from designer.readiness.registry import Found, blocking_of, warning_of
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _

_RELATIONSHIP, _RELATED = "settings.relationship", "settings.related"


@blocking_of(AssociateSettings, "relationship-unknown")
def relationship_exists(subject: EndpointSubject, settings: AssociateSettings) -> Found:
    """Find a relationship that is not chosen, or that the entity does not have."""
    if not subject.entity:
        return
    if not settings.relationship:
        yield _("Choose the relationship."), _RELATIONSHIP
    elif (
        not subject.lacks_entity
        and settings.relationship_among(subject.metadata.relationships(subject.entity)) is None
    ):
        yield (
            _(
                "%(entity)s has no relationship “%(relationship)s”.",
                entity=subject.entity,
                relationship=settings.relationship,
            ),
            _RELATIONSHIP,
        )


@blocking_of(AssociateSettings, "relationship-not-many-to-many")
def relationship_is_many_to_many(subject: EndpointSubject, settings: AssociateSettings) -> Found:
    """Find a relationship that does not lead from the entity to many records that have many in turn."""
    if not subject.entity or subject.lacks_entity:
        return
    relationship = settings.relationship_among(subject.metadata.relationships(subject.entity))
    if relationship is None or relationship.other_end(subject.entity) is not None:
        return
    if relationship.referencing_attribute is not None:
        yield (
            _(
                "“%(relationship)s” is not many-to-many. An update of %(entity)s that sets "
                "“%(attribute)s” does what you want.",
                relationship=relationship.name,
                entity=relationship.referencing,
                attribute=relationship.referencing_attribute,
            ),
            _RELATIONSHIP,
        )
    else:
        yield (
            _(
                "“%(relationship)s” does not lead from %(entity)s. Choose a relationship that does.",
                relationship=relationship.name,
                entity=subject.entity,
            ),
            _RELATIONSHIP,
        )


@blocking_of(AssociateSettings, "related-entity")
def related_entity_is_exposed(subject: EndpointSubject, settings: AssociateSettings) -> Found:
    """Find an exposed entity of the related records that is not chosen, or that the relationship does not
    lead to.
    """
    other = _related_entity(subject, settings)
    if other is None:
        return
    chosen = settings.related_among(subject.endpoint.exposures)
    if chosen is not None and chosen.entity == other:
        return
    if all(exposure.entity != other for exposure in subject.endpoint.exposures):
        yield (
            _(
                "Expose %(entity)s in this module: its row rule says which related records callers reach.",
                entity=other,
            ),
            _RELATED,
        )
    elif chosen is not None:
        yield (
            _(
                "“%(relationship)s” leads to %(entity)s, and “%(related)s” exposes %(exposed)s. "
                "Choose an exposed entity of %(entity)s.",
                relationship=settings.relationship,
                entity=other,
                related=settings.related,
                exposed=chosen.entity,
            ),
            _RELATED,
        )
    elif settings.related:
        yield (
            _("This module exposes no entity as “%(related)s”. Choose another.", related=settings.related),
            _RELATED,
        )
    else:
        yield _("Choose the exposed entity of the related records."), _RELATED


@warning_of(AssociateSettings, "related-unread")
def related_records_can_be_found(subject: EndpointSubject, settings: AssociateSettings) -> Found:
    """Find that no enabled endpoint of the module answers with the related records, whose ids calls send."""
    chosen = settings.related_among(subject.endpoint.exposures)
    if chosen is None or chosen.entity != _related_entity(subject, settings):
        return
    endpoints = subject.surroundings.configuration.endpoints.values()
    if not any(_answers(endpoint, chosen) for endpoint in endpoints):
        yield (
            _(
                "No endpoint reads or lists “%(related)s”, so callers cannot find the ids to send.",
                related=settings.related,
            ),
            _RELATED,
        )


def _answers(endpoint: Endpoint, exposure: ExposedEntityDefinition) -> bool:
    """Whether the endpoint answers with records of the exposed entity."""
    definition = endpoint.definition
    if not definition.enabled or definition.module != exposure.module or endpoint.kind.writes:
        return False
    query = definition.settings.designed_query
    if query is not None:
        return query.entity == exposure.entity
    return endpoint.entity == exposure and definition.settings.answers_records


def _related_entity(subject: EndpointSubject, settings: AssociateSettings) -> str | None:
    """Return the entity that the chosen many-to-many relationship leads to; None while there is no such
    relationship.
    """
    if not subject.entity:
        return None
    relationship = settings.relationship_among(subject.metadata.relationships(subject.entity))
    return None if relationship is None else relationship.other_end(subject.entity)
