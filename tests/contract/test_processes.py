"""Processes, bound and unbound: custom ones, and the platform's own."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from crmclient import NewRecord, Platform, ProcessValues, Reference, Value, Values
from crmclient.errors import InvalidRecord, RecordNotFound, Refused, UnknownProcess
from crmclient.metadata import Holds
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from tests.contract.making import NOBODY, account, unique

pytestmark = pytest.mark.needs("processes")


@pytest.mark.parametrize("message", ["Hello", "ünïcode 🚀 'quoted' \"too\"", "a\nb"])
def test_an_unbound_process_answers(platform: Platform, message: str) -> None:
    assert platform.execute("new_Ping", {"Message": message}) == {"Echo": message}


def test_a_bound_process_works_on_its_record(platform: Platform) -> None:
    id = account(platform)

    outputs = platform.execute("new_Approve", {"Comment": "Fine"}, target=Reference("account", id))

    assert outputs == {"Approved": True}
    about = Filter((Condition("objectid", Operator.EQ, (id,)),))
    assert platform.query(Query("annotation", (Column("notetext"),), about)).rows == [{"notetext": "Fine"}]


def test_a_process_may_refuse_in_its_own_words(platform: Platform) -> None:
    id = account(platform, name="Closed", statecode=1)

    with pytest.raises(Refused) as raised:
        platform.execute("new_Approve", {"Comment": "x"}, target=Reference("account", id))

    assert str(raised.value) == "Closed is inactive and cannot be approved."


def test_a_process_says_which_privilege_running_it_needs(platform: Platform) -> None:
    processes = platform.processes()
    privileges = {name: processes[name].privilege for name in ("new_Approve", "new_Ping", "WinOpportunity")}
    assert privileges == {"new_Approve": "prvWriteAccount", "new_Ping": "", "WinOpportunity": ""}


@pytest.mark.parametrize(
    ("process", "inputs", "target", "problem"),
    [
        ("new_Ping", {}, None, ("Message", "required")),
        ("new_Ping", {"Message": None}, None, ("Message", "required")),
        ("new_Ping", {"Message": 1}, None, ("Message", "wrong_type")),
        ("new_Ping", {"Message": "x", "Other": 1}, None, ("Other", "unknown_attribute")),
        ("new_Ping", {"Message": "x"}, Reference("account", NOBODY), ("target", "unknown_target")),
        ("new_Approve", {"Comment": "x"}, None, ("target", "required")),
        ("new_Approve", {"Comment": "x"}, Reference("contact", NOBODY), ("target", "unknown_target")),
    ],
)
def test_wrong_inputs_are_named(
    platform: Platform,
    process: str,
    inputs: dict[str, Value],
    target: Reference | None,
    problem: tuple[str, str],
) -> None:
    given: Values = inputs
    with pytest.raises(InvalidRecord) as raised:
        platform.execute(process, given, target=target)
    assert [(p.attribute, p.code) for p in raised.value.problems] == [problem]


def test_a_record_that_is_not_there(platform: Platform) -> None:
    with pytest.raises(RecordNotFound):
        platform.execute("new_Approve", {"Comment": "x"}, target=Reference("account", NOBODY))


# Dataverse's own messages


def opportunity(platform: Platform, **values: Value) -> Reference:
    customer = Reference("account", account(platform))
    made = platform.create("opportunity", {"name": unique("sale"), "customerid": customer, **values})
    return Reference("opportunity", made.id)


def closing(opportunity: Reference, **values: Value) -> NewRecord:
    return NewRecord("opportunityclose", {"subject": "Closed", "opportunityid": opportunity, **values})


@pytest.mark.parametrize(
    ("message", "status", "state", "stored"),
    [
        ("WinOpportunity", 3, 1, 3),
        ("WinOpportunity", -1, 1, 3),
        ("LoseOpportunity", 5, 2, 5),
        ("LoseOpportunity", -1, 2, 4),
    ],
)
def test_an_opportunity_ends(platform: Platform, message: str, status: int, state: int, stored: int) -> None:
    sale = opportunity(platform)
    close = closing(sale, actualrevenue=Decimal("99.5"), actualend=dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC))

    assert platform.execute(message, {"OpportunityClose": close, "Status": status}) == {}

    columns = ("statecode", "statuscode", "actualvalue", "actualclosedate")
    after = platform.retrieve("opportunity", sale.id, columns).values
    assert [after[name] for name in columns] == [state, stored, Decimal("99.5"), dt.date(2026, 3, 1)]
    about = Filter((Condition("opportunityid", Operator.EQ, (sale.id,)),))
    columns_of_close = (Column("subject"), Column("actualrevenue"), Column("statecode"))
    [told] = platform.query(Query("opportunityclose", columns_of_close, about)).rows
    assert told == {"subject": "Closed", "actualrevenue": Decimal("99.5"), "statecode": 1}


def test_an_opportunity_ends_once(platform: Platform) -> None:
    sale = opportunity(platform)
    platform.execute("WinOpportunity", {"OpportunityClose": closing(sale), "Status": 3})

    with pytest.raises(Refused) as raised:
        platform.execute("LoseOpportunity", {"OpportunityClose": closing(sale), "Status": 4})

    assert str(raised.value) == "The opportunity is closed already."
    about = Filter((Condition("opportunityid", Operator.EQ, (sale.id,)),))
    assert len(platform.query(Query("opportunityclose", (Column("subject"),), about)).rows) == 1


def test_a_status_of_another_state_is_refused(platform: Platform) -> None:
    sale = opportunity(platform)

    with pytest.raises(Refused) as raised:
        platform.execute("WinOpportunity", {"OpportunityClose": closing(sale), "Status": 4})

    assert str(raised.value) == "4 is not a valid status code for state code 1 of opportunity."
    assert platform.retrieve("opportunity", sale.id, ("statecode",)).values["statecode"] == 0


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"subject": "x" * 201}, ("OpportunityClose/subject", "too_long")),
        ({"nothing": 1}, ("OpportunityClose/nothing", "unknown_attribute")),
        ({"actualrevenue": "much"}, ("OpportunityClose/actualrevenue", "wrong_type")),
        ({"opportunityid": None}, ("OpportunityClose/opportunityid", "required")),
    ],
)
def test_what_is_wrong_with_a_record_is_said_of_its_input(
    platform: Platform, values: dict[str, Value], problem: tuple[str, str]
) -> None:
    record = closing(opportunity(platform), **values)

    with pytest.raises(InvalidRecord) as raised:
        platform.execute("WinOpportunity", {"OpportunityClose": record, "Status": 3})

    assert raised.value.entity == "WinOpportunity"
    assert [(error.attribute, error.code) for error in raised.value.problems] == [problem]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (None, ("OpportunityClose", "required")),
        ("text", ("OpportunityClose", "wrong_type")),
        (NewRecord("account", {}), ("OpportunityClose", "unknown_target")),
    ],
)
def test_what_is_no_such_record_is_named(
    platform: Platform, given: NewRecord | str | None, problem: tuple[str, str]
) -> None:
    with pytest.raises(InvalidRecord) as raised:
        platform.execute("WinOpportunity", {"OpportunityClose": given, "Status": 3})

    assert [(error.attribute, error.code) for error in raised.value.problems] == [problem]


def test_an_opportunity_that_is_not_there(platform: Platform) -> None:
    record = closing(Reference("opportunity", NOBODY))

    with pytest.raises((RecordNotFound, InvalidRecord)):
        platform.execute("WinOpportunity", {"OpportunityClose": record, "Status": 3})


def test_a_lead_becomes_records(platform: Platform) -> None:
    company = unique("Lead and Sons")
    lead = platform.create(
        "lead",
        {"subject": "Wool", "lastname": "Lead", "companyname": company, "estimatedamount": Decimal("12.50")},
    ).id

    outputs = platform.execute(
        "QualifyLead",
        {"CreateAccount": True, "CreateContact": True, "CreateOpportunity": True, "Status": 3},
        target=Reference("lead", lead),
    )

    made = outputs["value"]
    assert isinstance(made, tuple)
    ids_by_entity = {each.entity: each.id for each in made if isinstance(each, Reference)}
    assert list(ids_by_entity) == ["account", "contact", "opportunity"]
    assert platform.retrieve("account", ids_by_entity["account"], ("name",)).values["name"] == company
    sale = platform.retrieve(
        "opportunity", ids_by_entity["opportunity"], ("name", "estimatedvalue", "customerid")
    )
    assert (sale.values["name"], sale.values["estimatedvalue"]) == ("Wool", Decimal("12.5"))
    customer = sale.values["customerid"]
    assert isinstance(customer, Reference)
    assert customer.id == ids_by_entity["account"]
    assert platform.retrieve("lead", lead, ("statecode",)).values["statecode"] == 1


def test_a_lead_is_qualified_for_a_customer_that_is_there(platform: Platform) -> None:
    lead = Reference("lead", platform.create("lead", {"subject": "Wool", "lastname": "Lead"}).id)
    customer = Reference("account", account(platform))
    asked: ProcessValues = {
        "CreateAccount": False,
        "CreateContact": False,
        "CreateOpportunity": True,
        "OpportunityCustomerId": customer,
        "Status": -1,
    }

    outputs = platform.execute("QualifyLead", asked, target=lead)

    assert isinstance(outputs["value"], tuple)
    [sale] = outputs["value"]
    assert isinstance(sale, Reference)
    reference = platform.retrieve("opportunity", sale.id, ("customerid",)).values["customerid"]
    assert isinstance(reference, Reference)
    assert (reference.entity, reference.id) == ("account", customer.id)
    with pytest.raises(Refused):
        platform.execute("QualifyLead", asked, target=lead)


def test_a_case_is_resolved(platform: Platform) -> None:
    customer = Reference("account", account(platform))
    case = Reference("incident", platform.create("incident", {"title": "Late", "customerid": customer}).id)
    resolution = NewRecord(
        "incidentresolution", {"subject": "Sent again", "incidentid": case, "timespent": 30}
    )

    assert platform.execute("CloseIncident", {"IncidentResolution": resolution, "Status": 5}) == {}

    after = platform.retrieve("incident", case.id, ("statecode", "statuscode")).values
    assert (after["statecode"], after["statuscode"]) == (1, 5)
    with pytest.raises(Refused):
        platform.execute("new_CancelCase", {}, target=case)


def test_a_case_is_cancelled(platform: Platform) -> None:
    customer = Reference("account", account(platform))
    case = Reference("incident", platform.create("incident", {"title": "Late", "customerid": customer}).id)

    assert platform.execute("new_CancelCase", {}, target=case) == {}

    assert platform.retrieve("incident", case.id, ("statecode",)).values["statecode"] == 2


def test_messages_say_what_they_take_and_answer(platform: Platform) -> None:
    processes = platform.processes()

    win = {parameter.name: parameter for parameter in processes["WinOpportunity"].inputs}
    assert (win["OpportunityClose"].holds, win["OpportunityClose"].targets) == (
        Holds.RECORD,
        ("opportunityclose",),
    )
    assert processes["QualifyLead"].entity == "lead"
    qualify = {parameter.name: parameter for parameter in processes["QualifyLead"].inputs}
    assert qualify["OpportunityCustomerId"].targets == ("account", "contact")
    assert [(output.name, output.holds) for output in processes["QualifyLead"].outputs] == [
        ("value", Holds.RECORDS)
    ]


@pytest.mark.parametrize("message", ["GrantAccess", "BulkDelete", "CreateEntity", "PublishAllXml"])
def test_what_nobody_may_run_is_not_there(platform: Platform, message: str) -> None:
    assert message not in platform.processes()
    with pytest.raises(UnknownProcess):
        platform.execute(message, {})
