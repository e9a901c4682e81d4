"""BulkDelete: a job that deletes what queries find. Here the job has ended when the request has."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import suppress

from crmbox.webapi.errors import bad_payload
from crmbox.webapi.model import NAMESPACE
from crmbox.webapi.operations.query_expressions import read_query
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import named
from crmclient.errors import RecordNotFound, StateConflict
from crmclient.query.ast import Query


@named("BulkDelete", "POST")
def bulk_delete(request: Request) -> Response:
    """A record that may not be deleted stays and stops nothing, as in a job of Dataverse."""
    for query in list(_queries(request)):
        for row in request.platform.query(query, call=request.call).rows:
            with suppress(RecordNotFound, StateConflict):
                id = str(next(iter(row.values())))
                request.platform.delete(query.entity, id, call=request.call)
    where = f"{request.base}$metadata#{NAMESPACE}.BulkDeleteResponse"
    return json_response({"@odata.context": where, "JobId": str(uuid.uuid4())})


def _queries(request: Request) -> Iterator[Query]:
    given = request.json().get("QuerySet")
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise bad_payload("'QuerySet' must be an array of QueryExpression.")
    for item in given:
        name = str(item.get("EntityName"))
        yield read_query(request.model.entity_type(name), item)
