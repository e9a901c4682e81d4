"""`$metadata`, and RetrieveMetadataChanges: the metadata in the two forms that generators read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lxml import etree

from tests.webapi.crm import Crm

EDM = {"e": "http://docs.oasis-open.org/odata/ns/edm"}


@pytest.fixture(scope="module")
def document(crm: Crm) -> Any:
    answer = crm.send("GET", "$metadata")
    assert answer.headers["Content-Type"].startswith("application/xml")
    return etree.fromstring(answer.content)


def one(document: Any, path: str) -> Any:
    [element] = document.xpath(path, namespaces=EDM)
    return element


def test_types_have_keys_properties_and_navigation(document: Any) -> None:
    account = one(document, "//e:EntityType[@Name='account']")
    assert one(account, "e:Key/e:PropertyRef/@Name") == "accountid"
    types = {item.get("Name"): item.get("Type") for item in account.iterfind("e:Property", EDM)}
    assert types["name"] == "Edm.String"
    assert types["revenue"] == "Edm.Decimal"
    assert types["new_customersince"] == "Edm.Date"
    assert types["createdon"] == "Edm.DateTimeOffset"
    assert types["_primarycontactid_value"] == "Edm.Guid"
    leads = {item.get("Name"): item.get("Type") for item in account.iterfind("e:NavigationProperty", EDM)}
    assert leads["primarycontactid"] == "mscrm.contact"
    assert leads["ownerid"] == "mscrm.principal"
    assert leads["contact_customer_accounts"] == "Collection(mscrm.contact)"
    contact = one(document, "//e:EntityType[@Name='contact']")
    assert one(contact, "e:NavigationProperty[@Name='parentcustomerid_account']/@Type") == "mscrm.account"


def test_every_type_that_is_named_is_described(document: Any) -> None:
    described = set(document.xpath("//e:EntityType/@Name | //e:ComplexType/@Name", namespaces=EDM))
    named = document.xpath("//@Type[contains(., 'mscrm.')] | //@BaseType", namespaces=EDM)
    assert {
        name.removeprefix("Collection(").removesuffix(")").removeprefix("mscrm.") for name in named
    } <= described
    sets = set(document.xpath("//e:EntitySet/@Name", namespaces=EDM))
    assert set(document.xpath("//e:NavigationPropertyBinding/@Target", namespaces=EDM)) <= sets


def test_alternate_keys_and_actions_are_described(document: Any) -> None:
    keys = "//e:EntityType[@Name='account']/e:Annotation[contains(@Term, 'AlternateKeys')]"
    assert one(document, f"{keys}//@PropertyPath") == "accountnumber"
    approve = one(document, "//e:Action[@Name='new_Approve']")
    assert approve.get("IsBound") == "true"
    assert [item.get("Name") for item in approve.iterfind("e:Parameter", EDM)] == ["entity", "Comment"]
    imports = document.xpath("//e:ActionImport/@Name", namespaces=EDM)
    assert set(imports) == {"new_Ping", "WinOpportunity", "LoseOpportunity", "CloseIncident"}


def test_records_that_messages_make_and_answer_are_described(document: Any) -> None:
    win = one(document, "//e:Action[@Name='WinOpportunity']")
    taken = {item.get("Name"): item.get("Type") for item in win.iterfind("e:Parameter", EDM)}
    assert taken == {"OpportunityClose": "mscrm.opportunityclose", "Status": "Edm.Int32"}
    qualify = one(document, "//e:Action[@Name='QualifyLead']")
    assert one(qualify, "e:ReturnType/@Type") == "Collection(mscrm.crmbaseentity)"
    assert one(document, "//e:ComplexType[@Name='new_PingResponse']/e:Property/@Type") == "Edm.String"


def test_a_choice_of_metadata_comes_in_one_answer(crm: Crm) -> None:
    named = {"PropertyName": "LogicalName", "ConditionOperator": "Equals"}
    query = {
        "Properties": {"PropertyNames": ["LogicalName", "Attributes"]},
        "Criteria": {"Conditions": [{**named, "Value": {"Type": "System.String", "Value": "account"}}]},
        "AttributeQuery": {
            "Properties": {"PropertyNames": ["LogicalName", "MaxLength"]},
            "Criteria": {
                "FilterOperator": "Or",
                "Conditions": [{**named, "Value": "name"}, {**named, "Value": "fax"}],
            },
        },
    }
    path = "RetrieveMetadataChanges(Query=@p1)"
    [entity] = crm.get(path, params={"@p1": json.dumps(query)})["EntityMetadata"]
    assert set(entity) == {"@odata.type", "MetadataId", "LogicalName", "Attributes"}
    assert {item["LogicalName"]: item["MaxLength"] for item in entity["Attributes"]} == {
        "name": 160,
        "fax": 50,
    }
    named["ConditionOperator"] = "Sounds"
    wrong = {"Criteria": {"Conditions": [{**named, "Value": "x"}]}}
    assert crm.error("GET", path, params={"@p1": json.dumps(wrong)})[0] == 501
    unnamed = {"Criteria": {"Conditions": [{**named, "PropertyName": ["LogicalName"]}]}}
    assert crm.error("GET", path, params={"@p1": json.dumps(unnamed)})[0] == 400
    assert crm.error("GET", path, params={"@p1": "{"})[0] == 400
