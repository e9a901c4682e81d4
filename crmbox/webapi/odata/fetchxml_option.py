"""`?fetchXml=…`: a query in the platform's own language, page by page with its paging cookie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lxml import etree

from crmbox.calendar import calendar
from crmbox.webapi.callers import circumstances_of
from crmbox.webapi.errors import WebApiError, bad_url
from crmbox.webapi.model import EntityType
from crmbox.webapi.odata.page_links import (
    LARGEST_PAGE,
    NO_RECORD,
    Cookie,
    cookie_text,
    page_size,
    read_inner_cookie,
)
from crmbox.webapi.odata.rows import (
    FETCH_COOKIE,
    MORE,
    VERSION,
    collection_response,
    columns_of,
    row_content,
    totals,
)
from crmbox.webapi.rendering import context
from crmbox.webapi.request import Request, Response
from crmclient.metadata import Attribute
from crmclient.query.ast import Column, Page, Query
from crmclient.query.fetchxml import document
from crmclient.query.fetchxml_checks import parse_known
from crmclient.query.pages import MOST_PASSED_OVER
from crmclient.query.resolving import prepare
from crmclient.query.shape import DEEPEST
from crmclient.values import QueryResult

# FetchXML of the Web API has no parameters. With this prefix, the parser takes a value that begins with `@`
# as it stands.
_LITERAL = "@="


@dataclass(frozen=True, slots=True)
class Paging:
    """The page that a FetchXML text asks for, by its number from 1 on.

    `cookie` is the paging cookie as it stood in the text, '' without one.
    """

    page: int
    cookie: str


def split_paging(text: str) -> tuple[str, Paging]:
    """Split a FetchXML text into the text without its paging, and the paging.

    All values are marked as literals. Raises WebApiError, InvalidQuery.
    """
    root = document.tree(text)
    page = str(root.attrib.pop("page", "1"))
    cookie = str(root.attrib.pop("paging-cookie", ""))
    for condition in root.iter("condition"):
        if condition.get("value"):
            condition.set("value", _LITERAL + condition.get("value", ""))
        for value in condition.iter("value"):
            if value.text:
                value.text = _LITERAL + value.text
    return etree.tostring(root, encoding="unicode"), Paging(_page_number(page.strip()), cookie)


def _page_number(text: str) -> int:
    """Return the number of a page, from 1 on. Raises WebApiError for anything else."""
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not int(text):
        raise bad_url(f"page {text!r} is no whole number of at least 1.")
    return int(text)


def fetch(request: Request, type_: EntityType) -> Response:
    """Answer a query of `?fetchXml=…` on the entity set of `type_` with one page of records.

    Raises WebApiError, and InvalidQuery with everything that is wrong with the text.
    """
    text, paging = split_paging(request.query["fetchXml"])
    model = request.model

    def attributes(entity: str) -> Mapping[str, Attribute]:
        return model.entity_type(entity).attributes

    designed = parse_known(text, attributes, calendar())
    if designed.entity != type_.name:
        raise bad_url(
            f"The entity name specified in fetchxml ('{designed.entity}') does not match the entity name "
            f"specified in Entity Set Name ('{type_.entity.entity_set}')."
        )
    prepared = prepare(designed, attributes, calendar(), deepest=DEEPEST)
    query = prepared.resolve(circumstances_of(request.platform, request.user))
    requested_columns = query.columns
    if not query.is_aggregate and not query.distinct:
        query = replace(query, columns=_with_keys(query, type_))
    size = min(designed.page_size or page_size(request), LARGEST_PAGE)
    result = _result(request, query, paging, size, total=designed.total)
    # `_with_keys` adds the version for the ETag; it is shown only when it was asked for.
    shown = [
        item
        for item in columns_of(request.model, query)
        if item.key != VERSION or Column(VERSION) in requested_columns
    ]
    content = {
        "@odata.context": context(request.base, type_),
        **totals(request, result.total, always=designed.total),
        **_paging_annotations(request, query, paging.page, result, type_),
        "value": [row_content(request, shown, row) for row in result.rows],
    }
    return collection_response(request, content)


def _with_keys(query: Query, type_: EntityType) -> tuple[Column, ...]:
    """Return the columns of a plain query, with the primary key and the version added."""
    present = {column.attribute for column in query.columns if column.alias is None}
    key_names = (type_.entity.primary_id, VERSION)
    return query.columns + tuple(
        Column(name) for name in key_names if name not in present and name in type_.attributes
    )


def _result(request: Request, query: Query, paging: Paging, size: int, *, total: bool) -> QueryResult:
    """Run the query for the page that the paging cookie, or the number of the page, says."""
    if query.top is not None:
        return request.platform.query(query, Page(total=total), call=request.call)
    token = read_inner_cookie(paging.cookie, paging.page).token if paging.cookie else None
    if not token and paging.page > 1:
        passed_over = size * (paging.page - 1)
        if passed_over >= MOST_PASSED_OVER:
            raise WebApiError(
                400, "0x80041103", f"Paging without a cookie reaches at most {MOST_PASSED_OVER} rows."
            )
    return request.platform.query(query, Page(size, token or None, total, paging.page), call=request.call)


def _paging_annotations(
    request: Request, query: Query, page: int, result: QueryResult, type_: EntityType
) -> dict[str, Any]:
    """Return the annotations on paging.

    There is a cookie only if there is another page, as clients go on for as long as they get one. As on
    Dataverse, there is none for rows in the order of a linked entity.
    """
    fields: dict[str, Any] = {}
    wants = request.prefer.annotations.wants
    if wants(MORE):
        fields[f"@{MORE}"] = result.next is not None
    by_link = any(order.link is not None for order in query.orders)
    if result.next is not None and not by_link and wants(FETCH_COOKIE):
        key = type_.entity.primary_id
        ends = (str(row.get(key) or NO_RECORD) for row in (result.rows[0], result.rows[-1]))
        fields[f"@{FETCH_COOKIE}"] = cookie_text(Cookie(page + 1, result.next), key, *ends)
    return fields
