"""What a write answers: where the record is, or the record itself when that is preferred."""

from __future__ import annotations

from crmbox.webapi.model import EntityType
from crmbox.webapi.records.retrieve import representation
from crmbox.webapi.rendering import record_url
from crmbox.webapi.request import Request, Response, json_response, no_content
from crmclient.values import Guid


def stored_response(request: Request, type_: EntityType, id: Guid, *, created: bool) -> Response:
    url = record_url(request.base, type_, id)
    location = {"Location": url} if created else {}
    if not request.prefer.representation:
        return no_content({**location, "OData-EntityId": url})
    content = representation(request, type_, id, expanding=created)
    headers = {**location, "ETag": content["@odata.etag"], "Preference-Applied": "return=representation"}
    return json_response(content, 201 if created else 200, headers=headers)
