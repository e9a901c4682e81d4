"""Read: what a record holds, under the configured names, in one shape whatever is empty."""

from __future__ import annotations

import datetime as dt
import io
import json
import re
from decimal import Decimal
from typing import Any

import pytest
from django.http import HttpRequest
from hypothesis import given
from hypothesis import strategies as st

from crmbox.demo import people
from crmclient import Reference, Value
from crmclient.metadata import ENGLISH, Attribute, AttributeType
from designer.definitions import ColumnDefinition
from designer.models import Column, Endpoint
from designer.platform import get_platform
from runtime.context import UserContext
from runtime.http.rendering import render
from runtime.request_context import Exchange
from runtime.values.columns import Columns
from tests.callers import Caller
from tests.runtime.accounts import ACCOUNTS, NOBODY, an_account, endpoint


def _columns(*named: tuple[str, str], labels: bool = False) -> None:
    """Let the read of accounts answer with these columns."""
    row = endpoint("read")
    row.columns.all().delete()
    Column.objects.bulk_create(
        Column(endpoint=row, position=at, attribute=attribute, name=name)
        for at, (attribute, name) in enumerate(named)
    )
    Endpoint.objects.filter(pk=row.pk).update(settings={"labels": labels})


def _one(caller: Caller, attribute: str, value: Value) -> Any:
    """What is answered for one attribute that holds `value`, as Python's own parser reads it."""
    _columns((attribute, "it"))
    answer = caller.get(an_account(**{attribute: value}))
    assert answer.status_code == 200, answer.content
    return next(iter(json.loads(answer.content, parse_float=str).values()))


def test_an_account_is_answered_under_the_configured_names(rita: Caller) -> None:
    path = an_account(
        name="Müller ✈",
        telephone1="1",
        industrycode=6,
        primarycontactid=Reference("contact", people.FIRST_CONTACT),
    )
    answer = rita.get(path)
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "application/json"
    body = answer.json()
    assert list(body) == [
        *("id", "name", "accountNumber", "phone", "revenue", "industry", "industryLabel", "interests"),
        *("interestsLabel", "primaryContact", "owner", "status", "statusLabel", "createdOn", "modifiedOn"),
    ]
    assert (body["id"], body["name"], body["phone"]) == (path.rpartition("/")[2], "Müller ✈", "1")
    assert body["primaryContact"].keys() == {"id", "name"}
    assert body["primaryContact"]["id"] == people.FIRST_CONTACT
    assert body["owner"]["type"] == "systemuser"
    assert body["revenue"] is body["interests"] is body["interestsLabel"] is body["accountNumber"] is None


@pytest.mark.parametrize(
    ("attribute", "value", "shown"),
    [
        ("revenue", Decimal("922337203685477.5807"), "922337203685477.5807"),
        ("revenue", Decimal("1"), "1.0000"),
        ("revenue", Decimal("0"), "0.0000"),
        ("new_discount", Decimal("0.1"), "0.1000000000"),
        ("new_legacynumber", 2**62, 2**62),
        ("numberofemployees", 7, 7),
        ("donotemail", True, True),
        ("new_customersince", dt.date(2026, 1, 31), "2026-01-31"),
        ("new_interests", (100000003, 100000001), [100000001, 100000003]),
        ("industrycode", 6, 6),
        ("description", "two\nlines", "two\nlines"),
        ("description", None, None),
        ("primarycontactid", None, None),
        ("new_contract", None, None),
    ],
)
def test_a_value_goes_out_as_the_contract_says(
    rita: Caller, attribute: str, value: Value, shown: object
) -> None:
    assert _one(rita, attribute, value) == shown


def test_a_moment_is_in_utc_and_whole_seconds(rita: Caller) -> None:
    _columns(("createdon", ""))
    text = rita.get(an_account()).json()["createdon"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text)


def test_a_file_is_described(rita: Caller) -> None:
    path = an_account()
    get_platform().upload(
        *("account", path.rpartition("/")[2], "new_contract"),
        io.BytesIO(b"12345"),
        file_name="Vertrag.pdf",
        content_type="application/pdf",
    )
    _columns(("new_contract", "contract"))
    contract = rita.get(path).json()["contract"]
    assert contract.keys() == {"id", "fileName", "size"}
    assert (contract["fileName"], contract["size"]) == ("Vertrag.pdf", 5)


@pytest.mark.parametrize(
    ("configured", "key"),
    [
        ("", "primarycontact"),
        ("primaryContactId", "primaryContact"),
        ("Main contact", "mainContact"),
        ("main_contact_ID", "mainContact"),
        ("id", "id"),
    ],
)
def test_a_lookup_is_named_without_its_trailing_id(rita: Caller, configured: str, key: str) -> None:
    _columns(("primarycontactid", configured))
    assert list(rita.get(an_account()).json()) == [key]


@pytest.mark.parametrize(
    ("query", "interests"),
    [
        ("", ["Cloud", "Training"]),
        ("?lcid=1033", ["Cloud", "Training"]),
        ("?lcid=1031", ["Cloud", "Schulung"]),
        ("?LCID=1025", ["السحابة", "التدريب"]),
        ("?lcid=9999", ["Cloud", "Training"]),
    ],
)
def test_labels_are_in_the_callers_language(rita: Caller, query: str, interests: list[str]) -> None:
    body = rita.get(an_account(new_interests=(100000001, 100000004)) + query).json()
    assert body["interests"] == [100000001, 100000004]
    assert body["interestsLabel"] == interests


