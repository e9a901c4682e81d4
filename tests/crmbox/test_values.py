"""Every type's values come back as they were given, to the last digit."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmbox.engine.codecs import codec_for
from crmclient import Platform, Reference
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior
from crmclient.text import is_storable
from tests.crmbox.shop import add_category, add_product, read

MONEY = st.decimals(Decimal("-922337203685477.5807"), Decimal("922337203685477.5807"), places=4)
DECIMALS = st.decimals(Decimal(-100_000_000_000), Decimal(100_000_000_000), places=10)
TIMES = st.datetimes(timezones=st.just(dt.UTC)).filter(lambda time: time.year >= 1753)

TYPES = {
    AttributeType.STRING: st.text().filter(is_storable),
    AttributeType.INTEGER: st.integers(-(2**31), 2**31 - 1),
    AttributeType.BIGINT: st.integers(-(2**63), 2**63 - 1),
    AttributeType.DECIMAL: DECIMALS,
    AttributeType.DOUBLE: st.floats(allow_nan=False, allow_infinity=False),
    AttributeType.MONEY: MONEY,
    AttributeType.BOOLEAN: st.booleans(),
    AttributeType.DATETIME: TIMES,
    AttributeType.UNIQUEIDENTIFIER: st.uuids().map(str),
    AttributeType.MULTISELECT: st.sets(st.integers(-(2**31), 2**31 - 1), min_size=1).map(
        lambda found: tuple(sorted(found))
    ),
}


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("type", TYPES)
@given(data=st.data())
def test_what_is_encoded_decodes_to_the_same_value(type: AttributeType, database: str, data: Any) -> None:
    codec = codec_for(Attribute("x", type), database)
    value = data.draw(TYPES[type])

    assert codec.decode(codec.encode(value)) == value


@given(value=st.dates(dt.date(1753, 1, 1), dt.date(9999, 12, 30)))
def test_a_date_is_no_time(value: dt.date) -> None:
    codec = codec_for(Attribute("x", AttributeType.DATETIME, behavior=DateTimeBehavior.DATE_ONLY), "sqlite")

    assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize("type", [AttributeType.MONEY, AttributeType.DECIMAL, AttributeType.DATETIME])
@given(data=st.data())
def test_the_stored_order_is_the_order_of_values(type: AttributeType, data: Any) -> None:
    encode: Callable[[Any], Any] = codec_for(Attribute("x", type), "sqlite").encode
    first, second = data.draw(TYPES[type]), data.draw(TYPES[type])

    assert (encode(first) < encode(second)) == (first < second)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(
    values=st.fixed_dictionaries(
        {},
        optional={
            "notes": st.text(min_size=1, max_size=200).filter(is_storable),
            "quantity": st.integers(0, 1000),
            "serial": TYPES[AttributeType.BIGINT],
            "exact": DECIMALS,
            "ratio": st.floats(-1, 1),
            "price": MONEY,
            "fragile": st.booleans(),
            "soldon": TIMES,
            "madeon": st.dates(dt.date(1753, 1, 1), dt.date(9999, 12, 30)),
            "token": st.uuids().map(str),
            "colour": st.sampled_from([10, 20]),
            "size": st.sampled_from([1, 2, 3]),
            "tags": st.sampled_from([(5,), (7, 11), (5, 7, 11)]),
        },
    )
)
def test_a_record_holds_what_it_was_given(platform: Platform, values: dict[str, Any]) -> None:
    id = add_product(platform, **values)

    assert platform.retrieve("shop_product", id, list(values)).values == values


def test_the_largest_amount_survives_to_the_last_digit(platform: Platform) -> None:
    id = add_product(platform, price=Decimal("922337203685477.5807"))

    assert str(read(platform, id, "price")) == "922337203685477.5807"


def test_the_callers_decimal_context_changes_no_amount(platform: Platform) -> None:
    with decimal.localcontext(decimal.Context(prec=6)):
        id = add_product(
            platform, price=Decimal("922337203685477.5807"), exact=Decimal("12345678901.0123456789")
        )
        record = platform.retrieve("shop_product", id, ["price", "exact"])

    assert str(record.values["price"]) == "922337203685477.5807"
    assert str(record.values["exact"]) == "12345678901.0123456789"


def test_trailing_zeros_are_no_decimal_places(platform: Platform) -> None:
    id = add_product(platform, cost=Decimal("12.500000"))

    assert read(platform, id, "cost") == Decimal("12.5")


def test_a_time_in_another_zone_comes_back_in_utc(platform: Platform) -> None:
    berlin = dt.timezone(dt.timedelta(hours=1))
    id = add_product(platform, soldon=dt.datetime(2026, 3, 1, 0, 30, tzinfo=berlin))

    moment = read(platform, id, "soldon")

    assert moment == dt.datetime(2026, 2, 28, 23, 30, tzinfo=dt.UTC)
    assert isinstance(moment, dt.datetime)
    assert moment.utcoffset() == dt.timedelta(0)


def test_choices_come_back_ascending_and_once(platform: Platform) -> None:
    id = add_product(platform, tags=(11, 5, 5))

    assert read(platform, id, "tags") == (5, 11)


def test_an_empty_text_is_no_value(platform: Platform) -> None:
    id = add_product(platform, notes="", tags=())

    assert platform.retrieve("shop_product", id, ["notes", "tags"]).values == {"notes": None, "tags": None}


def test_a_guid_is_taken_in_any_form_that_people_paste(platform: Platform) -> None:
    id = add_product(platform, token="{0F0E0D0C-0B0A-4908-8706-050403020100}")

    assert read(platform, id, "token") == "0f0e0d0c-0b0a-4908-8706-050403020100"


def test_a_lookup_comes_back_with_its_records_name(platform: Platform) -> None:
    category = add_category(platform, "Lights")
    id = add_product(platform, categoryid=category, buyerid=category)

    record = platform.retrieve("shop_product", id, ["categoryid", "buyerid"])

    named = Reference("shop_category", category.id, "Lights")
    assert record.values == {"categoryid": named, "buyerid": named}


def test_a_polymorphic_lookup_says_what_it_points_at(platform: Platform) -> None:
    person = platform.create("shop_person", {"firstname": "Zoë", "lastname": "Ølund"})
    id = add_product(platform, buyerid=Reference("shop_person", person.id))

    assert read(platform, id, "buyerid") == Reference("shop_person", person.id, "Zoë Ølund")
