"""Metadata written over the Web API: tables, columns, relationships and options that are there at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from crmbox.demo.people import FIRST_CONTACT, RITA_REP
from crmclient.query.ast import Column, Query
from tests.dataverse.reaching import platform_at
from tests.webapi.crm import Crm

CRM = "Microsoft.Dynamics.CRM"
TABLE = "EntityDefinitions(LogicalName='new_bankaccount')"
KIND = {"EntityLogicalName": "new_bankaccount", "AttributeLogicalName": "new_kind"}


def label(text: str, lcid: int = 1033) -> dict[str, Any]:
    return {"LocalizedLabels": [{"Label": text, "LanguageCode": lcid}]}


def attribute(kind: str, name: str, **details: Any) -> dict[str, Any]:
    named = {"SchemaName": name, "DisplayName": label(name)}
    return {"@odata.type": f"{CRM}.{kind}AttributeMetadata", **named, **details}


def table(name: str, **details: Any) -> dict[str, Any]:
    return {
        "@odata.type": f"{CRM}.EntityMetadata",
        "SchemaName": name,
        "DisplayName": label("Bank Account"),
        "DisplayCollectionName": label("Bank Accounts"),
        "OwnershipType": "UserOwned",
        "HasNotes": False,
        "Attributes": [attribute("String", "new_Title", IsPrimaryName=True, MaxLength=50)],
        **details,
    }


def done(crm: Crm, method: str, path: str, body: Any = None, **headers: str) -> str:
    """The address of what a request made; it must succeed."""
    answer = crm.send(method, path, json=body, headers=headers)
    assert answer.status_code == 204, answer.text
    return answer.headers.get("OData-EntityId", "")


def options(crm: Crm, name: str = "new_kind") -> dict[int, list[str]]:
    path = f"{TABLE}/Attributes(LogicalName='{name}')"
    cast = {"new_kind": "Picklist", "statuscode": "Status", "statecode": "State"}[name]
    choices = crm.get(f"{path}/{CRM}.{cast}AttributeMetadata?$expand=OptionSet")["OptionSet"]["Options"]
    return {item["Value"]: [text["Label"] for text in item["Label"]["LocalizedLabels"]] for item in choices}


@pytest.fixture
def banks(crm: Crm) -> Iterator[Crm]:
    """A new table with a choice; it is deleted, with its records, at the end."""
    kinds = [{"Value": 1, "Label": label("Giro")}, {"Label": label("Savings")}]
    choice = attribute("Picklist", "new_Kind", OptionSet={"IsGlobal": False, "Options": kinds})
    body = table("new_BankAccount")
    done(crm, "POST", "EntityDefinitions", {**body, "Attributes": [*body["Attributes"], choice]})
    yield crm
    done(crm, "DELETE", TABLE)
    assert crm.error("GET", "new_bankaccounts")[0] == 404


def test_a_new_table_is_there_at_once(banks: Crm) -> None:
    entity = banks.get(f"{TABLE}?$select=SchemaName,EntitySetName,PrimaryIdAttribute,PrimaryNameAttribute")
    assert entity["SchemaName"] == "new_BankAccount"
    assert entity["EntitySetName"] == "new_bankaccounts"
    assert entity["PrimaryNameAttribute"] == "new_title"
    assert banks.get(f"{TABLE}/Attributes(LogicalName='new_title')")["SchemaName"] == "new_Title"
    id = banks.create("new_bankaccounts", {"new_title": "Giro", "new_kind": 1})
    assert banks.get(f"new_bankaccounts({id})")["new_kind"] == 1
    assert "new_bankaccounts" in banks.send("GET", "$metadata").text


def test_a_table_that_another_one_points_at_keeps_its_records(banks: Crm) -> None:
    relationship = {
        "@odata.type": f"{CRM}.OneToManyRelationshipMetadata",
        "SchemaName": "new_bankaccount_contact",
        "ReferencedEntity": "new_bankaccount",
        "ReferencingEntity": "contact",
        "Lookup": {"SchemaName": "new_PaidInto", "DisplayName": label("Paid into")},
    }
    done(banks, "POST", "RelationshipDefinitions", relationship)
    record = banks.create("new_bankaccounts", {"new_title": "Main"})
    refused = banks.send("DELETE", TABLE)
    assert refused.status_code == 400
    assert "contact.new_paidinto points at it" in refused.text
    assert banks.get(f"new_bankaccounts({record})?$select=new_title")["new_title"] == "Main"
    done(banks, "DELETE", "RelationshipDefinitions(SchemaName='new_bankaccount_contact')")


def test_columns_hold_what_their_definition_allows(banks: Crm) -> None:
    address = done(
        banks,
        "POST",
        f"{TABLE}/Attributes",
        attribute("Decimal", "new_Rate", Precision=3, MinValue=0, MaxValue=9.5),
    )
    assert banks.get(address)["MaxValue"] == 9.5
    done(banks, "POST", f"{TABLE}/Attributes", attribute("Boolean", "new_Open", DefaultValue=True))
    bind = {"GlobalOptionSet@odata.bind": "/GlobalOptionSetDefinitions(Name='new_priority')"}
    done(banks, "POST", f"{TABLE}/Attributes", attribute("Picklist", "new_Priority", **bind))
    id = banks.create("new_bankaccounts", {"new_title": "A", "new_rate": 1.125})
    record = banks.get(f"new_bankaccounts({id})")
    assert (record["new_rate"], record["new_open"]) == (1.125, True)
    assert banks.error("POST", "new_bankaccounts", json={"new_title": "B", "new_rate": 10})[0] == 400
    done(banks, "DELETE", f"{TABLE}/Attributes(LogicalName='new_rate')")
    assert "new_rate" not in banks.get(f"new_bankaccounts({id})")


def test_a_column_is_changed_and_other_languages_stay(banks: Crm) -> None:
    path = f"{TABLE}/Attributes(LogicalName='new_title')"
    body = {**banks.get(f"{path}/{CRM}.StringAttributeMetadata"), "MaxLength": 60}
    done(banks, "PUT", path, {**body, "DisplayName": label("Titel", 1031)}, **{"MSCRM.MergeLabels": "true"})
    changed = banks.get(path)
    assert changed["MaxLength"] == 60
    assert {t["Label"] for t in changed["DisplayName"]["LocalizedLabels"]} == {"new_Title", "Titel"}
    done(banks, "PUT", path, {"DisplayName": label("Only", 1033)})
    assert [t["Label"] for t in banks.get(path)["DisplayName"]["LocalizedLabels"]] == ["Only"]


def test_a_relationship_brings_its_lookup_in_its_own_letters(banks: Crm) -> None:
    relationship = {
        "@odata.type": f"{CRM}.OneToManyRelationshipMetadata",
        "SchemaName": "new_contact_BankAccount",
        "ReferencedEntity": "contact",
        "ReferencingEntity": "new_bankaccount",
        "CascadeConfiguration": {"Delete": "Restrict"},
        "Lookup": attribute("Lookup", "new_HolderId"),
    }
    done(banks, "POST", "RelationshipDefinitions", relationship)
    holder = {"new_HolderId@odata.bind": f"/contacts({FIRST_CONTACT})"}
    id = banks.create("new_bankaccounts", {"new_title": "A", **holder})
    row = banks.get(f"new_bankaccounts({id})?$expand=new_HolderId($select=fullname)")
    assert row["new_HolderId"]["contactid"] == row["_new_holderid_value"] == FIRST_CONTACT
    assert [
        r["new_title"] for r in banks.get(f"contacts({FIRST_CONTACT})/new_contact_BankAccount")["value"]
    ] == ["A"]
    done(banks, "DELETE", "RelationshipDefinitions(SchemaName='new_contact_BankAccount')")
    assert "_new_holderid_value" not in banks.get(f"new_bankaccounts({id})")


@pytest.mark.parametrize("action", ["CreateCustomerRelationships", "CreatePolymorphicLookupAttribute"])
def test_a_lookup_may_lead_to_several_tables(banks: Crm, action: str) -> None:
    targets = ("account", "contact")
    relationships = [
        {
            "SchemaName": f"new_{target}_holder",
            "ReferencedEntity": target,
            "ReferencingEntity": "new_bankaccount",
        }
        for target in targets
    ]
    body = {"OneToManyRelationships": relationships, "Lookup": attribute("Lookup", "new_Holder")}
    made = banks.send("POST", action, json=body).json()
    assert banks.get(f"{TABLE}/Attributes({made['AttributeId']})")["Targets"] == list(targets)
    assert len(made["RelationshipIds"]) == 2
    id = banks.create(
        "new_bankaccounts", {"new_title": "A", "new_Holder_contact@odata.bind": f"/contacts({FIRST_CONTACT})"}
    )
    row = banks.get(f"new_bankaccounts({id})?$expand=new_Holder_contact($select=fullname),new_Holder_account")
    assert row["new_Holder_contact"]["contactid"] == FIRST_CONTACT
    assert row["new_Holder_account"] is None
    assert banks.error("POST", action, json={"Lookup": body["Lookup"]})[0] == 400


def test_a_many_to_many_relationship_ties_records(banks: Crm) -> None:
    body = {
        "@odata.type": f"{CRM}.ManyToManyRelationshipMetadata",
        "SchemaName": "new_Bank_Contact",
        "Entity1LogicalName": "new_bankaccount",
        "Entity2LogicalName": "contact",
        "IntersectEntityName": "new_bank_contact",
    }
    address = done(banks, "POST", "RelationshipDefinitions", body)
    id = banks.create("new_bankaccounts", {"new_title": "Shared"})
    link = {"@odata.id": f"{banks.base}contacts({FIRST_CONTACT})"}
    done(banks, "POST", f"new_bankaccounts({id})/new_Bank_Contact/$ref", link)
    expanded = banks.get(f"new_bankaccounts({id})?$expand=new_Bank_Contact($select=fullname)")
    assert [person["contactid"] for person in expanded["new_Bank_Contact"]] == [FIRST_CONTACT]
    done(banks, "DELETE", address)


def test_an_entity_is_tied_to_itself_one_way(banks: Crm) -> None:
    body = {
        "@odata.type": f"{CRM}.ManyToManyRelationshipMetadata",
        "SchemaName": "new_Bank_Bank",
        "Entity1LogicalName": "new_bankaccount",
        "Entity2LogicalName": "new_bankaccount",
        "IntersectEntityName": "new_bank_bank",
    }
    address = done(banks, "POST", "RelationshipDefinitions", body)
    first, second = (banks.create("new_bankaccounts", {"new_title": title}) for title in ("First", "Second"))

    def titles(id: str, navigation: str) -> list[str]:
        row = banks.get(f"new_bankaccounts({id})?$expand={navigation}($select=new_title)")
        followed = banks.get(f"new_bankaccounts({id})/{navigation}?$select=new_title")["value"]
        assert [one["new_bankaccountid"] for one in followed] == [
            one["new_bankaccountid"] for one in row[navigation]
        ]
        return [one["new_title"] for one in row[navigation]]

    link = {"@odata.id": f"{banks.base}new_bankaccounts({second})"}
    done(banks, "POST", f"new_bankaccounts({first})/new_Bank_Bank/$ref", link)
    assert (titles(first, "new_Bank_Bank"), titles(second, "new_Bank_Bank")) == (["Second"], [])
    back = "new_Bank_Bank_referenced"
    assert (titles(first, back), titles(second, back)) == ([], ["First"])
    having = "new_bankaccounts?$select=new_title&$filter=new_Bank_Bank/any(o:o/new_title eq 'Second')"
    assert [row["new_title"] for row in banks.get(having)["value"]] == ["First"]
    done(banks, "DELETE", f"new_bankaccounts({second})/{back}({first})/$ref")
    assert titles(first, "new_Bank_Bank") == []
    done(banks, "DELETE", address)


def test_the_dataverse_client_ties_an_entity_to_itself(banks: Crm) -> None:
    body = {
        "@odata.type": f"{CRM}.ManyToManyRelationshipMetadata",
        "SchemaName": "new_Bank_Twin",
        "Entity1LogicalName": "new_bankaccount",
        "Entity2LogicalName": "new_bankaccount",
        "IntersectEntityName": "new_bank_twin",
    }
    address = done(banks, "POST", "RelationshipDefinitions", body)
    first, second = (banks.create("new_bankaccounts", {"new_title": title}) for title in ("One", "Two"))
    platform = platform_at(banks.server)
    [relationship] = [one for one in platform.relationships("new_bankaccount") if one.name == "new_Bank_Twin"]
    ends = ("new_bankaccountidone", "new_bankaccountidtwo")

    def pairs() -> list[tuple[Any, ...]]:
        rows = platform.query(Query("new_bank_twin", tuple(map(Column, ends)))).rows
        return [tuple(row[end] for end in ends) for row in rows]

    platform.associate("new_bankaccount", first, "new_Bank_Twin", second)
    platform.associate("new_bankaccount", first, "new_Bank_Twin", second)
    assert (relationship.intersect_attributes, pairs()) == (ends, [(first, second)])
    platform.disassociate("new_bankaccount", second, "new_Bank_Twin", first)
    assert pairs() == [(first, second)]
    platform.disassociate("new_bankaccount", first, "new_Bank_Twin", second)
    assert pairs() == []
    done(banks, "DELETE", address)


def test_a_key_finds_records(banks: Crm) -> None:
    body = {"SchemaName": "new_TitleKey", "KeyAttributes": ["new_title"], "DisplayName": label("Title")}
    address = done(banks, "POST", f"{TABLE}/Keys", body)
    # The platform behind the server calls it by its schema name, and clients by its logical name.
    [key] = banks.get(f"{TABLE}/Keys")["value"]
    assert (key["LogicalName"], key["SchemaName"]) == ("new_titlekey", "new_titlekey")
    id = banks.create("new_bankaccounts", {"new_title": "One"})
    assert banks.get("new_bankaccounts(new_title='One')")["new_bankaccountid"] == id
    done(banks, "DELETE", address)
    assert banks.error("GET", "new_bankaccounts(new_title='One')")[0] == 400


def test_options_are_inserted_changed_ordered_and_deleted(banks: Crm) -> None:
    assert options(banks) == {1: ["Giro"], 100_000_000: ["Savings"]}
    answer = banks.send("POST", "InsertOptionValue", json={**KIND, "Label": label("Gold")})
    assert answer.json()["NewOptionValue"] == 100_000_001
    german = {**KIND, "Value": 1, "Label": label("Giro (de)", 1031), "MergeLabels": True}
    done(banks, "POST", "UpdateOptionValue", german)
    done(banks, "POST", "OrderOption", {**KIND, "Values": [100_000_001, 1, 100_000_000]})
    done(banks, "POST", "DeleteOptionValue", {**KIND, "Value": 100_000_000})
    assert list(options(banks).items()) == [(100_000_001, ["Gold"]), (1, ["Giro", "Giro (de)"])]
    status, _, message = banks.error("POST", "OrderOption", json={**KIND, "Values": [1]})
    assert (status, "every option once" in message) == (400, True)
    assert banks.error("POST", "DeleteOptionValue", json={**KIND, "Value": 5})[0] == 400


def test_statuses_are_inserted_and_states_changed(banks: Crm) -> None:
    status = {**KIND, "AttributeLogicalName": "statuscode", "Label": label("Frozen"), "StateCode": 1}
    value = banks.send("POST", "InsertStatusValue", json=status).json()["NewOptionValue"]
    state = {**KIND, "AttributeLogicalName": "statecode", "Value": 1, "Label": label("Closed")}
    done(banks, "POST", "UpdateStateValue", {**state, "DefaultStatusCode": value})
    assert options(banks, "statuscode")[value] == ["Frozen"]
    assert options(banks, "statecode")[1] == ["Closed"]
    id = banks.create("new_bankaccounts", {"new_title": "A"})
    done(banks, "PATCH", f"new_bankaccounts({id})", {"statecode": 1})
    assert banks.get(f"new_bankaccounts({id})")["statuscode"] == value


def test_a_global_option_set_is_made_used_and_deleted(crm: Crm) -> None:
    body = {
        "Name": "new_colors",
        "DisplayName": label("Colors"),
        "Options": [{"Value": 1, "Label": label("Red")}],
    }
    address = done(crm, "POST", "GlobalOptionSetDefinitions", body)
    assert crm.get(address)["Options"][0]["Value"] == 1
    wrong = crm.error(
        "POST", "InsertOptionValue", json={"OptionSetName": "new_colors", "Label": label("x", 9999)}
    )
    assert wrong[2] == "The language code 9999 is not a valid language for this organization."
    done(crm, "DELETE", "GlobalOptionSetDefinitions(Name='new_colors')")
    assert crm.error("GET", "GlobalOptionSetDefinitions(Name='new_colors')")[0] == 404


def test_several_tables_are_made_at_once_or_none(crm: Crm) -> None:
    parts = [table(f"new_Twin{number}") for number in (1, 2)]
    for part in parts:
        part["@odata.type"] = f"{CRM}.ComplexEntityMetadata"
    assert crm.error("POST", "CreateEntities", json={"Entities": [*parts, parts[0]]})[0] == 400
    assert crm.error("GET", "new_twin1s")[0] == 404
    answer = crm.send("POST", "CreateEntities", json={"Entities": parts})
    assert len(answer.json()["EntityIds"]) == 2
    for id in answer.json()["EntityIds"]:
        done(crm, "DELETE", f"EntityDefinitions({id})")


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({}, 400, "SchemaName"),
        ({"SchemaName": 5}, 400, "SchemaName"),
        (table("new_x", Attributes=[]), 400, "IsPrimaryName"),
        (table("new x"), 400, "logical name"),
        (table("account"), 400, "exists already"),
        (table("new_x", DisplayName="x"), 400, "label"),
        (table("new_x", OwnershipType="Nobody"), 400, "OwnershipType"),
        (table("new_x", Attributes=[attribute("Nonsense", "new_n", IsPrimaryName=True)]), 501, "Nonsense"),
        (
            table("new_x", Attributes=[attribute("String", "n", IsPrimaryName=True, MaxLength="7")]),
            400,
            "number",
        ),
        (
            table("new_x", Attributes=[attribute("String", "n", IsPrimaryName=True, MaxLength=0)]),
            400,
            "length",
        ),
    ],
)
def test_a_wrong_definition_makes_nothing(crm: Crm, body: dict[str, Any], status: int, said: str) -> None:
    answer = crm.error("POST", "EntityDefinitions", json=body)
    assert answer[0] == status
    assert said in answer[2]


@pytest.mark.parametrize("number", ["1E999999999", "-1E999999999", "1E-999999999"])
@pytest.mark.parametrize("name", ["MinValue", "MaxValue", "Precision"])
def test_a_number_with_a_huge_exponent_is_refused_at_once(banks: Crm, name: str, number: str) -> None:
    body = json.dumps(attribute("Decimal", "new_Rate", **{name: "@"})).replace('"@"', number)

    answer = banks.send(
        "POST", f"{TABLE}/Attributes", data=body, headers={"Content-Type": "application/json"}
    )

    assert answer.status_code == 400
    assert f"The property '{name}' is a number of at most 40 digits." in answer.text


def test_what_the_platform_brings_cannot_be_deleted(crm: Crm) -> None:
    assert crm.error("DELETE", "EntityDefinitions(LogicalName='account')")[0] == 400
    assert (
        crm.error("DELETE", "EntityDefinitions(LogicalName='account')/Attributes(LogicalName='name')")[0]
        == 400
    )
    assert crm.error("DELETE", "RelationshipDefinitions(SchemaName='account_primary_contact')")[0] == 400


def test_a_salesperson_cannot_change_the_metadata(crm: Crm) -> None:
    rita = crm.acting_as(MSCRMCallerID=RITA_REP)
    assert rita.error("POST", "EntityDefinitions", json=table("new_x"))[0] == 403
    assert rita.error("DELETE", "GlobalOptionSetDefinitions(Name='new_priority')")[0] == 403
