"""What the server says of its metadata, held against what the platform itself knows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.webapi.crm import Crm

ACCOUNT = "EntityDefinitions(LogicalName='account')"
CRM = "Microsoft.Dynamics.CRM"


@pytest.fixture(scope="module")
def attributes(crm: Crm) -> dict[str, dict[str, Any]]:
    return {item["LogicalName"]: item for item in crm.get(f"{ACCOUNT}/Attributes")["value"]}


def test_entities_are_listed_selected_and_filtered(crm: Crm) -> None:
    every = crm.get("EntityDefinitions?$select=LogicalName,EntitySetName")["value"]
    assert {item["EntitySetName"] for item in every} == {item["name"] for item in crm.get("")["value"]}
    assert all(set(item) == {"MetadataId", "LogicalName", "EntitySetName"} for item in every)
    sets = {item["LogicalName"]: item["EntitySetName"] for item in every}
    assert sets["teammembership"] == "teammemberships"
    assert sets["systemuserroles"] == "systemuserrolescollection"
    params = {"$filter": "IsIntersect eq true and IsPrivate eq false", "$select": "LogicalName"}
    pairs = {item["LogicalName"] for item in crm.get("EntityDefinitions", params=params)["value"]}
    assert "teammembership" in pairs
    assert "account" not in pairs


def test_an_entity_is_found_by_its_name_and_by_its_id(crm: Crm) -> None:
    entity = crm.get(ACCOUNT)
    assert (entity["PrimaryIdAttribute"], entity["PrimaryNameAttribute"]) == ("accountid", "name")
    assert entity["HasNotes"] is True
    assert entity["DisplayName"]["UserLocalizedLabel"]["Label"] == "Account"
    labels = {item["LanguageCode"]: item for item in entity["DisplayName"]["LocalizedLabels"]}
    assert labels[1031]["Label"] == "Firma"
    assert set(labels[1031]) == {"Label", "LanguageCode", "IsManaged", "MetadataId", "HasChanged"}
    assert crm.get(f"EntityDefinitions({entity['MetadataId']})") == entity
    assert crm.get(f"{ACCOUNT}/EntitySetName")["value"] == "accounts"
    assert crm.error("GET", "EntityDefinitions(LogicalName='nonsense')")[0] == 404


def test_attributes_say_what_they_hold(attributes: dict[str, dict[str, Any]]) -> None:
    name, revenue = attributes["name"], attributes["revenue"]
    assert name["@odata.type"] == f"#{CRM}.StringAttributeMetadata"
    assert (name["MaxLength"], name["IsPrimaryName"]) == (160, True)
    assert name["RequiredLevel"]["Value"] == "ApplicationRequired"
    assert (revenue["AttributeType"], revenue["Precision"]) == ("Money", 4)
    assert Decimal(str(revenue["MinValue"])) == 0
    assert attributes["new_customersince"]["DateTimeBehavior"] == {"Value": "DateOnly"}
    assert attributes["new_contract"]["MaxSizeInKB"] == 128 * 1024
    assert attributes["new_contract"]["AttributeTypeName"] == {"Value": "FileType"}
    assert attributes["ownerid"]["Targets"] == ["systemuser", "team"]
    assert attributes["createdon"]["IsValidForCreate"] is False


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ("AttributeType eq 'Money'", {"revenue", "creditlimit", "marketcap"}),
        (f"AttributeType eq {CRM}.AttributeTypeCode'Money'", {"revenue", "creditlimit", "marketcap"}),
        ("LogicalName eq 'name' or LogicalName eq 'fax'", {"name", "fax"}),
        ("startswith(LogicalName,'address1_l') and not (LogicalName eq 'address1_line1')", None),
    ],
)
def test_attributes_are_filtered_by_plain_and_qualified_names(
    crm: Crm, filter: str, expected: set[str] | None
) -> None:
    params = {"$filter": filter, "$select": "LogicalName"}
    names = {item["LogicalName"] for item in crm.get(f"{ACCOUNT}/Attributes", params=params)["value"]}
    lines = {"address1_line2", "address1_line3", "address1_latitude", "address1_longitude"}
    assert names == (lines if expected is None else expected)


def test_a_cast_gives_the_options_of_choices(crm: Crm) -> None:
    path = f"{ACCOUNT}/Attributes/{CRM}.PicklistAttributeMetadata"
    rows = crm.get(f"{path}?$select=LogicalName&$expand=OptionSet($select=Options),GlobalOptionSet")["value"]
    by_name = {row["LogicalName"]: row for row in rows}
    own, shared = by_name["accountcategorycode"], by_name["new_priority"]
    assert [option["Value"] for option in own["OptionSet"]["Options"]] == [1, 2]
    assert own["GlobalOptionSet"] is None
    assert shared["GlobalOptionSet"]["Name"] == "new_priority"
    assert shared["GlobalOptionSet"]["IsGlobal"] is True
    label = own["OptionSet"]["Options"][0]["Label"]["LocalizedLabels"][1]
    assert (label["LanguageCode"], label["Label"]) == (1031, "Bevorzugter Kunde")


def test_states_and_statuses_belong_together(crm: Crm) -> None:
    path = f"EntityDefinitions(LogicalName='opportunity')/Attributes/{CRM}."
    [state] = crm.get(f"{path}StateAttributeMetadata?$expand=OptionSet")["value"]
    [status] = crm.get(f"{path}StatusAttributeMetadata?$expand=OptionSet")["value"]
    states = {option["Value"]: option["DefaultStatus"] for option in state["OptionSet"]["Options"]}
    assert states == {0: 1, 1: 3, 2: 4}
    assert {o["Value"]: o["State"] for o in status["OptionSet"]["Options"]} == {1: 0, 2: 0, 3: 1, 4: 2, 5: 2}


def test_one_attribute_is_found_and_cast(crm: Crm) -> None:
    path = f"{ACCOUNT}/Attributes(LogicalName='industrycode')"
    plain = crm.get(f"{path}?$select=SchemaName")
    assert plain["@odata.type"] == f"#{CRM}.PicklistAttributeMetadata"
    assert crm.get(f"{path}/{CRM}.PicklistAttributeMetadata/OptionSet")["Options"]
    assert crm.error("GET", f"{path}/{CRM}.MoneyAttributeMetadata")[0] == 404
    boolean = crm.get(f"{ACCOUNT}/Attributes/{CRM}.BooleanAttributeMetadata?$expand=OptionSet")["value"][0]
    assert boolean["OptionSet"]["TrueOption"]["Value"] == 1


def test_global_option_sets_are_found_by_name_and_cast(crm: Crm) -> None:
    path = "GlobalOptionSetDefinitions(Name='new_priority')"
    option_set = crm.get(path)
    assert option_set["OptionSetType"] == "Picklist"
    cast = crm.get(f"{path}/{CRM}.OptionSetMetadata")
    assert cast["Options"] == option_set["Options"]
    assert any(option["IsHidden"] for option in option_set["Options"])
    assert crm.get(f"GlobalOptionSetDefinitions({option_set['MetadataId']})")["Name"] == "new_priority"
    assert option_set["Name"] in {item["Name"] for item in crm.get("GlobalOptionSetDefinitions")["value"]}


def test_relationships_name_their_navigation_properties(crm: Crm) -> None:
    expand = "ManyToOneRelationships,OneToManyRelationships,Keys,ManyToManyRelationships"
    contact = crm.get(f"EntityDefinitions(LogicalName='contact')?$select=LogicalName&$expand={expand}")
    customer = {
        item["ReferencedEntity"]: item["ReferencingEntityNavigationPropertyName"]
        for item in contact["ManyToOneRelationships"]
        if item["ReferencingAttribute"] == "parentcustomerid"
    }
    assert customer == {"account": "parentcustomerid_account", "contact": "parentcustomerid_contact"}
    assert "account_primary_contact" in {item["SchemaName"] for item in contact["OneToManyRelationships"]}
    [relationship] = crm.get("RelationshipDefinitions?$filter=SchemaName eq 'account_parent_account'")[
        "value"
    ]
    assert relationship["CascadeConfiguration"]["Delete"] == "Restrict"
    many = f"RelationshipType eq {CRM}.RelationshipType'ManyToManyRelationship'"
    rows = crm.get("RelationshipDefinitions", params={"$filter": many})["value"]
    assert {row["@odata.type"] for row in rows} == {f"#{CRM}.ManyToManyRelationshipMetadata"}
    assert crm.get(f"{ACCOUNT}/Keys")["value"][0]["KeyAttributes"] == ["accountnumber"]


def test_processes_are_custom_apis(crm: Crm) -> None:
    by_name = {item["uniquename"]: item for item in crm.get("customapis")["value"]}
    approve = by_name["new_Approve"]
    assert (approve["bindingtype"], approve["boundentitylogicalname"]) == (1, "account")
    assert crm.get(f"customapis({approve['customapiid']})?$select=uniquename")["uniquename"] == "new_Approve"
    filter = {"$filter": f"_customapiid_value eq {approve['customapiid']}"}
    [taken] = crm.get("customapirequestparameters", params=filter)["value"]
    [given] = crm.get("customapiresponseproperties", params=filter)["value"]
    assert (taken["uniquename"], taken["type"], taken["isoptional"]) == ("Comment", 10, False)
    assert (given["uniquename"], given["type"]) == ("Approved", 0)


def test_languages_are_those_that_labels_are_written_in(crm: Crm) -> None:
    provisioned = crm.get("RetrieveProvisionedLanguages()")["RetrieveProvisionedLanguages"]
    assert provisioned[0] == 1033
    assert {1031, 1025} < set(provisioned)
    assert crm.get("RetrieveAvailableLanguages")["LocaleIds"] == provisioned


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("EntityDefinitions?$select=Nonsense", 400),
        ("EntityDefinitions?$filter=Nonsense eq 1", 400),
        ("EntityDefinitions?$filter=length(LogicalName) eq 1", 501),
        ("EntityDefinitions?$expand=Nonsense", 400),
        ("EntityDefinitions?$top=1", 501),
        ("EntityDefinitions?$expand=" + "Attributes($expand=" * 900 + "x" + ")" * 900, 400),
        ("EntityDefinitions?$orderby=LogicalName", 501),
        ("EntityDefinitions(Nonsense='x')", 400),
        ("EntityDefinitions(nonsense)", 400),
        (f"{ACCOUNT}/Nonsense", 404),
        (f"{ACCOUNT}/Attributes(LogicalName='nonsense')", 404),
        ("GlobalOptionSetDefinitions(Name='nonsense')", 404),
        ("customapis(nonsense)/CustomAPIRequestParameters", 501),
    ],
)
def test_what_there_is_not_is_refused(crm: Crm, path: str, status: int) -> None:
    assert crm.error("GET", path)[0] == status


@pytest.mark.parametrize(
    "path",
    ["RetrieveMetadataChanges(Query=@p1)", "accounts(@p1)", "RetrieveUserQueries(Source=@p1)"],
)
def test_an_alias_without_a_value_is_named_wherever_it_stands(crm: Crm, path: str) -> None:
    status, _code, message = crm.error("GET", path)
    if "RetrieveUserQueries" not in path:
        assert (status, message) == (400, "The parameter alias @p1 has no value in the query string.")


def test_clients_find_which_messages_an_entity_knows(crm: Crm) -> None:
    asked = "sdkmessageid/name eq 'CreateMultiple' or sdkmessageid/name eq 'CloneAll'"
    answer = crm.get(
        "sdkmessagefilters?$select=sdkmessagefilterid&$expand=sdkmessageid($select=name)"
        f"&$filter=({asked}) and primaryobjecttypecode eq 'account'"
    )

    assert [row["sdkmessageid"]["name"] for row in answer["value"]] == ["CreateMultiple"]
    id = answer["value"][0]["sdkmessageid"]["sdkmessageid"]
    assert crm.get(f"sdkmessages({id})")["name"] == "CreateMultiple"
