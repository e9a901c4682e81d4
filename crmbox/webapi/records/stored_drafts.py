"""Writing a draft: in one transaction, all of it or nothing."""

from __future__ import annotations

import io
from contextlib import AbstractContextManager, nullcontext

from django.db import transaction

from crmbox.webapi.images import required_image_type
from crmbox.webapi.model import EntityType
from crmbox.webapi.navigation import Collection
from crmbox.webapi.privileges import refuse_unreadable
from crmbox.webapi.records.draft import Draft
from crmbox.webapi.records.links import associate
from crmbox.webapi.records.retrieve import representation
from crmbox.webapi.rendering import record_url
from crmbox.webapi.request import Request, Response, json_response, no_content
from crmclient.metadata import AttributeType
from crmclient.values import Guid, Reference, Stored


def stored_response(request: Request, type_: EntityType, id: Guid, *, created: bool) -> Response:
    """Answer a write: with the address of the record, or with the record itself if that is preferred."""
    url = record_url(request.base, type_, id)
    location = {"Location": url} if created else {}
    if not request.prefer.wants_representation:
        return no_content({**location, "OData-EntityId": url})
    # As in Dataverse the record is written, and its maker refused the answer.
    refuse_unreadable(request, type_.name)
    # As in Dataverse, $expand is ignored where a record was updated.
    content = representation(request, type_, id, expanding=created)
    headers = {**location, "ETag": content["@odata.etag"], "Preference-Applied": "return=representation"}
    return json_response(content, 201 if created else 200, headers=headers)


UNNAMED = "image"
"""The file name of an image, for which a body has none."""


def store_new(request: Request, draft: Draft, id: Guid | None = None) -> Stored:
    """Create the record of a draft, and those created with it. Raises as `Platform.create`."""
    chosen = draft.id if id is None else id
    if draft.is_simple:
        return request.platform.create(draft.type.name, draft.values, id=chosen, call=request.call)
    with transaction.atomic():
        for lookup, parent in draft.parents:
            made = store_new(request, parent)
            draft.values[lookup.attribute] = Reference(parent.type.name, made.id)
        stored = request.platform.create(draft.type.name, draft.values, id=chosen, call=request.call)
        _store_files_and_related(request, draft, stored.id)
    return stored


def store_changes(request: Request, draft: Draft, id: Guid, *, if_version: str | None = None) -> None:
    """Update a record by a draft. Raises as `Platform.update`."""
    with _transaction_if_needed(draft):
        request.platform.update(draft.type.name, id, draft.values, if_version=if_version, call=request.call)
        _store_files_and_related(request, draft, id)


def _transaction_if_needed(draft: Draft) -> AbstractContextManager[object]:
    """Return the transaction for a draft that needs several writes; nothing for any other."""
    return nullcontext() if draft.is_simple else transaction.atomic()


def _store_files_and_related(request: Request, draft: Draft, id: Guid) -> None:
    """Store what a draft says beside the record's own values: files, related new records, and ties."""
    for attribute, content in draft.files.items():
        _put_file(request, draft, id, attribute, content)
    for collection, child in draft.children:
        _store_child(request, draft.type, id, collection, child)
    for collection, reference in draft.ties:
        associate(request, draft.type, id, collection, reference)


def _store_child(
    request: Request, parent: EntityType, id: Guid, collection: Collection, child: Draft
) -> None:
    """Create a record of a draft that belongs to a collection of the record `id` of `parent`."""
    if collection.attribute is not None:
        child.values[collection.attribute] = Reference(parent.name, id)
        store_new(request, child)
        return
    made = store_new(request, child)
    associate(request, parent, id, collection, Reference(child.type.name, made.id))


def _put_file(request: Request, draft: Draft, id: Guid, attribute: str, content: bytes) -> None:
    """Upload a file of a draft.

    The body of a note has the name and type of its file beside it; the type of an image is read from its
    bytes.
    """
    content_type = draft.facts.get("mimetype") or "application/octet-stream"
    name = draft.facts.get("filename") or "document"
    if draft.type.attributes[attribute].type is AttributeType.IMAGE:
        content_type, name = required_image_type(content), UNNAMED
    request.platform.upload(
        draft.type.name,
        id,
        attribute,
        io.BytesIO(content),
        file_name=name,
        content_type=content_type,
        call=request.call,
    )
