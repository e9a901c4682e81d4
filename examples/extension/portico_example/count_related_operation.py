"""Count related: `GET /api/{module}/{segment}/{id}/counts/{name}` → 200 `{"count": 3}`."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse

from crmclient import Platform
from crmclient.query.ast import Aggregate, Column, Condition, Operator, Query
from designer.configuration import Endpoint
from portico_example.count_related import CountRelatedSettings
from runtime.http.failures import Misconfigured
from runtime.http.query_string import read_parameters
from runtime.http.rendering import json_response
from runtime.operations import Description, Operation
from runtime.request_context import Exchange
from runtime.steps import Steps, both, rule_of_entity

_SCHEMA = {
    "type": "object",
    "properties": {"count": {"type": "integer", "minimum": 0}},
    "required": ["count"],
    "additionalProperties": False,
}


class CountRelatedOperation(Operation):
    kind: ClassVar[str] = "count-related"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        entity, name = self.require_entity(), self.settings(CountRelatedSettings).relationship
        related = {relationship.name: relationship for relationship in platform.relationships(entity)}.get(
            name
        )
        if related is None or related.referencing_attribute is None or related.referenced != entity:
            raise Misconfigured(f"{name} is not a one-to-many relationship of {entity}")
        self.counted, self.lookup = related.referencing, related.referencing_attribute
        self.primary_id = platform.entities()[self.counted].primary_id
        # Callers count only what they may reach, so the row rules of the counted entity hold here, too.
        self.rule = rule_of_entity(endpoint, self.counted, platform)
        self.steps = Steps(endpoint, platform, fetched=self.rule.needs.fetchers if self.rule else ())

    def run(self, exchange: Exchange) -> HttpResponse:
        read_parameters(exchange.request, ())
        # It raises RecordNotFound for a record that is not there, or outside of the row rule.
        record = self.steps.read(exchange)
        belongs = Condition(self.lookup, Operator.EQ, (record.id,))
        query = Query(
            self.counted,
            columns=(Column(self.primary_id, "count", Aggregate.COUNT),),
            filter=both(belongs, self.rule.filter(exchange) if self.rule else None),
        )
        (row,) = self.platform.query(query, call=exchange.call).rows
        return json_response({"count": row["count"]})

    def describe(self) -> Description:
        return Description(
            success=(200, _SCHEMA, "How many there are."),
            problems=self.steps.problems({400: ("invalid_id", "invalid_parameter")}),
        )