def test_each_label_is_that_of_the_local_option_set(rita: Caller) -> None:
    for option in rita.get("/sales/accounts/optionsets/industries?lcid=1025").json()[:5]:
        body = rita.get(an_account(industrycode=option["value"]) + "?lcid=1025").json()
        assert body["industryLabel"] == option["name"]


def test_lcid_is_a_whole_number_and_no_other_parameter_is_known(rita: Caller) -> None:
    path = an_account()
    assert rita.get(f"{path}?lcid=de").json()["errors"][0]["parameter"] == "lcid"
    assert rita.get(f"{path}?$select=name").status_code == 400
    _columns(("name", ""))
    assert rita.get(f"{path}?lcid=1031").status_code == 400


def test_a_tag_that_is_held_is_answered_304_until_the_record_changes(rita: Caller) -> None:
    path = an_account()
    first = rita.get(path)
    version, _, digest = first["ETag"].strip('"').partition(".")
    assert version
    assert digest
    held = rita.get(path, if_none_match=first["ETag"])
    assert (held.status_code, held.content, held["ETag"]) == (304, b"", first["ETag"])
    assert rita.get(path, if_none_match=f'"x", W/{first["ETag"]}').status_code == 304
    assert rita.get(path, if_none_match=f'"{version}"').status_code == 200
    get_platform().update("account", path.rpartition("/")[2], {"name": "Changed"})
    after = rita.get(path, if_none_match=first["ETag"])
    assert after.status_code == 200
    assert after["ETag"].strip('"').partition(".")[0] != version


def test_the_tag_tells_other_columns_apart(rita: Caller) -> None:
    path = an_account()
    before = rita.get(path)["ETag"]
    _columns(("name", ""))
    after = rita.get(path, if_none_match=before)
    assert after.status_code == 200
    assert after["ETag"].partition(".")[0] == before.partition(".")[0]


def test_head_answers_as_get_does_without_a_body(rita: Caller) -> None:
    path = an_account()
    got, head = rita.get(path), rita.request("HEAD", path)
    assert (head.status_code, head.content, head["ETag"]) == (200, b"", got["ETag"])
    assert head["Content-Length"] == str(len(got.content))


def test_what_is_not_there_differs_in_its_place_and_request_only(rita: Caller) -> None:
    unknown, nowhere = rita.get(f"{ACCOUNTS}/{NOBODY}"), rita.get("/api/sales/nothing")
    assert unknown.status_code == nowhere.status_code == 404
    bodies = [answer.json() for answer in (unknown, nowhere)]
    for body in bodies:
        del body["instance"], body["requestId"]
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("id", ["1", "nonsense", NOBODY[:-1], f"urn:uuid:{NOBODY}", "%00"])
def test_what_is_no_guid_is_400_after_the_token(rita: Caller, anonymous: Caller, id: str) -> None:
    assert rita.get(f"{ACCOUNTS}/{id}").json()["code"] == "invalid_id"
    assert anonymous.get(f"{ACCOUNTS}/{id}").status_code == 401


def test_a_guid_is_known_in_the_forms_that_people_paste(rita: Caller) -> None:
    path = an_account()
    id = path.rpartition("/")[2]
    assert rita.get(f"{ACCOUNTS}/{{{id.upper()}}}/").status_code == 200


def test_create_says_where_its_record_can_be_read(rita: Caller) -> None:
    answer = rita.post(ACCOUNTS, {"name": "Found again"})
    assert answer["Location"] == f"{ACCOUNTS}/{answer.json()['id']}"
    assert rita.get(answer["Location"]).json()["name"] == "Found again"


def test_create_says_no_place_where_nothing_is_read(rita: Caller, anonymous: Caller) -> None:
    assert "Location" not in anonymous.post("/api/sales/leads", {"topic": "T", "lastName": "L"})
    Endpoint.objects.filter(pk=endpoint("read").pk).update(enabled=False)
    assert "Location" not in rita.post(ACCOUNTS, {"name": "Not readable"})
    Endpoint.objects.filter(pk=endpoint("read").pk).update(enabled=True, segment="companies")
    answer = rita.post(ACCOUNTS, {"name": "Readable elsewhere"})
    assert "Location" not in answer
    assert rita.get(f"/api/sales/companies/{answer.json()['id']}").status_code == 200


@pytest.mark.parametrize("columns", [[], [("gone", "")], [("name", ""), ("telephone1", "Name")]])
def test_a_read_that_cannot_be_served_is_503_and_spoils_nothing_else(
    rita: Caller, columns: list[tuple[str, str]]
) -> None:
    path = an_account()
    _columns(*columns)
    answer = rita.get(path)
    assert (answer.status_code, answer.json()["code"]) == (503, "endpoint_misconfigured")
    assert rita.patch(path, {"name": "Still served"}).status_code == 204


@given(st.decimals(min_value="-922337203685477.5807", max_value="922337203685477.5807", places=4))
def test_money_keeps_every_digit(value: Decimal) -> None:
    attribute = Attribute("revenue", AttributeType.MONEY, precision=4)
    columns = Columns([ColumnDefinition(attribute="revenue")], {"revenue": attribute})
    exchange = Exchange(HttpRequest(), UserContext((), get_platform()))
    content = render(columns.answer({"revenue": value}, ENGLISH, exchange)).decode()
    digits = json.loads(content, parse_float=str)["revenue"]
    assert Decimal(digits) == value
    assert len(digits.partition(".")[2]) == 4
