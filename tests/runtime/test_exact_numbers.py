"""Money and Decimal going out: the attribute's decimal places, whatever a platform fills up with."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from django.http import HttpRequest
from hypothesis import given
from hypothesis import strategies as st

from crmbox.demo import people
from crmbox.metadata import change
from crmclient import Value
from crmclient.metadata import ENGLISH, Attribute, AttributeType
from designer.definitions import ColumnDefinition
from designer.models import RelatedColumn, UserProperty
from designer.platform import get_platform
from runtime.context import UserContext
from runtime.http.rendering import render
from runtime.request_context import Exchange
from runtime.values.columns import Columns
from runtime.values.outputs import rounded
from tests.callers import Caller
from tests.runtime.accounts import an_account, endpoint
from tests.runtime.queries import a_query


@pytest.fixture
def new_margin(portico: None) -> None:
    """A Decimal of two places on accounts."""
    attribute = Attribute("new_margin", AttributeType.DECIMAL, precision=2)
    with change() as metadata:
        metadata.create_attributes("account", [attribute])


def _numbers(content: bytes) -> Any:
    """JSON whose fractions stay the texts that they are written as."""
    return json.loads(content, parse_float=str)


def _written(attribute: Attribute, value: Value) -> str:
    columns = Columns(
        [ColumnDefinition(attribute=attribute.logical_name)], {attribute.logical_name: attribute}
    )
    exchange = Exchange(HttpRequest(), UserContext((), get_platform()))
    content = render(columns.answer({attribute.logical_name: value}, ENGLISH, exchange)).decode()
    return content.partition(":")[2].removesuffix("}")


@given(
    st.sampled_from([AttributeType.MONEY, AttributeType.DECIMAL]),
    st.integers(0, 10).flatmap(
        lambda places: st.tuples(
            st.just(places), st.decimals(-(10**11), 10**11, places=places), st.integers(0, 10)
        )
    ),
)
def test_a_number_has_its_attributes_places_however_many_noughts_the_platform_adds(
    type_: AttributeType, given: tuple[int, Decimal, int]
) -> None:
    places, value, noughts = given
    attribute = Attribute("amount", type_, precision=places)
    with_noughts = Decimal(f"{value:.{places}f}" + ("" if places else ".") + "0" * (noughts or 1))
    for same in (value, with_noughts, value.normalize()):
        written = _written(attribute, same)
        assert Decimal(written) == value
        assert len(written.partition(".")[2]) == places


@pytest.mark.parametrize(("precision", "expected"), [(2, "99.995"), (None, "99.995"), (0, "99.995")])
def test_digits_beyond_the_precision_are_not_lost(precision: int | None, expected: str) -> None:
    attribute = Attribute("amount", AttributeType.DECIMAL, precision=precision)
    assert _written(attribute, Decimal("99.9950000000")) == expected


def test_a_decimal_is_read_queried_and_aggregated_with_its_places(rita: Caller, new_margin: None) -> None:
    account = an_account(name="Exact", new_margin=Decimal("99.9"))
    an_account(name="Exact", new_margin=Decimal("0.1"))
    an_account(name="Exact", new_margin=Decimal("0.1"))
    endpoint("read").columns.all().delete()
    endpoint("read").columns.create(attribute="new_margin")
    assert rita.get(account).content == b'{"newMargin":99.90}'
    condition = '<filter><condition attribute="name" operator="eq" value="Exact"/></filter>'
    sums = "".join(
        f'<attribute name="new_margin" alias="{function}" aggregate="{function}"/>'
        for function in ("sum", "avg", "min", "max")
    )
    path = a_query(
        "single", f'<fetch aggregate="true"><entity name="account">{sums}{condition}</entity></fetch>'
    )
    answer = rita.get(path)
    assert _numbers(answer.content) == {"sum": "100.10", "avg": "33.3667", "min": "0.10", "max": "99.90"}
    path = a_query(
        "multi",
        f'<fetch><entity name="account"><attribute name="new_margin"/>{condition}'
        '<order attribute="new_margin"/></entity></fetch>',
        name="rows",
    )
    assert [row["newMargin"] for row in _numbers(rita.get(path).content)] == ["0.10", "0.10", "99.90"]


def test_a_double_has_the_places_that_its_schema_states(rita: Caller) -> None:
    with change() as metadata:
        metadata.create_attributes("account", [Attribute("new_share", AttributeType.DOUBLE, precision=2)])
    account = an_account(name="Double", new_share=0.1)
    an_account(name="Double", new_share=0.2)
    an_account(name="Double", new_share=0.2)
    endpoint("read").columns.all().delete()
    endpoint("read").columns.create(attribute="new_share")
    assert rita.get(account).content == b'{"newShare":0.10}'
    condition = '<filter><condition attribute="name" operator="eq" value="Double"/></filter>'
    calculated = "".join(
        f'<attribute name="new_share" alias="{function}" aggregate="{function}"/>'
        for function in ("sum", "avg", "min", "max")
    )
    text = f'<fetch aggregate="true"><entity name="account">{calculated}{condition}</entity></fetch>'
    answer = _numbers(rita.get(a_query("single", text)).content)
    assert answer == {"sum": "0.50", "avg": "0.1667", "min": "0.10", "max": "0.20"}


@pytest.mark.parametrize(
    ("value", "written"),
    [(1e300, "1e+300"), (-0.125, "-0.125"), (3.0, "3.00"), (0.1 + 0.2, "0.30000000000000004")],
)
def test_a_double_loses_no_digit_that_was_stored(value: float, written: str) -> None:
    assert _written(Attribute("share", AttributeType.DOUBLE, precision=2), value) == written


def test_the_average_of_money_has_two_places_more_and_at_most_four(rita: Caller) -> None:
    for amount in ("1", "1", "0"):
        an_account(name="Mean", creditlimit=Decimal(amount), revenue=Decimal(amount))
    condition = '<filter><condition attribute="name" operator="eq" value="Mean"/></filter>'
    columns = (
        '<attribute name="creditlimit" alias="a" aggregate="avg"/>'
        '<attribute name="revenue" alias="b" aggregate="avg"/>'
        '<attribute name="creditlimit" alias="c" aggregate="sum"/>'
    )
    fetch = f'<fetch aggregate="true"><entity name="account">{columns}{condition}</entity></fetch>'
    for kind in ("single", "multi", "paginated"):
        answer = _numbers(rita.get(a_query(kind, fetch, name=f"mean-{kind}")).content)
        row = answer if kind == "single" else answer[0] if kind == "multi" else answer["data"][0]
        assert row == {"a": "0.6667", "b": "0.6667", "c": "2.00"}


@given(st.decimals(-(10**11), 10**11, allow_nan=False), st.integers(0, 10))
def test_an_average_is_rounded_to_the_nearest(value: Decimal, places: int) -> None:
    assert abs(rounded(value, places) - value) * 2 <= Decimal(1).scaleb(-places)


def test_the_users_context_writes_decimals_as_any_answer(rita: Caller) -> None:
    with change() as metadata:
        metadata.create_attributes("systemuser", [Attribute("new_rate", AttributeType.DECIMAL, precision=2)])
        metadata.create_attributes(
            "businessunit", [Attribute("new_rate", AttributeType.DECIMAL, precision=3)]
        )
    platform = get_platform()
    unit = platform.user(people.RITA_REP).business_unit_id
    platform.update("systemuser", people.RITA_REP, {"new_rate": Decimal("1.5")})
    platform.update("businessunit", unit, {"new_rate": Decimal(2)})
    UserProperty.objects.create(name="rate", kind="field", attribute="new_rate", position=90)
    owned = UserProperty.objects.create(
        name="unit", kind="related", relationship="business_unit_system_users", position=91
    )
    RelatedColumn.objects.create(user_property=owned, attribute="new_rate")
    user = _numbers(rita.get("/api/context").content)["user"]
    assert (user["rate"], user["unit"]) == ("1.50", {"newRate": "2.000"})
