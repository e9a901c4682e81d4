"""DELETE of a record."""

from __future__ import annotations

from crmbox.webapi.keys import locate
from crmbox.webapi.request import Request, Response, no_content
from crmbox.webapi.routing import Shape, Target, on


@on(Shape.RECORD, "DELETE")
def delete(request: Request, target: Target) -> Response:
    """Delete a record; with `If-Match`, only in this version."""
    id = locate(request, target.type, target.key)
    # `If-Match: *` asks for any version.
    version = request.if_match
    request.platform.delete(
        target.type.name, id, if_version=None if version == "*" else version, call=request.call
    )
    return no_content()
