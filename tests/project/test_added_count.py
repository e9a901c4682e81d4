"""A built-in kind that reaches all records of its entity: *Count records*, for these tests.

The path names no record, and nobody designs a query: `reaches_records` says what the kind reaches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from crmclient import Platform
from crmclient.query.ast import Aggregate, Column, Query
from designer.access_control.caller_rights import CallerFacts, reach_of
from designer.configuration import Endpoint as Configured
from designer.endpoint_facts.answer_sharing import sharing
from designer.kinds import OperationKind, Scope
from designer.kinds.operation_kind import STEPS
from designer.kinds.settings import CachedSettings
from designer.loading import latest, load
from designer.models import Endpoint, ExposedEntity, Module
from designer.platform import get_platform
from designer.readiness import Checker, Metadata
from runtime.http.query_string import read_parameters
from runtime.http.rendering import json_response
from runtime.operations import Description, Operation
from runtime.request_context import Exchange
from runtime.steps import Steps, rule_of_query
from tests.added_kinds import accounts, built_in, created, endpoint_of
from tests.callers import Caller
from tests.designer.studio import change_url, errors, filled, page, send
from tests.row_rules import ruled

NAME = "tested-count"
PATH = "/api/sales/accounts/tested-count"
CALLED_COUNTED = '<filter><condition attribute="name" operator="like" value="Counted%"/></filter>'
MINE = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'
BERLIN = '<filter><condition attribute="address1_city" operator="eq" value="Berlin"/></filter>'
COUNT_SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


class CountSettings(CachedSettings):
    reaches_records: ClassVar[bool] = True


COUNT = OperationKind(
    name=NAME,
    label="Count records",
    summary="Counts the records that the caller reaches.",
    scope=Scope.ENTITY,
    methods=("GET",),
    path="/api/{module}/{segment}/tested-count",
    settings=CountSettings,
    sections=STEPS,
)


class CountOperation(Operation):
    kind: ClassVar[str] = NAME

    def __init__(self, endpoint: Configured, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        self.counted = self.require_entity()
        self.primary_id = platform.entities()[self.counted].primary_id
        self.rule = rule_of_query(endpoint, self.counted, platform)
        self.steps = Steps(endpoint, platform, fetched=self.rule.needs.fetchers if self.rule else ())

    def run(self, exchange: Exchange) -> HttpResponse:
        read_parameters(exchange.request, ())
        self.steps.run(exchange)
        column = Column(self.primary_id, "count", Aggregate.COUNT)
        query = Query(self.counted, (column,), self.rule.filter(exchange) if self.rule else None)
        (row,) = self.platform.query(query, call=exchange.call).rows
        return json_response({"count": row["count"]})

    def describe(self) -> Description:
        return Description(
            success=(200, COUNT_SCHEMA, "How many there are."),
            problems=self.steps.problems({400: ("invalid_parameter",)}),
            headers=self.cache_headers(),
        )


@pytest.fixture(autouse=True)
def kind(portico: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with built_in(COUNT, CountOperation, monkeypatch):
        yield


@pytest.fixture
def count() -> Endpoint:
    """It counts the accounts whose names begin with Counted, by a row rule of its own."""
    return endpoint_of(COUNT, row_rule=CALLED_COUNTED)


def exposed_again(module: str) -> ExposedEntity:
    again: ExposedEntity = ExposedEntity.objects.create(
        module=Module.objects.get(segment=module), segment="more-accounts", entity="account"
    )
    return again


def counted(caller: Caller) -> int:
    answer = caller.get(PATH)
    assert answer.status_code == 200, answer.content
    return int(answer.json()["count"])


def configured(row: Endpoint) -> Configured:
    return latest().endpoints[row.pk]


def findings(row: Endpoint) -> dict[str, str]:
    checker = Checker(load(), Metadata(get_platform()))
    return {found.rule: found.field for found in checker.endpoint(row.pk)}


def test_its_own_row_rule_is_on_its_page_and_applies(dora: Client, rita: Caller, count: Endpoint) -> None:
    created(rita, name="Counted Ltd.")
    assert counted(rita) == 1
    data = filled(page(dora, change_url(count)))
    assert data["row_rule"]
    saved = send(dora, change_url(count), {**data, "row_rule": "", "enabled": "on"})
    assert saved.status_code == 302, errors(saved)
    assert counted(rita) > 1


def test_readiness_judges_its_row_rules(count: Endpoint) -> None:
    assert findings(count) == {}
    ruled(accounts(), '<filter><condition attribute="gone" operator="not-null"/></filter>')
    assert findings(count) == {"row-rule": "entity.row_rule.0"}


def test_a_write_ends_its_cached_answers(rita: Caller, count: Endpoint) -> None:
    count.settings = {"cache": {"seconds": 60}}
    count.save()
    assert Caller().get("/optionsets/priorities").status_code == 200
    assert counted(rita) == 0
    created(rita, name="Counted Ltd.")
    assert counted(rita) == 1


def test_the_row_rules_of_each_exposure_in_its_module_apply(rita: Caller, count: Endpoint) -> None:
    created(rita, name="Counted Ltd.")
    assert not sharing(configured(count)).is_by_caller
    again = exposed_again("sales")
    ruled(again, MINE)
    assert counted(rita) == 0
    # Rita and Max get answers of their own, and the studio says what they reach.
    assert sharing(configured(count)).is_by_caller
    reached = reach_of(CallerFacts.of_column("sales-rep"), configured(count))
    assert {(reach.exposed.segment, reach.is_open) for reach in reached} == {
        ("accounts", True),
        ("more-accounts", False),
    }


def test_what_anybody_counts_is_warned_of(count: Endpoint) -> None:
    Endpoint.objects.filter(pk=count.pk).update(row_rule="", authentication_required=False)
    count.roles.clear()
    assert findings(count) == {"anonymous-read": "authentication_required"}
    ruled(accounts(), BERLIN)
    assert findings(count) == {}


def test_what_another_module_hides_is_warned_of(count: Endpoint) -> None:
    Endpoint.objects.filter(pk=count.pk).update(row_rule="")
    ruled(exposed_again("service"), BERLIN)
    assert findings(count) == {"row-rule-not-applied": "row_rule"}


def test_a_dry_run_sends_no_query(dora: Client, count: Endpoint) -> None:
    url = reverse("admin:designer_endpoint_try", args=[count.pk])
    form: dict[str, Any] = {"caller": "token", "roles": ["sales-rep"], "user": "", "mode": "dry"}
    form["_call"] = page(dora, url).context["token"]
    outcome = dora.post(url, form, follow=True).context["outcome"]
    # No record is in the path: the row rule says which are counted.
    steps = {step.title: step.verdict for step in outcome.steps}
    assert (steps["Row rule"], "Record" in steps) == ("passed", False)
    # Its own requests are shown, and not sent.
    assert [(call.operation, call.sent) for call in outcome.calls] == [("query", False)]
