"""Entity sets whose records are made of metadata and can only be read."""

from __future__ import annotations

from collections.abc import Iterable

from crmbox.webapi.errors import no_resource, unsupported
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.metadata.selecting import read_selection
from crmbox.webapi.paths import unquoted
from crmbox.webapi.request import Request, Response, json_response


def answer(request: Request, items: Iterable[Item]) -> Response:
    """All of `items` that are asked for, or the one of the key in the path."""
    if len(request.path) > 1:
        raise unsupported(f"{request.raw_path}: these records lead nowhere")
    [segment] = request.path
    selection = read_selection(request.query)
    context = f"{request.base}$metadata#{segment.name}"
    if segment.arguments:
        wanted = unquoted(segment.arguments[0].value).lower()
        for item in items:
            if item.id == wanted:
                return json_response(
                    {"@odata.context": f"{context}/$entity", **selection.content(item, base=item.type)}
                )
        raise no_resource(request.raw_path)
    contents = [selection.content(item, base=item.type) for item in selection.kept(items)]
    return json_response({"@odata.context": context, "value": contents})
