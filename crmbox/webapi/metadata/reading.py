"""GET of metadata."""

from __future__ import annotations

from typing import Any

from crmbox.webapi.errors import no_resource
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.metadata.selecting import read_selection
from crmbox.webapi.metadata.walking import (
    ENTITIES,
    OPTION_SETS,
    RELATIONSHIPS,
    Place,
    Property,
    walk,
)
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import named


@named(ENTITIES, "GET")
@named(OPTION_SETS, "GET")
@named(RELATIONSHIPS, "GET")
def read(request: Request) -> Response:
    place = walk(request.model.snapshot, request.path)
    return json_response(_content(request, place))


def _content(request: Request, place: Place) -> dict[str, Any]:
    selection = read_selection(request.query)
    context = f"{request.base}$metadata#{_address(request)}"
    found = place.found
    if isinstance(found, Property):
        return {"@odata.context": context, "value": found.value}
    if isinstance(found, list):
        kept = selection.kept(found)
        counted = {"@odata.count": len(kept)} if request.query.get("$count", "").lower() == "true" else {}
        content = [selection.content(item, base=place.declared) for item in kept]
        return {"@odata.context": context, **counted, "value": content}
    if not isinstance(found, Item):
        raise no_resource(place.name)
    return {"@odata.context": f"{context}/$entity", **selection.content(found, base=place.declared)}


def _address(request: Request) -> str:
    """The path as written, without a key at its end."""
    path, bracket, _ = request.raw_path.rpartition("(")
    return path if bracket and request.raw_path.endswith(")") else request.raw_path
