"""Calculated columns: an expression over the record that is answered, beside what callers get of it."""

from __future__ import annotations

import logging
from decimal import Decimal
from typing import Any

import pytest

from crmbox.demo import people
from crmclient import Reference
from designer.models import Column, Endpoint
from tests.callers import Caller
from tests.runtime.accounts import an_account, endpoint


def _answers_with(*columns: tuple[str, str, str]) -> Endpoint:
    """Let the read of accounts answer with these columns: attribute, name, expression."""
    row = endpoint("read")
    row.columns.all().delete()
    Column.objects.bulk_create(
        Column(endpoint=row, position=at, attribute=attribute, name=name, expression=expression)
        for at, (attribute, name, expression) in enumerate(columns)
    )
    return row


def _calculated(caller: Caller, expression: str, **values: Any) -> Any:
    _answers_with(("name", "", ""), ("", "Calculated Value", expression))
    answer = caller.get(an_account(**values))
    assert answer.status_code == 200, answer.content
    assert list(answer.json()) == ["name", "calculatedValue"]
    return answer.json()["calculatedValue"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("record.name + ' of ' + record.telephone1", "Contoso of 030"),
        ("record.telephone1", "030"),
        ("record.numberofemployees > 5", True),
        ("record.primarycontactid.id", people.FIRST_CONTACT),
        ("record.revenue", 1.5),
        ("record.revenue + ''", "1.5000"),
        ("record['name']", "Contoso"),
        ("record.map(key, key)", ["name"]),
        ("[record.name, null]", ["Contoso", None]),
        ("{'name': record.name}", {"name": "Contoso"}),
        ("user.fullName == '' ? 'nobody' : 'somebody'", "somebody"),
        ("now > record.createdon", True),
        ("'sales-rep' in user.roles", True),
        ("dateOf(record.createdon) == today()", True),
        ("mul(record.revenue, 2)", 3.0),
        ("coalesce(record.revenue, 0)", 1.5),
        ("input == {} && fetch == {}", True),
    ],
)
def test_a_calculated_column_holds_its_expressions_value(
    rita: Caller, expression: str, expected: object
) -> None:
    calculated = _calculated(
        rita,
        expression,
        name="Contoso",
        telephone1="030",
        numberofemployees=6,
        revenue=Decimal("1.5"),
        primarycontactid=Reference("contact", people.FIRST_CONTACT),
    )
    assert calculated == expected


def test_money_that_is_only_named_is_written_like_money(rita: Caller) -> None:
    _answers_with(("", "worth", "record.revenue"))
    answer = rita.get(an_account(revenue=Decimal("922337203685477.5807")))
    assert answer.content == b'{"worth":922337203685477.5807}'


def test_a_row_without_a_value_is_null_and_logged_once(
    rita: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "portico.columns"):
        assert _calculated(rita, "record.telephone1 + '!'", telephone1=None) is None
    (record,) = [record for record in caplog.records if record.name == "portico.columns"]
    assert "Calculated Value" in record.getMessage()


@pytest.mark.parametrize(
    "column",
    [
        ("", "broken", "record.name +"),
        ("", "broken", "record.nothing"),
        ("", "broken", "others.name"),
        ("", "", "record.name"),
        ("", "Name", "record.name"),
    ],
)
def test_a_column_that_cannot_be_calculated_is_503(rita: Caller, column: tuple[str, str, str]) -> None:
    _answers_with(("name", "", ""), column)
    answer = rita.get(an_account())
    assert (answer.status_code, answer.json()["code"]) == (503, "endpoint_misconfigured")


def test_the_document_promises_what_a_named_attribute_holds_and_nothing_of_the_rest(rita: Caller) -> None:
    _answers_with(
        ("", "worth", "record.revenue"), ("", "other", "record.name + '!'"), ("", "sum", "add(1, 2)")
    )
    document = rita.get("/api/openapi.json").json()
    answer = document["paths"]["/api/sales/accounts/{id}"]["get"]["responses"]["200"]
    reference = answer["content"]["application/json"]["schema"]["$ref"]
    schema = document["components"]["schemas"][reference.rpartition("/")[2]]
    assert schema["properties"]["worth"]["type"] == ["number", "null"]
    assert "type" not in schema["properties"]["other"]
    assert schema["properties"]["sum"]["type"] == ["number", "null"]
    assert schema["required"] == ["worth", "other", "sum"]


def test_days_are_those_of_the_configured_time_zone(rita: Caller, settings: Any) -> None:
    settings.PORTICO = {**settings.PORTICO, "CRM_TIME_ZONE": "Pacific/Kiritimati"}
    expression = "format('{:HH}', startOfDay(today()))"
    assert _calculated(rita, expression) == "00"


def test_a_sum_of_money_keeps_every_digit(rita: Caller) -> None:
    _answers_with(("", "total", "add(record.revenue, '0.0001')"))
    answer = rita.get(an_account(revenue=Decimal("922337203685477.5806")))
    assert answer.content == b'{"total":922337203685477.5807}'
