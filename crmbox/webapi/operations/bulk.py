"""CreateMultiple, UpdateMultiple and UpsertMultiple: many records of one entity in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.db import transaction

from crmbox.webapi.errors import WebApiError, bad_payload
from crmbox.webapi.keys import Key, read_key
from crmbox.webapi.model import NAMESPACE, EntityType
from crmbox.webapi.paths import parse_path
from crmbox.webapi.records.draft import Draft, read_draft
from crmbox.webapi.records.stored_drafts import store_changes, store_new
from crmbox.webapi.records.update import upsert
from crmbox.webapi.request import Request, Response, json_response, no_content
from crmclient.platform import Create, Operation, Update
from crmclient.values import Guid


def create_multiple(request: Request, type_: EntityType) -> Response:
    """Create the records of the body, all or none, and answer with their ids."""
    drafts = [read_draft(request, type_, item, creating=True) for item in _targets(request, type_)]
    # A record that comes with files or other records takes several writes, which a batch does not do.
    if all(draft.is_simple for draft in drafts):
        ids = _write_batch(request, [Create(type_.name, draft.values, draft.id) for draft in drafts])
    else:
        with transaction.atomic():
            ids = [store_new(request, draft).id for draft in drafts]
    return json_response(
        {"@odata.context": f"{request.base}$metadata#{NAMESPACE}.CreateMultipleResponse", "Ids": ids}
    )


def update_multiple(request: Request, type_: EntityType) -> Response:
    """Update the records of the body, all or none. Each has its primary key."""
    drafts = [read_draft(request, type_, item, creating=False) for item in _targets(request, type_)]
    if all(draft.is_simple for draft in drafts):
        _write_batch(request, [Update(type_.name, _id(draft), draft.values) for draft in drafts])
    else:
        with transaction.atomic():
            for draft in drafts:
                store_changes(request, draft, _id(draft))
    return no_content()


def upsert_multiple(request: Request, type_: EntityType) -> Response:
    """Update or create records.

    A record is found by its `@odata.id`, such as `accounts(accountnumber='A-1')`, or by its primary key.
    """
    items = _targets(request, type_)
    with transaction.atomic():
        for item in items:
            upsert(request, type_, _key(request, type_, item), item)
    return no_content()


BULK: Final[dict[str, Callable[[Request, EntityType], Response]]] = {
    "CreateMultiple": create_multiple,
    "UpdateMultiple": update_multiple,
    "UpsertMultiple": upsert_multiple,
}


def _write_batch(request: Request, operations: list[Operation]) -> list[Guid]:
    """Write records by one batch of the platform. Return their ids."""
    return [stored.id for stored in request.platform.batch(operations, call=request.call) if stored]


def _targets(request: Request, type_: EntityType) -> list[dict[str, Any]]:
    """Return the records in the body. Raises WebApiError unless each names the entity of the path."""
    targets = request.json().get("Targets")
    if not isinstance(targets, list) or not all(isinstance(item, dict) for item in targets):
        raise bad_payload('The body must be {"Targets": [{…}, …]}.')
    for item in targets:
        named = item.get("@odata.type")
        if named is None or str(named).lstrip("#") != type_.type_name:
            raise bad_payload(f'Each of Targets needs "@odata.type": "{type_.type_name}", not {named!r}.')
    return targets


def _id(draft: Draft) -> Guid:
    """Return the primary key in a record of the body. Raises WebApiError without it."""
    if draft.id is None:
        raise bad_payload(f"Each of Targets needs its {draft.type.entity.primary_id}.")
    return draft.id


def _key(request: Request, type_: EntityType, item: dict[str, Any]) -> Key:
    """Return the key of a record to upsert: that in its `@odata.id`, else its primary key. Raises
    WebApiError.
    """
    address = item.get("@odata.id")
    if address is None:
        # Read for its primary key alone.
        return Key(_id(read_draft(request, type_, item, creating=False)), {})
    path = parse_path(str(address).lstrip("/").removeprefix(request.base))
    if len(path) != 1 or not path[0].arguments or path[0].name != type_.entity.entity_set:
        raise bad_payload(f"'{address}' is no address of a record of {type_.entity.entity_set}.")
    key = read_key(request, type_, path[0].arguments)
    repeated = [name for name in key.values if name in item]
    if repeated:
        raise WebApiError(400, "0x80040203", f"The key '{repeated[0]}' stands in @odata.id already.")
    return key
