"""Numbers beyond 64 bits that a designer types: documents and pages have them with all their digits."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import yaml
from django.test import Client

from crmbox.metadata import change
from crmclient.metadata import Attribute, AttributeType
from designer.models import Binding, Input
from tests.callers import Caller
from tests.designer.studio import change_url, page
from tests.runtime.accounts import endpoint

HUGE = 10**20 + 1


@pytest.fixture
def ratio(portico: None) -> Input:
    """An input of the create endpoint of accounts, bound to a floating-point attribute."""
    with change() as metadata:
        metadata.create_attributes("account", [Attribute("new_ratio", AttributeType.DOUBLE)])
    row = endpoint("create")
    Binding.objects.create(endpoint=row, attribute="new_ratio", value="ratio")
    return Input.objects.create(endpoint=row, name="ratio", type="Double")


@pytest.mark.parametrize("path", ["openapi.json", "openapi.json?version=3.0", "openapi.yaml", "schema"])
def test_a_limit_beyond_64_bits_is_described_with_all_its_digits(
    max: Caller, ratio: Input, path: str
) -> None:
    Input.objects.filter(pk=ratio.pk).update(minimum=Decimal(-HUGE), maximum=Decimal(HUGE))
    answer = max.get(f"/api/{path}")
    assert answer.status_code == 200, answer.content
    assert answer.content.decode().count(str(HUGE)) >= 2


@pytest.mark.parametrize(
    "values",
    [
        {"minimum": Decimal(-HUGE), "maximum": Decimal(HUGE)},
        {"default": HUGE},
        {"allowed": [HUGE, 1]},
        {"type": "Integer", "minimum": Decimal(HUGE)},
        {"type": "OptionSet", "allowed": [HUGE, 1]},
        {"type": "OptionSet", "default": HUGE},
    ],
    ids=str,
)
def test_a_number_beyond_64_bits_stands_on_the_page(
    dora: Client, ratio: Input, values: dict[str, Any]
) -> None:
    Input.objects.filter(pk=ratio.pk).update(**values)
    assert str(HUGE) in page(dora, change_url(ratio.endpoint)).content.decode()


@pytest.mark.parametrize("path", ["openapi.json", "schema"])
@pytest.mark.parametrize(
    "values", [{"default": HUGE}, {"allowed": [HUGE, 1]}, {"type": "OptionSet", "default": HUGE}], ids=str
)
def test_a_value_beyond_64_bits_keeps_nobody_from_the_documents(
    max: Caller, ratio: Input, values: dict[str, Any], path: str
) -> None:
    Input.objects.filter(pk=ratio.pk).update(**values)
    assert max.get(f"/api/{path}").status_code == 200


def test_a_constant_beyond_64_bits_keeps_nobody_from_the_documents(max: Caller, ratio: Input) -> None:
    Binding.objects.create(
        endpoint=ratio.endpoint, attribute="numberofemployees", source="constant", value=str(HUGE)
    )
    answer = max.get("/api/openapi.json")
    assert answer.status_code == 200
    assert "/api/sales/accounts/{id}" in answer.json()["paths"]


def test_yaml_has_money_with_all_its_digits(max: Caller) -> None:
    document = yaml.load(max.get("/api/openapi.yaml").content, Loader=yaml.BaseLoader)
    revenue = document["components"]["schemas"]["create.sales.accounts.input"]["properties"]["revenue"]
    assert revenue["maximum"] == "922337203685477.5807"


# PostgreSQL keeps no longer one.
@pytest.mark.parametrize("length", [2**30, pytest.param(2**62, marks=pytest.mark.sqlite)])
def test_no_sample_fills_the_memory_because_a_long_text_is_required(
    max: Caller, dora: Client, ratio: Input, length: int
) -> None:
    row = ratio.endpoint
    Input.objects.filter(endpoint=row, name="name").update(min_length=length, max_length=length)
    assert len(page(dora, change_url(row)).content) < 2_000_000
    assert len(max.get("/api/openapi.json").content) < 2_000_000
