"""Dataverse's own query functions."""

from __future__ import annotations

from typing import Any

import pytest

from crmbox.demo.people import RITA_REP
from tests.webapi.crm import Crm

CRM = "Microsoft.Dynamics.CRM"
INTERESTS = "PropertyName='new_interests',PropertyValues=[\"100000000\"]"
BOUNDS = 'PropertyName=\'revenue\',PropertyValues=["1000000","50000000"]'


def total(crm: Crm, filter: str, **aliases: str) -> int:
    params = {"$filter": filter, **{f"@{name}": text for name, text in aliases.items()}}
    answer = crm.send("GET", "accounts/$count", params=params)
    assert answer.status_code == 200, answer.text
    return int(answer.text)


@pytest.mark.parametrize(
    ("function", "same"),
    [
        (
            'In(PropertyName=\'industrycode\',PropertyValues=["1","2"])',
            "industrycode eq 1 or industrycode eq 2",
        ),
        ("NotIn(PropertyName='statecode',PropertyValues=[\"1\"])", "statecode ne 1"),
        (
            "In(PropertyName='name',PropertyValues=['[it]''s \"','Lakeside Dental Inc. – Chicago 1'])",
            "name eq 'Lakeside Dental Inc. – Chicago 1'",
        ),
        (
            "In(PropertyName='industrycode',PropertyValues=['1', '2'])",
            "industrycode eq 1 or industrycode eq 2",
        ),
        (f"Between({BOUNDS})", "revenue ge 1000000 and revenue le 50000000"),
        (f"NotBetween({BOUNDS})", "not (revenue ge 1000000 and revenue le 50000000)"),
        (
            "OnOrAfter(PropertyName='new_customersince',PropertyValue='2020-01-01')",
            "new_customersince ge 2020-01-01",
        ),
        ("LastXYears(PropertyName='createdon',PropertyValue=90)", "createdon ne null"),
        (
            "In(PropertyName='primarycontactid/statecode',PropertyValues=[\"0\"])",
            "primarycontactid/statecode eq 0",
        ),
    ],
)
def test_a_function_holds_for_the_same_rows_as_its_comparison(crm: Crm, function: str, same: str) -> None:
    assert total(crm, f"{CRM}.{function}") == total(crm, same) > 0


def test_choices_of_several_values_are_asked_by_what_they_contain(crm: Crm) -> None:
    rows: list[dict[str, Any]] = crm.get("accounts?$select=new_interests")["value"]
    holding = sum("100000000" in (row["new_interests"] or "").split(",") for row in rows)
    assert total(crm, f"{CRM}.ContainValues({INTERESTS})") == holding > 0
    assert total(crm, f"{CRM}.DoesNotContainValues({INTERESTS})") == len(rows) - holding


def test_functions_take_their_arguments_from_aliases(crm: Crm) -> None:
    count = total(crm, f"{CRM}.In(PropertyName=@p1,PropertyValues=@p2)", p1="'statecode'", p2='["1"]')
    assert count == total(crm, "statecode eq 1") > 0


def test_the_caller_is_the_one_who_is_acted_for(crm: Crm) -> None:
    rita = crm.acting_as(MSCRMCallerID=RITA_REP)
    own = f"{CRM}.EqualUserId(PropertyName='ownerid')"
    assert total(rita, own) == total(crm, f"_ownerid_value eq {RITA_REP}") > 0
    # Other tests may have left as many accounts to the one who acts for Rita as she has.
    assert total(crm, f"{own} and _ownerid_value eq {RITA_REP}") == 0


@pytest.mark.parametrize(
    ("filter", "status", "said"),
    [
        (f"not {CRM}.Today(PropertyName='createdon')", 400, "not cannot stand before"),
        (f"{CRM}.LastXDays(PropertyName='createdon')", 400, "one value"),
        (f"{CRM}.LastXDays(PropertyName='createdon',PropertyValue='soon')", 400, "whole number"),
        (f"{CRM}.LastXDays(PropertyName='name',PropertyValue=3)", 400, "compares dates"),
        (f"{CRM}.In(PropertyName='statecode',PropertyValues='1')", 400, "PropertyValues is a list"),
        (f"{CRM}.Today(Name='createdon')", 400, "PropertyName"),
        (f"{CRM}.Today(PropertyName='nonsense')", 400, "nonsense"),
        (f"{CRM}.Under(PropertyName='parentaccountid',PropertyValue='x')", 400, "under: 'x' is not a GUID"),
        (f"{CRM}.EqualUserLanguage(PropertyName='name')", 501, f"{CRM}.EqualUserLanguage"),
        (f"{CRM}.Nonsense(PropertyName='name')", 501, f"{CRM}.Nonsense"),
    ],
)
def test_a_function_used_wrongly_is_refused(crm: Crm, filter: str, status: int, said: str) -> None:
    answer = crm.error("GET", "accounts", params={"$filter": filter})
    assert answer[0] == status
    assert said in answer[2]
