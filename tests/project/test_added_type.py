"""A built-in type needs its module alone: *Month*, for these tests."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from crmclient.metadata import AttributeType
from crmclient.query.ast import Operator
from designer.documents.schema import document_schema
from designer.loading import load
from designer.models import Binding, Endpoint, Input
from designer.platform import get_platform
from designer.readiness import Checker, Metadata
from designer.types import TYPES, InputType, InvalidInput, Limits, Reader
from runtime.serving.served import current
from tests.callers import Caller
from tests.runtime.queries import a_query, accounts, body, errors, where

NAME = "TestedMonth"
DAYS, INSTANTS = "new_customersince", "overriddencreatedon"


@dataclass(frozen=True, slots=True)
class MonthType(InputType):
    """A month of a year. Its value is the first day."""

    name: str = NAME
    label: str = "Month"
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.DATETIME})
    constraints: frozenset[str] = frozenset()
    sample: ClassVar[Any] = dt.date(2026, 11, 1)

    def is_natural_for(self, attribute: Any) -> bool:
        return False

    def compile(self, limits: Limits) -> Reader:
        def read(raw: Any) -> dt.date:
            if type(raw) is not str or not re.fullmatch(r"20[0-9]{2}-(0[1-9]|1[0-2])", raw):
                raise InvalidInput("wrong_type", "Must be a month: 2026-11.")
            return dt.date.fromisoformat(f"{raw}-01")

        return read

    def schema(self, limits: Limits) -> dict[str, Any]:
        return {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])$", "examples": ["2026-11"]}


MONTH = MonthType()


@pytest.fixture(autouse=True)
def month(portico: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(TYPES, NAME, MONTH)
    yield
    # What this process serves must name no type that goes now.
    Input.objects.filter(type=NAME).delete()
    Endpoint.objects.filter(name="tested").delete()
    current()


@pytest.fixture
def create() -> Endpoint:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts", entity__module__segment="sales")
    Input.objects.create(endpoint=row, name="since", type=NAME, position=50)
    Binding.objects.create(endpoint=row, attribute=DAYS, value="since", position=50)
    return row


def findings(row: Endpoint) -> dict[str, str]:
    return {found.rule: found.field for found in Checker(load(), Metadata(get_platform())).endpoint(row.pk)}


def test_days_take_its_values_and_instants_do_not(create: Endpoint) -> None:
    assert findings(create) == {}
    Binding.objects.filter(endpoint=create, attribute=DAYS).update(attribute=INSTANTS)
    assert findings(create) == {"binding-types": "inputs.since.type"}


def test_it_is_proposed_for_no_condition_before_the_type_of_the_attribute() -> None:
    attributes = get_platform().attributes("account")
    ranks = [MONTH.rank(Operator.EQ, attributes[name]) for name in (DAYS, INSTANTS, "name")]
    assert ranks == [1, None, None]


def test_a_month_is_written_and_asked_for(rita: Caller, create: Endpoint) -> None:
    answer = rita.post("/api/sales/accounts", {"name": "Monthly", "since": "2026-11"})
    assert answer.status_code == 200, answer.content
    kept = get_platform().retrieve("account", answer.json()["id"], [DAYS]).values
    assert kept == {DAYS: dt.date(2026, 11, 1)}
    query = accounts(where(f'attribute="{DAYS}" operator="eq" value="@since"'))
    path = a_query("multi", query, {"name": "since", "type": NAME, "required": True})
    assert "Monthly" in {row["name"] for row in body(rita, f"{path}?since=2026-11")}
    assert errors(rita, f"{path}?since=2026-11-01") == [("since", "wrong_type")]


def test_an_example_of_it_is_that_of_its_schema(rita: Caller, create: Endpoint) -> None:
    described = rita.get("/api/openapi.json").json()["paths"]["/api/sales/accounts"]["post"]["requestBody"]
    assert described["content"]["application/json"]["example"]["since"] == "2026-11"


def test_the_schema_of_documents_names_it() -> None:
    schema = document_schema()["$defs"]["InputDefinition"]["properties"]["type"]
    assert schema["default"] == "String"
    assert NAME in schema["enum"]
