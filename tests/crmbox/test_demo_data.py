"""The demo: what documents name is there, and the rest is what a CRM looks like."""

from __future__ import annotations

import datetime as dt
import io
from collections import Counter
from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.db import transaction
from pytest_django import DjangoDbBlocker

from crmbox.demo import people
from crmbox.demo.load import is_wanted, load, script
from crmbox.demo.people import stable_id
from crmbox.platform import EmbeddedPlatform
from crmclient.errors import DuplicateKey, Refused, StateConflict
from crmclient.platform import Call, Create
from crmclient.query.ast import Aggregate, Column, Condition, Filter, Operator, Page, Query
from crmclient.values import Reference

pytestmark = pytest.mark.django_db

LANGUAGES = (1033, 1025, 1036, 1031, 1034, 2052, 1041)


@pytest.fixture(scope="module")
def crm(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[EmbeddedPlatform]:
    with django_db_blocker.unblock(), transaction.atomic():
        if is_wanted():
            load(lambda *_: None)
        yield EmbeddedPlatform()
        transaction.set_rollback(True)


def count(crm: EmbeddedPlatform, entity: str, *conditions: Condition) -> int:
    rows = Query(
        entity, (Column(crm.entities()[entity].primary_id, "n", Aggregate.COUNT),), Filter(conditions)
    )
    return int(str(crm.query(rows).rows[0]["n"]))


def test_there_is_as_much_as_promised(crm: EmbeddedPlatform) -> None:
    counted = {
        entity: count(crm, entity) for entity in ("account", "contact", "lead", "opportunity", "incident")
    }
    assert counted == {"account": 200, "contact": 1000, "lead": 150, "opportunity": 250, "incident": 318}
    assert count(crm, "annotation") == 202
    assert count(crm, "knowledgearticle") == 8
    assert count(crm, "team") == 6
    # The service's own user is one more.
    assert count(crm, "systemuser") == 26


def test_the_named_people_stand_where_documents_say(crm: EmbeddedPlatform) -> None:
    rita = crm.user(people.RITA_REP)
    assert (rita.full_name, rita.business_unit_id) == ("Rita Rep", people.SALES_NORTH)
    assert sorted(rita.team_names) == ["Key Accounts", "North Field"]
    assert rita.security_roles == ("Salesperson",)
    manager = crm.retrieve("systemuser", people.RITA_REP, ["parentsystemuserid"]).values["parentsystemuserid"]
    assert manager == Reference("systemuser", people.MAX_MANAGER, "Max Manager")
    assert crm.user(people.AYA_AGENT).business_unit_id == people.SERVICE
    assert crm.user(people.GONE_GREGOR).disabled
    assert not crm.user(people.PORTAL_SERVICE).disabled


def test_the_named_customers_stand_where_documents_say(crm: EmbeddedPlatform) -> None:
    columns = ["fullname", "parentcustomerid"]
    clara = crm.retrieve("contact", people.CLARA_CUSTOMER, columns).values
    conny = crm.retrieve("contact", people.CONNY_COLLEAGUE, columns).values
    cosmo = crm.retrieve("contact", people.COSMO_CONTACT, columns).values
    assert [row["fullname"] for row in (clara, conny, cosmo)] == [
        "Clara Customer",
        "Conny Colleague",
        "Cosmo Contact",
    ]
    companies = [row["parentcustomerid"] for row in (clara, conny, cosmo)]
    assert [company.id for company in companies if isinstance(company, Reference)] == [
        people.FIRST_ACCOUNT,
        people.FIRST_ACCOUNT,
        people.SECOND_ACCOUNT,
    ]
    chosen = [
        crm.retrieve("account", id, ["primarycontactid"]).values["primarycontactid"]
        for id in (people.FIRST_ACCOUNT, people.SECOND_ACCOUNT)
    ]
    assert isinstance(chosen[0], Reference)
    assert isinstance(chosen[1], Reference)
    assert chosen[0].id == people.CLARA_CUSTOMER
    assert chosen[1].id != people.COSMO_CONTACT


def test_a_case_belongs_to_the_company_of_its_customer(crm: EmbeddedPlatform) -> None:
    rows = crm.query(Query("incident", (Column("customerid"), Column("new_companyid")))).rows
    contacts = crm.query(Query("contact", (Column("contactid"), Column("parentcustomerid")))).rows
    company = {row["contactid"]: row["parentcustomerid"] for row in contacts}
    for row in rows:
        customer = row["customerid"]
        assert isinstance(customer, Reference)
        assert row["new_companyid"] == (company[customer.id] if customer.entity == "contact" else customer)


def test_business_units_are_one_tree(crm: EmbeddedPlatform) -> None:
    rows = crm.query(Query("businessunit", (Column("name"), Column("parentbusinessunitid")))).rows
    parents = {row["name"]: row["parentbusinessunitid"] for row in rows}
    assert parents["Contoso"] is None
    assert {name: parent.name for name, parent in parents.items() if isinstance(parent, Reference)} == {
        "Sales": "Contoso",
        "Service": "Contoso",
        "Sales North": "Sales",
        "Sales South": "Sales",
    }


def test_priority_speaks_seven_languages_and_hides_one_option(crm: EmbeddedPlatform) -> None:
    priority = crm.option_set("new_priority")
    assert [option.label.text() for option in priority.options if priority.is_inactive(option)] == [
        "On Request"
    ]
    for option in priority.options:
        assert set(option.label.texts) == set(LANGUAGES)
    assert priority.options[2].label.text(1025) == "مرتفعة"
    assert set(LANGUAGES) <= set(crm.languages())


def test_an_option_of_an_inactive_state_is_inactive(crm: EmbeddedPlatform) -> None:
    statuses = crm.option_set("statuscode", entity="lead")
    active = [option.label.text() for option in statuses.options if not statuses.is_inactive(option)]
    assert active == ["New", "Contacted"]


def test_industries_have_labels_in_english_german_and_arabic(crm: EmbeddedPlatform) -> None:
    industries = crm.option_set("industrycode", entity="account")
    assert len(industries.options) == 33
    assert all({1033, 1031, 1025} <= set(option.label.texts) for option in industries.options)
    assert industries.options[0].label.text(1031) == "Rechnungswesen"


def test_records_are_spread_over_states_and_two_years(crm: EmbeddedPlatform) -> None:
    states = crm.query(Query("opportunity", (Column("statecode"), Column("createdon")))).rows
    assert set(Counter(row["statecode"] for row in states)) == {0, 1, 2}
    days = [(dt.datetime.now(dt.UTC) - row["createdon"]).days for row in states]  # type: ignore[operator]
    assert min(days) >= 0
    assert 600 < max(days) <= 731


def test_an_account_can_be_found_by_its_number_and_has_a_primary_contact(crm: EmbeddedPlatform) -> None:
    by_number = Filter((Condition("accountnumber", Operator.EQ, ("a-00001",)),))
    [row] = crm.query(Query("account", (Column("accountid"), Column("primarycontactid")), by_number)).rows
    assert row["accountid"] == people.FIRST_ACCOUNT
    assert isinstance(row["primarycontactid"], Reference)
    assert row["primarycontactid"].id == people.FIRST_CONTACT


def test_an_account_number_is_taken_once(crm: EmbeddedPlatform) -> None:
    with pytest.raises(DuplicateKey) as refused:
        crm.create("account", {"name": "Second", "accountnumber": "A-00001"})
    assert refused.value.key == "accountnumber"


def test_an_account_with_opportunities_cannot_be_deleted(crm: EmbeddedPlatform) -> None:
    sold = Filter((Condition("parentaccountid", Operator.NOT_NULL),))
    [row] = crm.query(Query("opportunity", (Column("parentaccountid"),), sold), Page(size=1)).rows
    account = row["parentaccountid"]
    assert isinstance(account, Reference)
    with pytest.raises(StateConflict):
        crm.delete("account", account.id)


def test_the_same_day_gives_the_same_records() -> None:
    day = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
    first, again = script(day), script(day)
    assert first == again
    creates = [operation for operation in first if isinstance(operation, Create)]
    assert len({operation.id for operation in creates}) == len(creates)


def test_names_come_in_several_scripts(crm: EmbeddedPlatform) -> None:
    names = "".join(str(row["name"]) for row in crm.query(Query("account", (Column("name"),))).rows)
    for letter in "Aßñه株公łş":
        assert letter in names


def test_ping_echoes(crm: EmbeddedPlatform) -> None:
    assert crm.execute("new_Ping", {"Message": "مرحبا"}) == {"Echo": "مرحبا"}


def test_approving_leaves_a_note_in_the_callers_name(crm: EmbeddedPlatform) -> None:
    target = Reference("account", people.FIRST_ACCOUNT)
    answer = crm.execute("new_Approve", {"Comment": "Checked."}, target=target, call=Call(people.MAX_MANAGER))
    assert answer == {"Approved": True}
    approved = Filter(
        (
            Condition("objectid", Operator.EQ, (people.FIRST_ACCOUNT,)),
            Condition("subject", Operator.EQ, ("Approved",)),
        )
    )
    [note] = crm.query(Query("annotation", (Column("notetext"), Column("createdby")), approved)).rows
    assert note["notetext"] == "Checked."
    assert note["createdby"] == Reference("systemuser", people.MAX_MANAGER, "Max Manager")


def test_an_inactive_account_is_not_approved(crm: EmbeddedPlatform) -> None:
    inactive = Filter((Condition("statecode", Operator.EQ, (1,)),))
    [row] = crm.query(Query("account", (Column("accountid"), Column("name")), inactive), Page(size=1)).rows
    with pytest.raises(Refused, match="is inactive and cannot be approved"):
        crm.execute("new_Approve", {"Comment": "No."}, target=Reference("account", str(row["accountid"])))


def test_closing_a_case_keeps_how_it_was_solved(crm: EmbeddedPlatform) -> None:
    case = Reference("incident", stable_id("incident", "portal/clara-2"))
    assert crm.execute("new_CloseCase", {"Resolution": "Sent again."}, target=case) == {"Closed": True}
    assert crm.retrieve("incident", case.id, ["statuscode"]).values["statuscode"] == 5
    about = Filter((Condition("objectid", Operator.EQ, (case.id,)),))
    [note] = crm.query(Query("annotation", (Column("notetext"),), about)).rows
    assert note["notetext"] == "Sent again."
    with pytest.raises(Refused, match="is closed already"):
        crm.execute("new_CloseCase", {"Resolution": None}, target=case)


def test_loading_again_changes_nothing(crm: EmbeddedPlatform) -> None:
    said = io.StringIO()
    call_command("crmdemo", stdout=said)
    assert "nothing was loaded" in said.getvalue()
    assert count(crm, "account") == 200
