"""Multi query: 200 array of all rows, 422 where there are more than the endpoint allows."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from django.http import HttpResponse

from crmclient import Platform
from crmclient.query.ast import ALL, Page
from designer.configuration import Endpoint
from designer.kinds.queries import MultiQuerySettings
from runtime.http.problems import Problem
from runtime.http.rendering import json_response
from runtime.operations.base import Description
from runtime.operations.queries.base import PROBLEMS, QueryOperation
from runtime.operations.queries.orders import Orders
from runtime.request_context import Exchange


class MultiQueryOperation(QueryOperation):
    kind: ClassVar[str] = "multi-query"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        settings = self.settings(MultiQuerySettings)
        self.cap = settings.cap
        self.orders = Orders(settings.orders, self.designed, platform)
        self.accept(self.orders.names)

    def run(self, exchange: Exchange) -> HttpResponse:
        """Answer all rows. Raises Problem 422 when there are more than the endpoint allows."""
        parameters = self.read_parameters(exchange)
        orders = parameters.read("order", self.orders.chosen, self.default_orders)
        parameters.finish()
        query, page = self.query(exchange, orders), ALL
        if query.top is None or query.top > self.cap:
            # One row more than the cap is refused, so no `top` beyond it is ever reached.
            query, page = replace(query, top=None), Page(size=self.cap)
        answer = self.ask(query, exchange, page)
        if answer.next is not None:
            raise Problem(
                422,
                "too_many_rows",
                f"There are more than {self.cap} rows. Narrow them by parameters.",
            )
        return json_response(self.answers(answer.rows, parameters, exchange))

    def describe(self) -> Description:
        rows = {"type": "array", "items": self.columns.schema(), "maxItems": self.cap}
        return Description(
            success=(200, rows, "The rows, in their order."),
            fields=self.inputs.fields(),
            columns=self.columns.fields(),
            parameters=(*self.parameters(), *self.orders.document()),
            headers=self.cache_headers(),
            problems=self.steps.problems({**PROBLEMS, 422: ("too_many_rows",)}),
        )
