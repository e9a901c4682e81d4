from __future__ import annotations

import uuid

import pytest

from crmbox.demo.people import FIRST_ACCOUNT, RITA_REP
from tests.webapi.batches import answers, change_set, request, send
from tests.webapi.crm import Crm

MISSING = "accounts(00000000-0000-4000-8000-0000000000ff)"
NAME = f"accounts({FIRST_ACCOUNT})?$select=name"


@pytest.mark.parametrize("line", ["\r\n", "\n"])
@pytest.mark.parametrize(
    "url", [NAME, "/api/data/v9.2/" + NAME, "/contoso/api/data/v9.2/" + NAME, "{base}" + NAME]
)
def test_urls_and_line_ends_have_every_form(crm: Crm, url: str, line: str) -> None:
    response = send(crm, request("GET", url.format(base=crm.base), line=line), line=line)
    [answer] = answers(response)
    assert (response.status_code, answer.status, answer.reason) == (200, 200, "OK")
    assert answer.body["accountid"] == FIRST_ACCOUNT


@pytest.mark.parametrize(
    "content_type",
    [
        'multipart/mixed;boundary="batch_1"',
        "multipart/mixed;boundary=batch_1",
        'multipart/mixed; boundary="batch_1"',
    ],
)
def test_a_boundary_may_be_quoted(crm: Crm, content_type: str) -> None:
    assert len(answers(send(crm, request("GET", NAME), content_type=content_type))) == 1


def test_a_url_may_hold_blanks_and_text_may_come_first(crm: Crm) -> None:
    url = f"{crm.base}accounts?$select=name&$filter=accountnumber eq 'A-00001'"
    body = "This is a batch.\r\n--batch_1\r\n" + request("GET", url) + "\r\n--batch_1--"
    headers = {"Content-Type": "multipart/mixed; boundary=batch_1"}
    [answer] = answers(crm.send("POST", "$batch", data=body, headers=headers))
    assert [row["accountid"] for row in answer.body["value"]] == [FIRST_ACCOUNT]


def test_a_change_set_refers_to_what_it_has_made(crm: Crm) -> None:
    parts = change_set(
        request("POST", "accounts", {"name": "Batch"}, id="1"),
        request("POST", "contacts", {"lastname": "B", "parentcustomerid_account@odata.bind": "$1"}, id="2"),
        request("PATCH", "$1", {"name": "Batched"}, id="3"),
        request("PUT", "$1/primarycontactid/$ref", {"@odata.id": "$2"}, id="4"),
        request("POST", "$1/contact_customer_accounts", {"lastname": "C"}, id="5"),
    )
    response = send(crm, parts)
    responses = answers(response)
    assert [answer.status for answer in responses] == [204] * 5
    assert [answer.content_id for answer in responses] == ["1", "2", "3", "4", "5"]
    account = responses[0].headers["OData-EntityId"]
    record = crm.get(account)
    assert record["name"] == "Batched"
    assert f"contacts({record['_primarycontactid_value']})" in responses[1].headers["OData-EntityId"]
    assert crm.get(f"{account}/contact_customer_accounts/$count", headers={}) == 2


def test_a_change_set_succeeds_or_fails_as_a_whole(crm: Crm) -> None:
    id = str(uuid.uuid4())
    parts = change_set(
        request("POST", "accounts", {"accountid": id, "name": "Gone"}, id="a"),
        request("PATCH", MISSING, {"name": "x"}, id="b", **{"If-Match": "*"}),
        request("POST", "accounts", {"name": "Never"}, id="c"),
    )
    response = send(crm, parts, request("GET", NAME))
    [answer] = answers(response)
    assert (response.status_code, answer.status, answer.content_id) == (400, 404, "b")
    assert answer.body["error"]["code"] == "0x80040217"
    assert crm.error("GET", f"accounts({id})")[0] == 404


def test_the_first_error_ends_a_batch(crm: Crm) -> None:
    bad = request("POST", "accounts", {"nme": "x"})
    response = send(crm, request("GET", NAME), bad, request("GET", NAME))
    assert response.status_code == 400
    assert [answer.status for answer in answers(response)] == [200, 400]


def test_a_batch_goes_on_after_errors_when_that_is_preferred(crm: Crm) -> None:
    parts = (request("GET", MISSING), change_set(request("DELETE", MISSING, id="1")), request("GET", NAME))
    response = send(crm, *parts, Prefer="odata.continue-on-error")
    assert response.status_code == 200
    assert [answer.status for answer in answers(response)] == [404, 404, 200]


def test_what_was_never_made_cannot_be_referred_to(crm: Crm) -> None:
    [answer] = answers(send(crm, change_set(request("PATCH", "$7", {"name": "x"}, id="1"))))
    assert answer.status == 400
    assert "'$7' does not exist" in answer.body["error"]["message"]


def test_a_change_set_only_changes(crm: Crm) -> None:
    [answer] = answers(send(crm, change_set(request("GET", NAME))))
    assert answer.status == 400


def test_parts_have_preferences_of_their_own_and_the_callers_rights(crm: Crm) -> None:
    part = request("POST", "accounts?$select=_createdby_value", {"name": "x"}, Prefer="return=representation")
    [answer] = answers(send(crm.acting_as(MSCRMCallerID=RITA_REP), part))
    assert (answer.status, answer.body["_createdby_value"]) == (201, RITA_REP)


def test_a_long_url_goes_through_a_batch(crm: Crm) -> None:
    url = f"{NAME}&{'x' * 40_000}=1".replace("&x", "&@x")
    assert crm.send("GET", url).status_code == 414
    assert answers(send(crm, request("GET", url)))[0].status == 200


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", "{}"),
        ("multipart/mixed", ""),
        ("multipart/mixed; boundary=b", ""),
        ("multipart/mixed; boundary=b", "--b\r\nContent-Type: application/http\r\n\r\nGET x HTTP/1.1\r\n"),
        ("multipart/mixed; boundary=b", "--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b--"),
        ("multipart/mixed; boundary=b", "--b\r\nContent-Type: application/http\r\n\r\nhello\r\n--b--"),
        (
            "multipart/mixed; boundary=b",
            b"--b\r\nContent-Type: application/http\r\n\r\nGET \xff HTTP/1.1\r\n--b--",
        ),
    ],
)
def test_what_is_no_batch_is_refused(crm: Crm, content_type: str, body: str | bytes) -> None:
    assert crm.error("POST", "$batch", data=body, headers={"Content-Type": content_type})[0] == 400


def test_a_batch_has_at_most_a_thousand_requests(crm: Crm) -> None:
    headers = {"Content-Type": "multipart/mixed; boundary=batch_1"}
    body = "".join(f"--batch_1\r\n{request('GET', 'WhoAmI')}\r\n" for _ in range(1001)) + "--batch_1--"
    assert crm.error("POST", "$batch", data=body, headers=headers)[0] == 400
