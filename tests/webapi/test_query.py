"""Collections: `$select`, `$filter`, `$orderby`, `$top`, `$count`, held against all rows filtered here."""

from __future__ import annotations

from typing import Any

import pytest

from crmclient.text import fold
from tests.webapi.crm import ANNOTATED, Crm

ACCOUNTS = "accounts?$select=name,revenue,industrycode,address1_city,numberofemployees,statecode"


@pytest.fixture(scope="module")
def accounts(crm: Crm) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = crm.get(ACCOUNTS)["value"]
    assert len(rows) == int(crm.send("GET", "accounts/$count").text)
    return rows


def names(crm: Crm, filter: str, **aliases: str) -> list[str]:
    params = {"$select": "name", "$filter": filter, **{f"@{name}": text for name, text in aliases.items()}}
    return sorted(row["name"] for row in crm.get("accounts", params=params)["value"])


def expected(accounts: list[dict[str, Any]], holds: Any) -> list[str]:
    matches = sorted(row["name"] for row in accounts if holds(row))
    assert 0 < len(matches) < len(accounts), "the filter tells nothing apart"
    return matches


def test_selected_properties_come_with_the_key_and_nothing_else(crm: Crm) -> None:
    answer = crm.get("accounts?$select=name,_ownerid_value&$top=1")
    assert answer["@odata.context"] == f"{crm.base}$metadata#accounts(name,_ownerid_value)"
    assert set(answer["value"][0]) == {"@odata.etag", "accountid", "name", "_ownerid_value"}


@pytest.mark.parametrize(
    ("filter", "holds"),
    [
        ("revenue gt 50000000", lambda row: row["revenue"] is not None and row["revenue"] > 50_000_000),
        ("revenue lt 50000000.5", lambda row: row["revenue"] is not None and row["revenue"] < 50_000_000),
        ("revenue eq null", lambda row: row["revenue"] is None),
        ("industrycode ne 1", lambda row: row["industrycode"] != 1),
        ("not (industrycode eq 1)", lambda row: row["industrycode"] != 1),
        ("50 le numberofemployees", lambda row: (row["numberofemployees"] or 0) >= 50),
        ("contains(name,'INC')", lambda row: "inc" in row["name"].lower()),
        ("startswith(name,'c')", lambda row: row["name"].lower().startswith(("c", "ç"))),
        ("contains(name,'w_d')", lambda row: "wid" in row["name"].lower() or "wed" in row["name"].lower()),
        ("not contains(name,'inc')", lambda row: "inc" not in row["name"].lower()),
        (
            "statecode eq 1 or industrycode eq null",
            lambda r: r["statecode"] == 1 or r["industrycode"] is None,
        ),
        (
            "not (revenue gt 50000000)",
            lambda row: row["revenue"] is None or row["revenue"] <= 50_000_000,
        ),
    ],
)
def test_a_filter_keeps_the_rows_it_holds_for(
    crm: Crm, accounts: list[dict[str, Any]], filter: str, holds: Any
) -> None:
    assert names(crm, filter) == expected(accounts, holds)


def test_texts_compare_without_case_and_quotes_are_doubled(crm: Crm) -> None:
    id = crm.create("accounts", {"name": "O'Hara & Söhne 100%", "accountnumber": "quote-1"})
    try:
        assert names(crm, "name eq 'o''hara & söhne 100%'") == ["O'Hara & Söhne 100%"]
        assert names(crm, "endswith(name,'100[%]')") == ["O'Hara & Söhne 100%"]
        assert names(crm, "name eq @p1", p1="'O''Hara & Söhne 100%'") == ["O'Hara & Söhne 100%"]
    finally:
        crm.send("DELETE", f"accounts({id})")


def test_columns_are_compared_with_one_another(crm: Crm) -> None:
    assert names(crm, "createdon le modifiedon and name ne address1_city") == names(crm, "name ne null")
    assert names(crm, "modifiedon lt createdon") == []


def test_paths_lead_through_lookups(crm: Crm) -> None:
    contact = crm.get("contacts?$select=fullname&$filter=account_primary_contact/any()&$top=1")["value"][0]
    by_name = names(crm, f"primarycontactid/fullname eq '{contact['fullname']}'")
    by_key = names(crm, f"primarycontactid/contactid eq {contact['contactid']}")
    assert by_key
    assert set(by_key) <= set(by_name)
    assert by_key == names(crm, f"_primarycontactid_value eq '{contact['contactid'].upper()}'")


def test_any_and_all_look_at_related_records(crm: Crm) -> None:
    people = crm.get(
        "contacts?$select=_parentcustomerid_value,statecode&$filter=parentcustomerid_account/name ne null"
    )
    states: dict[str, set[int]] = {}
    for person in people["value"]:
        states.setdefault(person["_parentcustomerid_value"], set()).add(person["statecode"])
    every = {row["accountid"] for row in crm.get("accounts?$select=accountid")["value"]}

    def found(filter: str) -> set[str]:
        rows = crm.get("accounts", params={"$select": "accountid", "$filter": filter})["value"]
        return {row["accountid"] for row in rows}

    inactive = {id for id, codes in states.items() if 1 in codes}
    assert found("contact_customer_accounts/any(c:c/statecode eq 1)") == inactive
    assert found("not contact_customer_accounts/any(c:c/statecode eq 1)") == every - inactive
    assert found("contact_customer_accounts/all(c:c/statecode eq 0)") == every - inactive
    assert found("contact_customer_accounts/any()") == set(states)


