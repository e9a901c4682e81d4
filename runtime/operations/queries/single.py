"""Single query: 200 object, 204 where nothing is found; of several rows, the first in the query's order."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from django.http import HttpResponse

from runtime.http.rendering import json_response
from runtime.operations.base import Description
from runtime.operations.queries.base import PROBLEMS, QueryOperation
from runtime.request_context import Exchange


class SingleQueryOperation(QueryOperation):
    kind: ClassVar[str] = "single-query"

    def run(self, exchange: Exchange) -> HttpResponse:
        """Answer the first row, or 204 without any."""
        parameters = self.read_parameters(exchange)
        parameters.finish()
        query = replace(self.query(exchange, self.default_orders), top=1)
        rows = self.ask(query, exchange).rows
        if not rows:
            return HttpResponse(status=204)
        return json_response(self.answers(rows[:1], parameters, exchange)[0])

    def describe(self) -> Description:
        return Description(
            success=(200, self.columns.schema(), "The row, the first where there are several."),
            fields=self.inputs.fields(),
            columns=self.columns.fields(),
            parameters=self.parameters(),
            headers=self.cache_headers(),
            empty="Nothing is found.",
            problems=self.steps.problems(PROBLEMS),
        )
