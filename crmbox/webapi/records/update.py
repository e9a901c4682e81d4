"""PATCH of a record: an update, or a create when there is none and the client does not forbid it."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from crmbox.webapi.errors import WebApiError, bad_payload
from crmbox.webapi.keys import Key, find, read_key
from crmbox.webapi.model import EntityType
from crmbox.webapi.records.draft import read_draft
from crmbox.webapi.records.stored_drafts import store_changes, store_new, stored_response
from crmbox.webapi.request import Request, Response
from crmbox.webapi.routing import Shape, Target, on
from crmclient.errors import RecordNotFound
from crmclient.values import Guid


@on(Shape.RECORD, "PATCH")
def update(request: Request, target: Target) -> Response:
    """Update the record in the path, or create it."""
    key = read_key(request, target.type, target.key)
    body = request.json()
    with transaction.atomic():
        id, created = upsert(request, target.type, key, body)
    return stored_response(request, target.type, id, created=created)


def upsert(request: Request, type_: EntityType, key: Key, body: dict[str, Any]) -> tuple[Guid, bool]:
    """Update a record, or create it if there is none. Returns its id and whether it was created.

    With `If-Match` it is never created, and with `If-None-Match: *` never updated. Raises WebApiError, and as
    `Platform.update`.
    """
    id = find(request, type_, key)
    if id is not None and _exists(request, type_, id):
        if request.if_none_match == "*":
            raise WebApiError(412, "0x80040237", "A record with matching key values already exists.")
        draft = read_draft(request, type_, body, creating=False)
        if draft.id not in (None, id):
            raise bad_payload("The primary key in the body is not that of the URL.")
        # `If-Match: *` asks for any version.
        version = request.if_match
        store_changes(request, draft, id, if_version=None if version == "*" else version)
        return id, False
    if request.if_match is not None:
        raise RecordNotFound(type_.name, key.id or str(dict(key.values)))
    draft = read_draft(request, type_, body, creating=True)
    if draft.id is not None and key.id not in (None, draft.id):
        raise bad_payload("The primary key in the body is not that of the URL.")
    for name, value in key.values.items():
        if draft.values.setdefault(name, value) != value:
            raise bad_payload(f"'{name}' in the body is not that of the URL.")
    return store_new(request, draft, key.id).id, True


def _exists(request: Request, type_: EntityType, id: Guid) -> bool:
    """Whether there is a record with this id."""
    try:
        request.platform.retrieve(type_.name, id, (), call=request.call)
    except RecordNotFound:
        return False
    return True