def test_any_looks_through_many_to_many_relationships(crm: Crm) -> None:
    teams = crm.get("teams?$select=name&$expand=teammembership_association($select=fullname)")["value"]
    team = next(team for team in teams if team["teammembership_association"])
    rows = crm.get(f"systemusers?$filter=teammembership_association/any(t:t/name eq '{team['name']}')")[
        "value"
    ]
    assert {row["fullname"] for row in rows} == {
        user["fullname"] for user in team["teammembership_association"]
    }


def test_rows_come_in_the_order_asked_for(crm: Crm, accounts: list[dict[str, Any]]) -> None:
    rows = crm.get(f"{ACCOUNTS}&$orderby=numberofemployees desc,name")["value"]
    numbers = [row["numberofemployees"] for row in rows if row["numberofemployees"] is not None]
    assert numbers == sorted(numbers, reverse=True)
    by_contact = crm.get(
        "accounts?$expand=primarycontactid($select=fullname)&$orderby=primarycontactid/fullname"
        "&$filter=_primarycontactid_value ne null&$top=20"
    )
    names = [row["primarycontactid"]["fullname"] for row in by_contact["value"]]
    assert len(names) == 20
    assert names == sorted(names, key=fold)


def test_a_count_is_of_all_rows_whatever_is_shown(crm: Crm, accounts: list[dict[str, Any]]) -> None:
    answer = crm.get("accounts?$select=name&$top=2&$count=true", headers=ANNOTATED)
    assert len(answer["value"]) == 2
    assert answer["@odata.count"] == answer["@Microsoft.Dynamics.CRM.totalrecordcount"] == len(accounts)
    assert answer["@Microsoft.Dynamics.CRM.totalrecordcountlimitexceeded"] is False
    plain = crm.get("accounts?$top=1", headers=ANNOTATED)
    assert plain["@Microsoft.Dynamics.CRM.totalrecordcount"] == -1
    active = crm.send("GET", "accounts/$count?$filter=statecode eq 0")
    assert active.headers["Content-Type"].startswith("text/plain")
    assert int(active.text) == sum(row["statecode"] == 0 for row in accounts)


def test_annotations_come_as_they_were_asked_for_and_the_answer_says_so(crm: Crm) -> None:
    path = "accounts?$select=industrycode,_ownerid_value&$top=1&$filter=industrycode ne null"
    formatted = "OData.Community.Display.V1.FormattedValue"
    for wanted in (f'"{formatted}"', formatted, "OData.Community.*", '"*"'):
        answer = crm.send("GET", path, headers={"Prefer": f"odata.include-annotations={wanted}"})
        assert answer.headers["Preference-Applied"] == f'odata.include-annotations="{wanted.strip(chr(34))}"'
        [row] = answer.json()["value"]
        assert row[f"industrycode@{formatted}"]
        assert ("_ownerid_value@Microsoft.Dynamics.CRM.lookuplogicalname" in row) == (wanted == '"*"')
    assert not any("@OData" in name for name in crm.get(path)["value"][0])


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("$filter=nme eq 'x'", 400, "Could not find a property named 'nme'"),
        ("$filter=name eq 5", 400, "incompatible types"),
        ("$filter=statecode eq '0'", 400, "incompatible types"),
        ("$filter=name eq 'x", 400, "Syntax error"),
        ("$filter=primarycontactid eq 'x'", 400, "primarycontactid"),
        ("$filter=" + "not (" * 60 + "name eq 'x'" + ")" * 60, 400, "levels deep"),
        ("$filter=" + "a/" * 9000 + "b eq 1", 400, ""),
        ("$filter=name eq @p9", 400, "@p9"),
        ("$filter=year(createdon) eq 2020", 501, "'year'"),
        ("$filter=name in ('a','b')", 501, "'in'"),
        ("$orderby=name sideways", 400, "$orderby"),
        ("$orderby=nme", 400, "nme"),
        ("$select=nme", 400, "nme"),
        ("$top=-1", 400, "$top"),
        ("$count=perhaps", 400, "$count"),
        ("$skip=1", 501, "$skip"),
        ("$select=name&$select=name", 400, "$select"),
        ("nonsense=1", 400, "nonsense"),
        ("$nonsense=1", 400, "$nonsense"),
        ("$skiptoken=nonsense", 400, "cookie"),
    ],
)
def test_a_wrong_query_is_refused_by_the_name_of_what_is_wrong(
    crm: Crm, query: str, status: int, said: str
) -> None:
    answer = crm.error("GET", f"accounts?{query}")
    assert answer[0] == status
    assert said in answer[2]
