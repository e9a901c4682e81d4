"""Which messages there are for an entity: some clients look before they send many records at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crmbox.webapi.metadata.items import Item, metadata_id
from crmbox.webapi.metadata.virtual_entity_sets import answer
from crmbox.webapi.request import Request, Response
from crmbox.webapi.routing import named

MESSAGES: Final = "sdkmessages"
FILTERS: Final = "sdkmessagefilters"

_NAMES: Final = (
    *("Create", "Retrieve", "RetrieveMultiple", "Update", "Upsert", "Delete"),
    *("CreateMultiple", "UpdateMultiple", "UpsertMultiple"),
)


@named(MESSAGES, "GET")
def messages(request: Request) -> Response:
    return answer(request, map(_message, _NAMES))


@named(FILTERS, "GET")
def filters(request: Request) -> Response:
    return answer(request, _filters(request))


def _message(name: str) -> Item:
    id = metadata_id("message", name)
    return Item("sdkmessage", id, {"sdkmessageid": id, "name": name}, key="sdkmessageid")


def _filters(request: Request) -> Iterator[Item]:
    """Yield a record for each pair of an entity and a message."""
    for entity in request.platform.entities().values():
        for name in _NAMES:
            message = _message(name)
            id = metadata_id("message", name, entity.logical_name)
            properties = {
                "sdkmessagefilterid": id,
                "primaryobjecttypecode": entity.logical_name,
                "secondaryobjecttypecode": "none",
                "_sdkmessageid_value": message.id,
            }
            navigations = {"sdkmessageid": lambda message=message: message}
            yield Item("sdkmessagefilter", id, properties, navigations, key="sdkmessagefilterid")
