"""GET of one record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crmbox.webapi.keys import locate
from crmbox.webapi.model import EntityType
from crmbox.webapi.odata.options import read_options
from crmbox.webapi.odata.record_reader import RecordReader
from crmbox.webapi.rendering import context, etag
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import Shape, Target, on
from crmclient.values import Guid


@on(Shape.RECORD, "GET")
def retrieve(request: Request, target: Target) -> Response:
    """Answer with a record; 304 if the client has its present version already."""
    id = locate(request, target.type, target.key)
    content = representation(request, target.type, id)
    tag = content["@odata.etag"]
    # The version tells nothing of expanded records, nor of whether annotations were asked for before.
    plain = "$expand" not in request.query and not request.prefer.annotations
    if plain and request.if_none_match is not None and tag == etag(request.if_none_match):
        return Response(304, {"ETag": tag})
    return json_response(content, headers={"ETag": tag})


def representation(
    request: Request, type_: EntityType, id: Guid, *, expanding: bool = True
) -> dict[str, Any]:
    """Return a record with the columns that the request selects, and its context.

    Without `expanding`, `$expand` is ignored. Raises WebApiError, and as `Platform.retrieve`.
    """
    options = read_options(request.query)
    if not expanding:
        options = replace(options, expand=None)
    return {
        "@odata.context": context(request.base, type_, options.select, single=True),
        **RecordReader(request).one(type_, id, options),
    }
