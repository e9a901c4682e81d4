"""Paginated query: 200, a page of the rows with the cursor of the next one, in the body and in `Link`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.http import HttpResponse
from django.utils.translation import gettext_noop

from crmclient import Platform
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Page, Query
from crmclient.values import QueryResult
from designer.configuration import Endpoint
from designer.kinds.queries import PaginatedQuerySettings
from designer.sentences import Sentence
from designer.types import InvalidInput
from runtime.http.failures import Misconfigured
from runtime.http.rendering import json_response
from runtime.operations.base import Description
from runtime.operations.queries import cursor
from runtime.operations.queries.base import PROBLEMS, QueryOperation
from runtime.operations.queries.orders import Orders
from runtime.request_context import Exchange

# The parameters of this kind: in lower case, as they are matched, and as they are written.
_OWN = {"pagesize": "pageSize", "cursor": "cursor"}
_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
# The parts of a definition that have no part in what is asked: who may call, texts for people, trials,
# accepted findings, and how long answers are kept. Cursors outlive an edit of these. The description of an
# input is not among them, because cursors of release 0.2 are bound to it.
_UNASKED: Mapping[str, Any] = {
    **dict.fromkeys(("title", "description", "translations", "enabled", "access"), True),
    "inputs": {"__all__": {"label", "translations"}},
    "preconditions": {"__all__": {"translations"}},
    **dict.fromkeys(("acknowledgements", "example_calls"), True),
    "settings": {"cache"},
}


class PaginatedQueryOperation(QueryOperation):
    kind: ClassVar[str] = "paginated-query"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        settings = self.settings(PaginatedQuerySettings)
        if self.designed.top is not None:
            raise Misconfigured(Sentence("a query with top has no pages"))
        self.orders = Orders(settings.orders, self.designed, platform)
        self.accept(_OWN.keys() | self.orders.names)
        self._written = self.inputs.written | _OWN
        self.largest = settings.max_page_size
        self.size = min(self.designed.page_size or settings.page_size, self.largest)
        self.total = settings.total or self.designed.total
        # What a cursor is bound to: after an edit of anything that is asked, it is refused.
        definition = endpoint.definition.model_dump_json(exclude=dict(_UNASKED))
        self._identity = hashlib.sha256(definition.encode()).hexdigest()

    def run(self, exchange: Exchange) -> HttpResponse:
        """Answer one page: the first, or the page that the caller's cursor points to."""
        parameters = self.read_parameters(exchange)
        orders = parameters.read("order", self.orders.chosen, self.default_orders)
        size = parameters.read("pageSize", self._page_size, self.size)
        parameters.finish()
        bound_to = self._fingerprint(exchange, parameters.texts, size)
        position, began = None, exchange.now
        if "cursor" in parameters.texts:
            position = cursor.unseal(parameters.texts["cursor"], bound_to)
            # Relative dates count from the time of the first page.
            began = position.began
        query = self.query(exchange, orders, began)
        token, total = (None, None) if position is None else (position.token, position.total)
        page = Page(size, token, self.total and total is None, self.designed.page)
        answer = self._rows_of_page(query, page, exchange)
        total = answer.total if total is None else total
        next_cursor = None
        if answer.next is not None:
            next_cursor = cursor.seal(cursor.Position(answer.next, began, total), bound_to)
        given_parameters = {self._written.get(key, key): text for key, text in parameters.texts.items()}
        return _page_response(
            self.answers(answer.rows, parameters, exchange), total, next_cursor, exchange, given_parameters
        )

    def _rows_of_page(self, query: Query, page: Page, exchange: Exchange) -> QueryResult:
        """Return the rows of a page. Raises Problem 400 `bad_cursor` when the cursor no longer fits the
        query.
        """
        try:
            return self.ask(query, exchange, page)
        except InvalidQuery as error:
            if page.token is None:
                raise
            # The metadata or the caller's properties have changed since the page before, and with them the
            # query. The platform's token is for the query as it was.
            raise cursor.bad_cursor() from error

    def _fingerprint(self, exchange: Exchange, texts: Mapping[str, str], size: int) -> str:
        """Return a digest of the caller, and of all parameters that decide which rows are asked for: cursors
        are bound to it. `texts` are the parameters sent.
        """
        parameters = (
            f"{name}={text}" for name, text in sorted(texts.items()) if name not in _OWN and name != "lcid"
        )
        return cursor.fingerprint(exchange, self._identity, str(size), *parameters)

    def _page_size(self, text: str) -> int:
        """Return the page size that a caller sent. Raises InvalidInput unless it is a whole number in the
        endpoint's range.
        """
        if not _NUMBER.fullmatch(text) or not 1 <= int(text) <= self.largest:
            raise InvalidInput("out_of_range", f"Must be a whole number from 1 to {self.largest}.")
        return int(text)

    def describe(self) -> Description:
        return Description(
            success=(200, self._schema(), "A page of the rows."),
            fields=self.inputs.fields(),
            columns=self.columns.fields(),
            parameters=(*self.parameters(), *self.orders.document(), *self._own_parameters()),
            headers={
                **self.cache_headers(),
                "Link": 'Where the next page is, `<…>; rel="next"`; absent on the last one.',
            },
            problems=self.steps.problems({**PROBLEMS, 400: (*PROBLEMS[400], "bad_cursor")}),
        )

    def _schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a page."""
        properties = {
            "data": {"type": "array", "items": self.columns.schema(), "maxItems": self.largest},
            "count": {"type": "integer", "description": "The rows of this page."},
            "totalRecordCount": {
                "type": ["integer", "null"],
                "description": "The rows of all pages, counted for the first; null where they are not.",
            },
            "hasMoreRecords": {"type": "boolean"},
            "cursor": {"type": ["string", "null"], "description": "What asks for the next page."},
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def _own_parameters(self) -> tuple[dict[str, Any], ...]:
        """Return the OpenAPI parameters `pageSize` and `cursor`."""
        size = {"type": "integer", "minimum": 1, "maximum": self.largest, "default": self.size}
        return (
            {"name": "pageSize", "in": "query", "description": gettext_noop("Rows a page."), "schema": size},
            {
                "name": "cursor",
                "in": "query",
                "description": gettext_noop(
                    "That of the page before, with the same parameters and page size."
                ),
                "schema": {"type": "string"},
            },
        )


def _page_response(
    rows: list[dict[str, Any]],
    total: int | None,
    next_cursor: str | None,
    exchange: Exchange,
    given: Mapping[str, str],
) -> HttpResponse:
    """Return the answer with one page.

    `total` is the number of rows of all pages; None when they are not counted. `next_cursor` is the cursor of
    the next page; None on the last page. `given` are the parameters that the caller sent.
    """
    body = {
        "data": rows,
        "count": len(rows),
        "totalRecordCount": total,
        "hasMoreRecords": next_cursor is not None,
        "cursor": next_cursor,
    }
    if next_cursor is None:
        return json_response(body)
    # Relative to wherever the service is, as callers see it.
    place = f"{exchange.request.path}?{urlencode({**given, 'cursor': next_cursor})}"
    return json_response(body, headers={"Link": f'<{place}>; rel="next"'})
