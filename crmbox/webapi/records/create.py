"""POST of a record: to an entity set, or to a related collection."""

from __future__ import annotations

from django.db import transaction

from crmbox.webapi.keys import locate
from crmbox.webapi.model import EntityType
from crmbox.webapi.records.draft import Draft, read_draft
from crmbox.webapi.records.links import associate
from crmbox.webapi.records.stored_drafts import store_new, stored_response
from crmbox.webapi.request import Request, Response
from crmbox.webapi.routing import Shape, Target, on
from crmclient.values import Guid, Reference


@on(Shape.COLLECTION, "POST")
def create(request: Request, target: Target) -> Response:
    """Create a record of the entity set in the path."""
    draft = read_draft(request, target.type, request.json(), creating=True)
    return _created_response(request, draft.type, store_new(request, draft).id)


@on(Shape.LINKS, "POST")
def create_related(request: Request, target: Target) -> Response:
    """Create a record that is associated with the one in the path."""
    collection = target.type.collections[target.name]
    id = locate(request, target.type, target.key)
    member = request.model.entity_type(collection.entity)
    draft = read_draft(request, member, request.json(), creating=True)
    return _created_response(request, member, _store_tied(request, target, id, draft))


def _store_tied(request: Request, target: Target, id: Guid, draft: Draft) -> Guid:
    """Store a record that belongs to the collection of the record `id`, and return its id."""
    collection = target.type.collections[target.name]
    if collection.attribute is not None:
        draft.values[collection.attribute] = Reference(target.type.name, id)
        return store_new(request, draft).id
    with transaction.atomic():
        new_id = store_new(request, draft).id
        associate(request, target.type, id, collection, Reference(draft.type.name, new_id))
    return new_id


def _created_response(request: Request, type_: EntityType, id: Guid) -> Response:
    return stored_response(request, type_, id, created=True)
