"""Parameters of queries: texts of a query string that become typed values, or are refused by name."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crmbox.demo import people
from crmclient import Reference
from crmclient.errors import InvalidRecord
from crmclient.text import fold
from runtime.values.query_inputs import split_list
from tests.callers import Caller
from tests.runtime.accounts import an_account
from tests.runtime.queries import QUERIES, a_query, accounts, body, errors, where

FIND = f"{QUERIES}/accounts"


def found(caller: Caller, path: str) -> set[str]:
    return {row["name"] for row in body(caller, path)}


def comparing(attribute: str, operator: str, type: str, **given: Any) -> str:
    query = accounts(where(f'attribute="{attribute}" operator="{operator}" value="@it"'))
    return a_query("multi", query, {"name": "it", "type": type, **given}, cap=5000)


def test_an_optional_parameter_that_is_absent_or_empty_drops_its_condition(rita: Caller) -> None:
    everything = body(rita, FIND)["totalRecordCount"]
    assert body(rita, f"{FIND}?name=&industry=&minRevenue=")["totalRecordCount"] == everything
    some = body(rita, f"{FIND}?minRevenue=50000000")["totalRecordCount"]
    assert 0 < some < everything
    assert body(rita, f"{FIND}?minRevenue=50000000&name=a")["totalRecordCount"] < some


@pytest.mark.parametrize("query", ["", "?accountId=", "?accountid"])
def test_a_required_parameter_must_be_given(rita: Caller, query: str) -> None:
    assert errors(rita, f"{QUERIES}/account{query}") == [("accountId", "required")]


def test_names_are_matched_without_regard_to_case_and_once(rita: Caller) -> None:
    assert body(rita, f"{FIND}?MINREVENUE=1&PageSize=1")["count"] == 1
    assert errors(rita, f"{FIND}?name=a&NAME=b") == [("NAME", "repeated_parameter")]
    assert errors(rita, f"{FIND}?=a") == [("", "unknown_parameter")]


def test_everything_that_is_wrong_is_said_at_once(rita: Caller) -> None:
    path = f"{FIND}?name={'a' * 101}&industry=x&minRevenue=1,5&pageSize=0&order=x&lcid=de&owner=1"
    assert sorted(errors(rita, path)) == [
        ("industry", "wrong_type"),
        ("lcid", "wrong_type"),
        ("minRevenue", "wrong_type"),
        ("name", "too_long"),
        ("order", "not_allowed"),
        ("owner", "unknown_parameter"),
        ("pageSize", "out_of_range"),
    ]


@pytest.mark.parametrize(
    ("attribute", "operator", "type", "value", "text"),
    [
        ("name", "eq", "String", 'Comma, \\ & % "x" ]]>', None),
        ("description", "contains", "Text", "two\nlines", None),
        ("numberofemployees", "eq", "Integer", 7, None),
        ("new_legacynumber", "eq", "BigInt", 9_007_199_254_740_993, None),
        ("new_discount", "eq", "Decimal", Decimal("12.5000000001"), None),
        ("revenue", "eq", "Money", Decimal("9007199254740.9931"), None),
        ("address1_latitude", "eq", "Double", 12.25, "1.225e1"),
        ("donotemail", "eq", "Boolean", True, "TRUE"),
        ("industrycode", "eq", "OptionSet", 6, None),
        (
            "overriddencreatedon",
            "eq",
            "DateTime",
            dt.datetime(2020, 1, 31, 11, tzinfo=dt.UTC),
            "2020-01-31T12:00:00+01:00",
        ),
        ("new_customersince", "eq", "Date", dt.date(2020, 2, 29), "2020-02-29"),
        (
            "primarycontactid",
            "eq",
            "EntityReference",
            Reference("contact", people.FIRST_CONTACT),
            people.FIRST_CONTACT,
        ),
        ("new_interests", "eq", "MultiOptionSet", (100000001, 100000004), "100000004,100000001"),
    ],
)
def test_each_type_compares_exactly(
    rita: Caller, attribute: str, operator: str, type: str, value: Any, text: str | None
) -> None:
    an_account(**{"name": "The one", attribute: value} if attribute != "name" else {"name": value})
    path = comparing(attribute, operator, type)
    names = found(rita, f"{path}?it={quote(text or str(value))}")
    assert names >= {value if attribute == "name" else "The one"}
    assert len(names) < 200


@pytest.mark.parametrize(
    ("type", "text", "code"),
    [
        ("Integer", "1.0", "wrong_type"),
        ("Integer", "01", "wrong_type"),
        ("Integer", "9" * 4000, "wrong_type"),
        ("Integer", "2147483648", "out_of_range"),
        ("Integer", "١", "wrong_type"),
        ("Double", "nan", "wrong_type"),
        ("Double", "1e400", "out_of_range"),
        ("Double", "0x1", "wrong_type"),
        ("Money", "1e3", "wrong_type"),
        ("Money", "922337203685477.5808", "out_of_range"),
        ("Money", "0.00001", "too_precise"),
        ("Boolean", "1", "wrong_type"),
        ("Guid", "1", "wrong_type"),
        ("OptionSet", "x", "wrong_type"),
        ("DateTime", "2026-01-31", "wrong_type"),
        ("DateTime", "2026-01-31T12:00:00", "wrong_type"),
        ("Date", "2026-02-30", "wrong_type"),
        ("String", "%00", "invalid_character"),
    ],
)
def test_what_a_type_does_not_take_is_refused(rita: Caller, type: str, text: str, code: str) -> None:
    attribute = {
        "Integer": "numberofemployees", "Double": "address1_latitude", "Money": "revenue", "String": "name",
        "Boolean": "donotemail", "Guid": "accountid", "OptionSet": "industrycode", "DateTime": "createdon",
        "Date": "new_customersince",
    }[type]  # fmt: skip
    value = text if text.startswith("%") else quote(text)
    assert errors(rita, f"{comparing(attribute, 'eq', type)}?it={value}") == [("it", code)]


def test_limits_allowed_values_and_defaults_of_inputs_hold(rita: Caller) -> None:
    an_account(name="Defaulted", numberofemployees=3)
    path = comparing("numberofemployees", "eq", "Integer", minimum=2, maximum=5, default=3)
    assert "Defaulted" in found(rita, path)
    assert errors(rita, f"{path}?it=6") == [("it", "out_of_range")]


def test_an_option_must_be_one_of_the_attributes(rita: Caller) -> None:
    assert errors(rita, f"{FIND}?industry=4711") == [("industry", "unknown_option")]


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        ("One", {"One"}),
        ("One,Two", {"One", "Two"}),
        (r"One\,Two,Two", {"One,Two", "Two"}),
        (r"Back\\slash", {"Back\\slash"}),
    ],
)
def test_a_parameter_of_a_list_operator_takes_a_list(rita: Caller, texts: str, names: set[str]) -> None:
    for name in ("One", "Two", "One,Two", "Back\\slash"):
        an_account(name=name)
    path = comparing("name", "in", "String")
    assert found(rita, f"{path}?it={quote(texts)}") == names


@pytest.mark.parametrize(
    ("text", "code"),
    [("6,", "required"), (",", "required"), ("6,,6", "required"), ("6," * 100 + "6", "too_long")],
)
def test_a_list_has_up_to_a_hundred_items_and_none_is_empty(rita: Caller, text: str, code: str) -> None:
    assert errors(rita, f"{comparing('industrycode', 'in', 'OptionSet')}?it={text}") == [("it", code)]


@given(st.lists(st.text(min_size=1), min_size=1))
def test_any_texts_come_out_of_a_list_as_they_went_in(items: list[str]) -> None:
    text = ",".join(item.replace("\\", "\\\\").replace(",", "\\,") for item in items)
    assert split_list(text) == items


@pytest.mark.parametrize(
    ("attribute", "operator", "type", "text"),
    [
        ("createdon", "last-x-days", "Integer", "99999999"),
        ("createdon", "last-x-days", "Integer", "0"),
        ("createdon", "last-x-days", "Integer", "700000"),
        ("createdon", "on", "Date", "9999-12-31"),
        ("name", "contains", "String", "x" * 4001),
        ("numberofemployees", "eq", "BigInt", "99999999999"),
    ],
)
def test_a_value_that_its_condition_cannot_take_is_the_callers_mistake(
    rita: Caller, attribute: str, operator: str, type: str, text: str
) -> None:
    assert errors(rita, f"{comparing(attribute, operator, type)}?it={text}") == [("it", "invalid_value")]


HOSTILE = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60),
    st.sampled_from(
        [
            "' OR 1=1 --",
            '"',
            "%",
            "_",
            "[a-z]",
            "]]>",
            "<filter/>",
            "&lt;",
            "@user.email",
            "@=x",
            "\\",
            "null",
            "{0}",
        ]
    ),
)


@pytest.mark.parametrize("operator", ["eq", "contains", "begins-with", "in"])
def test_a_value_is_a_value_whatever_it_holds(rita: Caller, operator: str) -> None:
    """It finds the record that holds it, and few others: it never becomes a part of the query."""
    path = comparing("name", operator, "String")

    @settings(max_examples=60, deadline=None, database=None)
    @given(value=HOSTILE)
    def holds(value: str) -> None:
        try:
            an_account(name=value)
        except InvalidRecord:
            assume(False)
        text = value.replace("\\", "\\\\").replace(",", "\\,") if operator == "in" else value
        names = found(rita, f"{path}?it={quote(text, safe='')}")
        assert value in names
        exact = operator in {"eq", "in"}
        assert len(names) < 10 if exact else all(fold(value) in fold(name) for name in names)

    holds()


@pytest.mark.parametrize("operator", ["on", "on-or-after", "on-or-before", "eq", "ge"])
@pytest.mark.parametrize("value", ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59-05:00"])
def test_a_time_at_the_end_of_the_calendar_is_refused(
    rita: Caller, settings: Any, operator: str, value: str
) -> None:
    settings.PORTICO = {**settings.PORTICO, "CRM_TIME_ZONE": "Europe/Berlin"}
    path = comparing("createdon", operator, "DateTime")
    assert rita.get(f"{path}?it={quote(value)}").status_code == 400
