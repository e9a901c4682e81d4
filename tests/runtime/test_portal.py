"""The demo's portal: customers see and do what is theirs."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

import pytest

from crmbox.demo.people import (
    CLARA_CUSTOMER,
    CONNY_COLLEAGUE,
    COSMO_CONTACT,
    FIRST_ACCOUNT,
    FIRST_LINE,
    SERVICE,
)
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from crmclient.values import Reference
from designer.platform import get_platform
from tests.callers import Caller
from tests.runtime.portal import (
    CASES,
    CLARAS,
    CLARAS_FILE,
    CLOSED,
    COMPANY_CASES,
    CONNYS,
    MY_CASES,
    PORTAL,
    PROFILE,
    attach,
    files,
    report,
    titles,
)

SPECIFIED = ["id", "fullName", "email", "businessUnitId", "title", "isManager", "teamNames"]


def test_the_context_of_a_user_is_the_specified_one_and_of_a_contact_its_own(
    rita: Caller, clara: Caller, cosmo: Caller
) -> None:
    assert list(rita.get("/api/context").json()["user"]) == SPECIFIED
    company = get_platform().retrieve("account", FIRST_ACCOUNT, ["name"]).values["name"]
    mail = get_platform().retrieve("contact", CLARA_CUSTOMER, ["emailaddress1"]).values["emailaddress1"]
    assert clara.get("/api/context").json()["user"] == {
        "id": CLARA_CUSTOMER,
        "fullName": "Clara Customer",
        "email": mail,
        "company": {"id": FIRST_ACCOUNT, "name": company, "primaryContactId": CLARA_CUSTOMER},
        "managedCompanyId": FIRST_ACCOUNT,
    }
    assert cosmo.get("/api/context").json()["user"]["managedCompanyId"] is None


def test_a_profile_is_read_and_changed(clara: Caller) -> None:
    before = clara.get(f"{PORTAL}/queries/my-profile").json()
    assert (before["id"], before["fullName"]) == (CLARA_CUSTOMER, "Clara Customer")
    changed = clara.patch(f"{PROFILE}/{before['id']}", {"firstName": "Klara", "phone": None, "city": "Ulm"})
    assert changed.status_code == 204, changed.content
    after = clara.get(f"{PORTAL}/queries/my-profile").json()
    assert after == {
        **before,
        "firstName": "Klara",
        "fullName": "Klara Customer",
        "phone": None,
        "city": "Ulm",
    }


@pytest.mark.parametrize("name", ["email", "parentCustomerId", "company", "ownerId"])
def test_what_identifies_a_customer_is_not_for_the_customer_to_change(clara: Caller, name: str) -> None:
    answer = clara.patch(f"{PROFILE}/{CLARA_CUSTOMER}", {name: CLARA_CUSTOMER})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == f"/{name}"


def test_my_cases_come_page_by_page_the_latest_first(clara: Caller) -> None:
    first = clara.get(MY_CASES).json()
    assert (first["count"], first["totalRecordCount"], first["hasMoreRecords"]) == (10, 12, True)
    second = clara.get(f"{MY_CASES}?cursor={first['cursor']}").json()
    assert (second["count"], second["hasMoreRecords"]) == (2, False)
    made = [row["createdOn"] for row in first["data"] + second["data"]]
    assert made == sorted(made, reverse=True)
    assert first["data"][0]["id"] == CLARAS
    assert first["data"][0]["statusLabel"] == "In Progress"


def test_my_cases_are_narrowed_by_state_and_words(clara: Caller) -> None:
    assert clara.get(f"{MY_CASES}?state=0").json()["totalRecordCount"] == 3
    assert titles(clara.get(f"{MY_CASES}?text=MX-4471&state=1")) == ["Machine MX-4471 does not start"]


def test_a_case_that_is_reported_has_the_caller_as_its_customer(clara: Caller) -> None:
    id = report(clara, "The lamp is dark", description="Since today.", priority=1)
    read = clara.get(f"{CASES}/{id}").json()
    assert (read["title"], read["description"], read["priority"]) == ("The lamp is dark", "Since today.", 1)
    assert read["customer"] == {"type": "contact", "id": CLARA_CUSTOMER, "name": "Clara Customer"}
    columns = ("primarycontactid", "new_companyid", "caseorigincode", "ownerid")
    stored = get_platform().retrieve("incident", id, columns).values
    assert [getattr(stored[name], "id", stored[name]) for name in columns] == [
        CLARA_CUSTOMER,
        FIRST_ACCOUNT,
        3,
        FIRST_LINE,
    ]
    assert titles(clara.get(MY_CASES))[0] == "The lamp is dark"


def test_every_case_has_a_number_of_its_own(clara: Caller) -> None:
    made = [report(clara, f"Report {number}") for number in range(3)]
    numbers = [clara.get(f"{CASES}/{id}").json()["ticketNumber"] for id in made]
    today = dt.datetime.now(dt.UTC)
    days = {f"{day:%y%m%d}" for day in (today, today - dt.timedelta(days=1))}
    assert len(set(numbers)) == 3
    for number in numbers:
        match = re.fullmatch(r"CAS-(\d{6})-[A-Z0-9]{6}", number)
        assert match is not None
        assert match[1] in days


def test_a_case_has_normal_priority_unless_it_is_said(cosmo: Caller) -> None:
    assert cosmo.get(f"{CASES}/{report(cosmo)}").json()["priorityLabel"] == "Normal"


def test_what_is_wrong_is_said_at_each_field(clara: Caller) -> None:
    answer = clara.post(CASES, {"title": "", "priority": 9, "description": 5})
    assert answer.status_code == 400
    assert {error["pointer"] for error in answer.json()["errors"]} == {"/title", "/priority", "/description"}


def test_agents_see_and_answer_what_customers_report(clara: Caller, aya: Caller) -> None:
    id = report(clara, "For an agent")
    read = aya.get(f"/api/service/cases/{id}")
    assert read.status_code == 200, read.content
    assert read.json()["businessUnit"]["id"] == SERVICE
    assert titles(aya.get("/api/service/queries/cases?text=For an agent")) == ["For an agent"]
    assert aya.patch(f"/api/service/cases/{id}", {"priority": 3}).status_code == 204
    assert clara.get(f"{CASES}/{id}").json()["priorityLabel"] == "Low"


def test_a_case_is_closed_once_and_keeps_how_it_was_solved(clara: Caller) -> None:
    id = report(clara)
    closed = clara.post(f"{CASES}/{id}/actions/close", {"resolution": "It was not plugged in."})
    assert (closed.status_code, closed.json()) == (200, {"closed": True})
    assert clara.get(f"{CASES}/{id}").json()["statusLabel"] == "Problem Solved"
    about = Filter((Condition("objectid", Operator.EQ, (id,)),))
    [note] = get_platform().query(Query("annotation", (Column("notetext"),), about)).rows
    assert note["notetext"] == "It was not plugged in."
    again = clara.post(f"{CASES}/{id}/actions/close")
    assert (again.status_code, again.json()["detail"]) == (409, "This case is closed.")


def test_a_case_can_be_closed_without_a_word(clara: Caller) -> None:
    assert clara.post(f"{CASES}/{report(clara)}/actions/close").status_code == 200


def test_attachments_go_up_and_come_down(clara: Caller) -> None:
    id = report(clara)
    assert clara.get(files(id)).json() == []
    sent = attach(clara, id, "photo.txt", b"A red light.")
    assert sent.status_code == 200, sent.content
    [listed] = clara.get(files(id)).json()
    assert (listed["id"], listed["fileName"], listed["size"]) == (sent.json()["id"], "photo.txt", 12)
    got = clara.get(f"{files(id)}/{listed['id']}", accept="*/*")
    assert b"".join(got.streaming_content if got.streaming else [got.content]) == b"A red light."
    assert "photo.txt" in got["Content-Disposition"]


def test_agents_see_the_attachments_of_customers(aya: Caller, clara: Caller) -> None:
    assert clara.get(files(CLARAS)).json()[0]["id"] == CLARAS_FILE
    assert aya.get(f"/api/service/cases/{CLARAS}/files/notes").json()[0]["fileName"] == "night-shift.txt"


def test_nothing_is_attached_to_a_closed_case(clara: Caller) -> None:
    assert attach(clara, CLOSED).status_code == 409
    assert attach(clara, CLARAS, "tool.exe", b"MZ").status_code == 415


def test_the_primary_contact_sees_the_cases_of_the_company(clara: Caller, cosmo: Caller) -> None:
    rows = clara.get(COMPANY_CASES).json()
    customers = {row["customer"]["id"] for row in rows}
    assert {CLARA_CUSTOMER, CONNY_COLLEAGUE, FIRST_ACCOUNT} <= customers
    assert len(rows) > clara.get(MY_CASES).json()["totalRecordCount"]
    assert cosmo.get(COMPANY_CASES).json() == []
    colleague = next(row for row in rows if row["id"] == CONNYS)
    assert colleague["statusLabel"] == "In Progress"


def test_a_colleagues_case_is_for_the_primary_contact_to_read_and_not_to_act_on(clara: Caller) -> None:
    assert clara.get(f"{CASES}/{CONNYS}").json()["customer"]["name"] == "Conny Colleague"
    assert clara.get(files(CONNYS)).json() == []
    assert clara.post(f"{CASES}/{CONNYS}/actions/close").status_code == 404
    assert attach(clara, CONNYS).status_code == 404


def test_who_is_no_longer_the_primary_contact_loses_the_companys_cases(
    clara: Caller, a_minute_later: Callable[[], None]
) -> None:
    assert clara.get(f"{CASES}/{CONNYS}").status_code == 200
    get_platform().update(
        "account", FIRST_ACCOUNT, {"primarycontactid": Reference("contact", CONNY_COLLEAGUE)}
    )
    a_minute_later()
    assert clara.get(f"{CASES}/{CONNYS}").status_code == 404
    assert clara.get(COMPANY_CASES).json() == []
    assert clara.get(f"{CASES}/{CLARAS}").status_code == 200


def test_articles_are_for_anyone_and_only_those_that_are_published(anonymous: Caller, clara: Caller) -> None:
    rows = anonymous.get(f"{PORTAL}/queries/articles").json()
    assert [row["number"] for row in rows] == [f"KA-{number:05d}" for number in (6, 5, 4, 3, 2, 1)]
    assert rows[-1]["content"].startswith("<p>The quickest way is a case in this portal.")
    assert clara.get(f"{PORTAL}/queries/articles").json() == rows
    assert titles(anonymous.get(f"{PORTAL}/queries/articles?text=password")) == ["Reset your password"]


def test_a_customer_whose_contact_is_inactive_is_refused(
    cosmo: Caller, a_minute_later: Callable[[], None]
) -> None:
    assert cosmo.get(MY_CASES).status_code == 200
    get_platform().update("contact", COSMO_CONTACT, {"statuscode": 2})
    a_minute_later()
    refused = cosmo.get(MY_CASES)
    assert (refused.status_code, refused.json()["code"]) == (403, "no_record")


def test_the_portal_speaks_german_to_who_asks_for_it(clara: Caller) -> None:
    close = f"{CASES}/{CLOSED}/actions/close"
    for language, closed, report_a_case in (
        ("", "This case is closed.", "Report a case"),
        ("?lcid=1031", "Diese Anfrage ist geschlossen.", "Anfrage melden"),
    ):
        refused = clara.post(f"{close}{language}", {})
        assert (refused.status_code, refused.json()["detail"]) == (409, closed)
        described = clara.get(f"/api/schema{language}").json()["entities"]
        entities = {entity["name"]: entity for entity in described}
        assert entities["portal.cases"]["operations"]["create"]["title"] == report_a_case
