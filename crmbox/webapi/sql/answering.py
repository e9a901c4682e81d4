"""`GET accounts?sql=SELECT …`: the rows, by page."""

from __future__ import annotations

import datetime as dt

from crmbox.webapi.errors import bad_url
from crmbox.webapi.model import EntityType
from crmbox.webapi.odata.answers import collection_response
from crmbox.webapi.odata.options import Options
from crmbox.webapi.odata.paging import LARGEST_PAGE, NO_RECORD, Paging
from crmbox.webapi.odata.rows import row_content
from crmbox.webapi.rendering import context
from crmbox.webapi.request import Request, Response
from crmbox.webapi.sql.reading import Selection, read
from crmclient.query.ast import Page
from crmclient.values import QueryResult


def answer(request: Request, type_: EntityType) -> Response:
    """Empty values are null. Raises WebApiError."""
    if unknown := request.query.keys() - {"sql", "$skiptoken"}:
        raise bad_url(f"{min(unknown)} does not go together with sql.")
    selection = read(request.query["sql"], request.model, dt.datetime.now(dt.UTC))
    if selection.query.entity != type_.name:
        raise bad_url(f"The statement is about '{selection.query.entity}', the address about '{type_.name}'.")
    paging = Paging(request, Options(skiptoken=request.query.get("$skiptoken")))
    result = _cut(request, selection) if selection.most is not None or selection.skipped else None
    if result is None:
        result = request.platform.query(selection.query, paging.page, call=request.call)
    content = {
        "@odata.context": context(request.base, type_),
        "value": [row_content(request, selection.shown, row, empty=True) for row in result.rows],
        **paging.next_link(result.next, type_.entity.primary_id, NO_RECORD, NO_RECORD),
    }
    return collection_response(request, content)


def _cut(request: Request, selection: Selection) -> QueryResult:
    """What TOP, or OFFSET with FETCH, leaves of a result: one page, at most the largest."""
    query, token = selection.query, None
    most = min(LARGEST_PAGE if selection.most is None else selection.most, LARGEST_PAGE)
    if selection.skipped:
        token = request.platform.query(query, Page(selection.skipped), call=request.call).next
    if not most or (selection.skipped and token is None):
        return QueryResult([], None, None)
    found = request.platform.query(query, Page(most, token), call=request.call)
    return QueryResult(found.rows, None, None)
