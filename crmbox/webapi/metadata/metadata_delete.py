"""DELETE of metadata. An entity goes with its records, as on the platform."""

from __future__ import annotations

from typing import Final

from django.db import transaction

from crmbox.metadata import change
from crmbox.webapi.errors import no_resource, unsupported
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.metadata.metadata_paths import ENTITIES, OPTION_SETS, RELATIONSHIPS, walk
from crmbox.webapi.metadata.metadata_post import check_customizer
from crmbox.webapi.request import Request, Response, no_content
from crmbox.webapi.routing import named
from crmclient.errors import InvalidDefinition
from crmclient.platform import Delete
from crmclient.query.ast import Column, Page, Query

_RECORDS_AT_ONCE: Final = 500
"""Records that are deleted by one call of the platform."""


@named(ENTITIES, "DELETE")
@named(OPTION_SETS, "DELETE")
@named(RELATIONSHIPS, "DELETE")
def delete(request: Request) -> Response:
    """Delete the item of metadata in the path. Raises WebApiError, InvalidDefinition."""
    check_customizer(request)
    place = walk(request.model.snapshot, request.path)
    item = place.target
    if not isinstance(item, Item) or not item.subject:
        raise no_resource(place.name)
    if item.type == "EntityMetadata":
        _delete_entity(request, item.subject[0])
    elif item.is_a("AttributeMetadata"):
        with change() as metadata:
            metadata.delete_attribute(*item.subject)
    elif item.type == "EntityKeyMetadata":
        with change() as metadata:
            metadata.delete_key(*item.subject)
    elif item.is_a("OptionSetMetadataBase"):
        with change() as metadata:
            metadata.delete_option_set(item.subject[0])
    elif item.is_a("RelationshipMetadataBase"):
        _delete_relationship(request, item.subject[0])
    else:
        raise unsupported(f"DELETE of {item.type}")
    return no_content()


def _delete_entity(request: Request, name: str) -> None:
    """Delete a custom entity with its records.

    Raises InvalidDefinition for any other entity, and for one that something else needs.
    """
    stored = request.model.snapshot.entity(name)
    if not stored.entity.is_custom:
        raise InvalidDefinition(f"{name}: only a custom entity can be deleted.")
    # The records are deleted before the change, which may be refused: then they come back.
    with transaction.atomic():
        _delete_records(request, name, stored.entity.primary_id)
        with change() as metadata:
            metadata.delete_entity(name)


def _delete_relationship(request: Request, name: str) -> None:
    """Delete a relationship: a one-to-many one with its lookup, a many-to-many one with its pairs."""
    relationship = next(
        candidate for candidate in request.model.snapshot.relationships if candidate.name == name
    )
    if relationship.intersect is not None:
        _delete_entity(request, relationship.intersect)
        return
    # A one-to-many relationship always has one.
    attribute = relationship.referencing_attribute or ""
    with change() as metadata:
        metadata.delete_attribute(relationship.referencing, attribute)


def _delete_records(request: Request, entity: str, key: str) -> None:
    """Delete every record of an entity, whose primary id is `key`, with the effects of its relationships."""
    query = Query(entity, (Column(key),))
    # Always the first page: the records of the one before are gone.
    while rows := request.platform.query(query, Page(_RECORDS_AT_ONCE), call=request.call).rows:
        request.platform.batch([Delete(entity, str(row[key])) for row in rows], call=request.call)
