"""Create, from a caller's JSON to the record in the CRM."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crmbox.demo import people
from crmclient.query.ast import Column, Condition, Filter, Operator, Page, Query
from designer.models import Binding, Input
from designer.platform import get_platform
from tests.callers import Caller
from tests.runtime.accounts import endpoint, stored

ACCOUNTS = "/api/sales/accounts"
COLUMNS = ("name", "telephone1", "revenue", "industrycode", "primarycontactid", "ownerid", "createdby")


def _some_contact() -> str:
    rows = get_platform().query(Query("contact", columns=(Column("contactid"),)), Page(size=1)).rows
    return str(rows[0]["contactid"])


def _count(name: str) -> int:
    query = Query(
        "account",
        columns=(Column("accountid"),),
        filter=Filter((Condition("name", Operator.EQ, (name,)),)),
    )
    return len(get_platform().query(query).rows)


def test_a_created_account_is_in_the_crm_with_the_values_sent(rita: Caller) -> None:
    contact = _some_contact()
    body = {
        "name": "Müller & Söhne ✈",
        "phone": "+49 30 1234",
        "revenue": "922337203685477.5807",
        "industry": 6,
        "primaryContactId": contact.upper(),
    }
    answer = rita.post(ACCOUNTS, body)
    assert answer.status_code == 200, answer.content
    assert answer.json().keys() == {"id"}
    values = get_platform().retrieve("account", answer.json()["id"], COLUMNS).values
    assert values["name"] == "Müller & Söhne ✈"
    assert values["telephone1"] == "+49 30 1234"
    assert values["revenue"] == Decimal("922337203685477.5807")
    assert values["industrycode"] == 6
    assert getattr(values["primarycontactid"], "id", None) == contact


def test_people_are_created_with_their_account(rita: Caller) -> None:
    people = [
        {"lastName": "Ada", "email": "Ada@Example.com"},
        {"firstName": "Bo", "lastName": "B", "role": 1},
    ]
    id = rita.post(ACCOUNTS, {"name": "With people", "contacts": people}).json()["id"]
    query = Query(
        "contact",
        columns=tuple(Column(name) for name in ("fullname", "emailaddress1", "accountrolecode")),
        filter=Filter((Condition("parentcustomerid", Operator.EQ, (id,)),)),
    )
    rows = {row["fullname"]: row for row in get_platform().query(query).rows}
    assert rows.keys() == {"Ada", "Bo B"}
    assert rows["Ada"]["emailaddress1"] == "ada@example.com"
    assert rows["Bo B"]["accountrolecode"] == 1


def test_money_sent_as_a_json_number_loses_no_digit(rita: Caller) -> None:
    answer = rita.post(ACCOUNTS, b'{"name": "Exact", "revenue": 922337203685477.5807}')
    values = get_platform().retrieve("account", answer.json()["id"], ("revenue",)).values
    assert values["revenue"] == Decimal("922337203685477.5807")


def test_an_absent_optional_input_leaves_its_attribute_empty(rita: Caller) -> None:
    answer = rita.post(ACCOUNTS, {"name": "Only a name"})
    values = get_platform().retrieve("account", answer.json()["id"], COLUMNS).values
    assert [values[name] for name in ("telephone1", "revenue", "industrycode", "primarycontactid")] == [
        None
    ] * 4


def test_three_bad_inputs_are_named_in_one_answer(rita: Caller) -> None:
    answer = rita.post(ACCOUNTS, {"phone": 5, "revenue": "much", "industry": 999_999})
    assert answer.status_code == 400
    problem = answer.json()
    assert problem["code"] == "invalid_input"
    assert {error["pointer"]: error["code"] for error in problem["errors"]} == {
        "/name": "required",
        "/phone": "wrong_type",
        "/revenue": "wrong_type",
        "/industry": "unknown_option",
    }
    assert answer["Content-Type"] == "application/problem+json"
    assert problem["requestId"] == answer["X-Request-Id"]


@pytest.mark.parametrize("attributes", [("fax", "websiteurl"), ("websiteurl", "fax")])
def test_an_input_of_several_attributes_has_the_limits_of_all(
    rita: Caller, attributes: tuple[str, str]
) -> None:
    row = endpoint("create")
    Input.objects.create(endpoint=row, name="both", position=90)
    for position, attribute in enumerate(attributes, 90):
        Binding.objects.create(endpoint=row, attribute=attribute, value="both", position=position)
    refused = rita.post(ACCOUNTS, {"name": "A", "both": "1" * 51})
    assert refused.status_code == 400
    assert [(error["pointer"], error["code"]) for error in refused.json()["errors"]] == [
        ("/both", "too_long")
    ]
    made = rita.post(ACCOUNTS, {"name": "A", "both": "1" * 50})
    assert stored(made["Location"], "fax", "websiteurl") == dict.fromkeys(("fax", "websiteurl"), "1" * 50)


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({"name": ""}, "/name", "required"),
        ({"name": "   "}, "/name", "required"),
        ({"name": None}, "/name", "required"),
        ({"name": "x" * 161}, "/name", "too_long"),
        ({"name": "A", "phone": "1" * 51}, "/phone", "too_long"),
        ({"name": "A", "revenue": "922337203685477.5808"}, "/revenue", "out_of_range"),
        ({"name": "A", "revenue": "1.00001"}, "/revenue", "too_precise"),
        ({"name": "A", "revenue": True}, "/revenue", "wrong_type"),
        ({"name": "A", "revenue": "1e3"}, "/revenue", "wrong_type"),
        ({"name": "A", "industry": "6"}, "/industry", "wrong_type"),
        ({"name": "A", "industry": True}, "/industry", "wrong_type"),
        ({"name": "A", "primaryContactId": "nonsense"}, "/primaryContactId", "wrong_type"),
        ({"name": "A", "Name": "B"}, "/Name", "unknown_key"),
        ({"name": "A", "ownerid": people.MAX_MANAGER}, "/ownerid", "unknown_key"),
        ({"name": "A", "statecode": 1}, "/statecode", "unknown_key"),
        ({"name": "A", "__proto__": {}}, "/__proto__", "unknown_key"),
        ({"name": "A", "primarycontactid@odata.bind": "x"}, "/primarycontactid@odata.bind", "unknown_key"),
        ({"name": "A", "a/b~c": 1}, "/a~1b~0c", "unknown_key"),
        ({"name": "A\0B"}, "/name", "invalid_character"),
    ],
)
def test_a_bad_input_is_refused_with_its_pointer(
    rita: Caller, body: dict[str, object], pointer: str, code: str
) -> None:
    answer = rita.post(ACCOUNTS, body)
    assert answer.status_code == 400, answer.content
    assert (pointer, code) in [(error["pointer"], error["code"]) for error in answer.json()["errors"]]


def test_a_reference_to_no_record_is_said_of_its_input_and_nothing_is_written(rita: Caller) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    answer = rita.post(ACCOUNTS, {"name": "Half-written?", "primaryContactId": unknown})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/primaryContactId"
    assert answer.json()["errors"][0]["code"] == "unknown_target"
    assert _count("Half-written?") == 0


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b" ", 400),
        (b"[]", 400),
        (b'"text"', 400),
        (b"{", 400),
        (b'{"name": "A", "name": "B"}', 400),
        (b'{"name": "A", "revenue": NaN}', 400),
        (b'{"name": "A", "revenue": 1e400}', 400),
        (b'{"name": "A", "revenue": ' + b"9" * 100_000 + b"}", 400),
        (b'{"name": "\xff"}', 400),
        (b'{"name": "\\ud800"}', 400),
        (b'{"name": ' + b"[" * 33 + b"]" * 33 + b"}", 400),
        (b'{"name": "' + b"x" * 1_100_000 + b'"}', 413),
    ],
)
def test_a_hostile_body_is_refused_without_a_server_error(rita: Caller, body: bytes, status: int) -> None:
    answer = rita.post(ACCOUNTS, body)
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"


def test_only_json_is_read(rita: Caller) -> None:
    assert rita.post(ACCOUNTS, b"name=A", content_type="application/x-www-form-urlencoded").status_code == 415
    assert rita.post(ACCOUNTS, {"name": "A"}, content_encoding="gzip").status_code == 415
    assert rita.post(ACCOUNTS, {"name": "A"}, accept="text/html").status_code == 406


def test_a_caller_without_the_role_is_forbidden(aya: Caller) -> None:
    answer = aya.post(ACCOUNTS, {"name": "Not mine"})
    assert answer.status_code == 403
    assert answer.json()["code"] == "forbidden"
    assert _count("Not mine") == 0


def test_roles_are_judged_before_the_body(aya: Caller) -> None:
    assert aya.post(ACCOUNTS, b"{").status_code == 403


def test_without_a_token_the_answer_says_how_to_authenticate(anonymous: Caller) -> None:
    answer = anonymous.post(ACCOUNTS, {"name": "Nobody's"})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert _count("Nobody's") == 0


def test_a_web_contact_form_needs_no_token(anonymous: Caller) -> None:
    answer = anonymous.post(
        "/api/sales/leads", {"lastName": "Visitor", "company": "Curious Ltd", "topic": "Hello"}
    )
    assert answer.status_code == 200, answer.content


def test_an_invalid_token_is_refused_even_where_none_is_needed(portico: None) -> None:
    answer = Caller("not.a.token").post("/api/sales/leads", {"lastName": "Visitor"})
    assert answer.status_code == 401


def test_answers_are_private_and_vary_by_caller(rita: Caller) -> None:
    answer = rita.post(ACCOUNTS, {"name": "Headers"})
    assert answer["Cache-Control"] == "private, no-cache"
    assert "Authorization" in answer["Vary"]
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_thousands_of_unknown_keys_are_not_all_repeated(rita: Caller) -> None:
    body: dict[str, object] = {f"{number}{'x' * 500}": 1 for number in range(1_000)}
    answer = rita.post(ACCOUNTS, {"name": "A", **body})
    assert answer.status_code == 400
    assert len(answer.json()["errors"]) == 100
    assert len(answer.content) < 30_000


def test_the_token_is_judged_before_what_the_caller_accepts(portico: None) -> None:
    assert Caller("not.a.token").post(ACCOUNTS, {"name": "A"}, accept="text/html").status_code == 401
