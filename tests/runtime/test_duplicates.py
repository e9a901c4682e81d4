"""*Refuse duplicates*: what looks like another record is refused with 409, where an endpoint wants it."""

from __future__ import annotations

import pytest

from designer.models import Endpoint
from designer.platform import get_platform
from tests.callers import Caller
from tests.duplicate_rules import WHOLE, published
from tests.runtime.accounts import ACCOUNTS, an_account, endpoint, stored

PHONE = "+49 30 5550123"


@pytest.fixture
def ruled(portico: None) -> str:
    """An account's path: no other may have its telephone, or a contact of it the mail of another."""
    published(get_platform(), ("telephone1", WHOLE, None))
    published(get_platform(), ("emailaddress1", WHOLE, None), base="contact")
    for kind in ("create", "update"):
        Endpoint.objects.filter(pk=endpoint(kind).pk).update(settings={"refuse_duplicates": True})
    return an_account(telephone1=PHONE)


def test_a_create_that_looks_like_another_record_is_refused(ruled: str, rita: Caller) -> None:
    answer = rita.post(ACCOUNTS, {"name": "Twice", "phone": PHONE})
    assert (answer.status_code, answer.json()["code"]) == (409, "possible_duplicate")
    assert rita.post(ACCOUNTS, {"name": "Once", "phone": "+49 30 5550124"}).status_code == 200


def test_an_update_that_makes_it_so_is_refused(ruled: str, rita: Caller) -> None:
    other = an_account(telephone1="+49 30 5550124")
    answer = rita.patch(other, {"phone": PHONE})
    assert (answer.status_code, answer.json()["code"]) == (409, "possible_duplicate")
    assert stored(other, "telephone1") == "+49 30 5550124"
    assert rita.patch(ruled, {"phone": PHONE}).status_code == 204


def test_a_record_of_a_list_is_named(ruled: str, rita: Caller) -> None:
    people = [{"lastName": "Ada", "email": "ada@one.example"}, {"lastName": "Bo", "email": "bo@one.example"}]
    assert rita.post(ACCOUNTS, {"name": "One", "contacts": people}).status_code == 200
    people[0]["email"] = "ada@two.example"
    answer = rita.post(ACCOUNTS, {"name": "Two", "contacts": people})
    assert (answer.status_code, answer.json()["code"]) == (409, "possible_duplicate")
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/contacts/1"]


def test_an_endpoint_that_does_not_want_it_leaves_the_rules_alone(ruled: str, rita: Caller) -> None:
    Endpoint.objects.filter(pk=endpoint("create").pk).update(settings={})
    assert rita.post(ACCOUNTS, {"name": "Twice", "phone": PHONE}).status_code == 200


def test_a_call_that_is_repeated_with_its_key_is_no_duplicate_of_itself(ruled: str, rita: Caller) -> None:
    body = {"name": "Keyed", "phone": "+49 30 5550125"}
    first = rita.post(ACCOUNTS, body, idempotency_key="e2a9c9d2-9a5b-4a86-a7a5-0d1c6d0c3b11")
    again = rita.post(ACCOUNTS, body, idempotency_key="e2a9c9d2-9a5b-4a86-a7a5-0d1c6d0c3b11")
    assert (first.status_code, again.json()) == (200, first.json())


def test_the_document_says_so_of_the_endpoints_that_do(ruled: str, rita: Caller) -> None:
    document = rita.get("/api/openapi.json").json()

    def conflict(path: str, method: str) -> str:
        named = document["paths"][path][method]["responses"]["409"]["$ref"].rpartition("/")[2]
        return str(document["components"]["responses"][named])

    assert "possible_duplicate" in conflict(ACCOUNTS, "post")
    assert "possible_duplicate" in conflict(f"{ACCOUNTS}/{{id}}", "patch")
    assert "possible_duplicate" not in conflict("/api/sales/leads", "post")
