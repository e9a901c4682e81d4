"""`manage.py importmetadata`: entities as a Dataverse organisation has them, from the files it answers."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from crmbox.engine.connection import read_unit
from crmbox.platform import EmbeddedPlatform
from crmbox.webapi.navigation import navigations
from crmclient.errors import InvalidRecord
from crmclient.metadata import AttributeType, Cascade, DateTimeBehavior
from crmclient.query.ast import Column, Query
from crmclient.values import Reference
from tests.crmbox.definition_files import attribute, entity, imported, label, option, options

pytestmark = pytest.mark.django_db

STRING = "#Microsoft.Dynamics.CRM.StringAttributeMetadata"


GRADES = options("wool_grades", option(1, "Coarse"), option(2, "Fine"), IsGlobal=True)
COLOURS = options("wool_sheep_colour", option(7, "Black"), option(8, "White", IsHidden=True))
STATES = options("wool_sheep_statecode", option(0, "Grazing"), option(1, "Gone"))
STATUSES = options(
    "wool_sheep_statuscode",
    *(
        option(value, text, State=state)
        for value, text, state in ((1, "Out", 0), (2, "In", 0), (3, "Sold", 1))
    ),
)

SHEEP = entity(
    "wool_Sheep",
    attribute("wool_Weight", "Decimal", Precision=2, MinValue=0.5, MaxValue=300),
    attribute("wool_Price", "Money", Precision=2),
    attribute("wool_Shorn", "DateTime", DateTimeBehavior={"Value": "DateOnly"}),
    attribute("wool_Story", "Memo", MaxLength=1_073_741_823),
    attribute("wool_Tame", "Boolean", DefaultValue=True),
    attribute("wool_Grade", "Picklist", OptionSet=GRADES, DefaultFormValue=2),
    attribute(
        "wool_Colours", "Virtual", OptionSet=COLOURS, AttributeTypeName={"Value": "MultiSelectPicklistType"}
    ),
    attribute("statecode", "State", OptionSet=STATES, RequiredLevel={"Value": "SystemRequired"}),
    attribute("statuscode", "Status", OptionSet=STATUSES),
    attribute("wool_FarmId", "Lookup", Targets=["wool_farm"]),
    attribute("wool_FarmIdName", "String", AttributeOf="wool_farmid"),
    attribute("wool_Photo", "Virtual", AttributeTypeName={"Value": "ImageType"}, MaxSizeInKB=10_240),
    attribute("wool_Parties", "PartyList", Targets=["account"]),
    attribute("wool_Managed", "ManagedProperty"),
    Keys=[{"LogicalName": "wool_tag", "KeyAttributes": ["wool_name"]}],
    ManyToOneRelationships=[
        {
            "SchemaName": "wool_farm_sheep",
            "ReferencedEntity": "wool_farm",
            "ReferencingEntity": "wool_sheep",
            "ReferencingAttribute": "wool_farmid",
            "CascadeConfiguration": {"Delete": "Cascade"},
        }
    ],
    ManyToManyRelationships=[
        {
            "SchemaName": "wool_sheep_shows",
            "Entity1LogicalName": "wool_sheep",
            "Entity2LogicalName": "wool_show",
            "IntersectEntityName": "wool_sheep_show",
        }
    ],
)
FARM = entity("wool_Farm")
SHOW = entity("wool_Show", OwnershipType="OrganizationOwned")
WHOLE = {"@odata.context": "x", "EntityMetadata": [SHEEP, FARM, SHOW], "ServerVersionStamp": "1"}


def test_only_what_is_asked_for_is_made(tmp_path: Path) -> None:
    told = imported(tmp_path, WHOLE, "--entities", "wool_farm")

    present = EmbeddedPlatform().entities()
    assert "Made 1 entities" in told
    assert {name for name in present if name.startswith("wool_")} == {"wool_farm"}
    assert present["wool_farm"].label.texts == {1033: "Farm", 1031: "wool_Farm auf Deutsch"}


def test_without_a_wish_it_tells_what_there_is(tmp_path: Path) -> None:
    assert "3 entities with 26 attributes: wool_farm, wool_sheep, wool_show" in imported(tmp_path, WHOLE)
    assert "wool_farm" not in EmbeddedPlatform().entities()


def test_attributes_are_as_they_were(tmp_path: Path) -> None:
    imported(tmp_path, WHOLE, "--all")

    attributes = EmbeddedPlatform().attributes("wool_sheep")
    assert (attributes["wool_weight"].minimum, attributes["wool_weight"].precision) == (Decimal("0.5"), 2)
    assert attributes["wool_shorn"].behavior is DateTimeBehavior.DATE_ONLY
    assert attributes["wool_story"].max_length == 1_048_576
    assert attributes["wool_colours"].type is AttributeType.MULTISELECT
    assert attributes["wool_photo"].max_size == 10_240 * 1024
    assert attributes["createdon"].label.text() == "Born"
    assert not {"wool_farmidname", "wool_parties", "wool_managed"} & set(attributes)


def test_options_are_as_they_were(tmp_path: Path) -> None:
    imported(tmp_path, WHOLE, "--all")

    platform = EmbeddedPlatform()
    colours = platform.option_set("wool_colours", entity="wool_sheep")
    statuses = platform.option_set("statuscode", entity="wool_sheep")
    assert [(each.value, each.hidden) for each in colours.options] == [(7, False), (8, True)]
    assert [each.label.text() for each in platform.option_set("wool_grades").options] == ["Coarse", "Fine"]
    assert [each.value for each in statuses.options if statuses.is_inactive(each)] == [3]


def test_a_state_cannot_be_emptied(tmp_path: Path) -> None:
    imported(tmp_path, WHOLE, "--all")
    platform = EmbeddedPlatform()
    sheep = platform.create("wool_sheep", {"wool_name": "Dolly"}).id
    with pytest.raises(InvalidRecord, match="statecode"):
        platform.update("wool_sheep", sheep, {"statecode": None})


def test_records_live_in_what_was_made(tmp_path: Path) -> None:
    imported(tmp_path, WHOLE, "--all")
    platform = EmbeddedPlatform()
    farm = platform.create("wool_farm", {"wool_name": "Hill"}).id
    sheep = platform.create("wool_sheep", {"wool_name": "Dolly", "wool_farmid": Reference("wool_farm", farm)})

    values = platform.retrieve("wool_sheep", sheep.id, ["wool_grade", "wool_tame", "statuscode"]).values
    assert values == {"wool_grade": 2, "wool_tame": True, "statuscode": 1}
    with pytest.raises(InvalidRecord):
        platform.update("wool_sheep", sheep.id, {"wool_weight": Decimal(301)})
    platform.delete("wool_farm", farm)
    assert platform.query(Query("wool_sheep", (Column("wool_name"),))).rows == []


def test_relationships_keep_their_names_and_what_a_delete_does(tmp_path: Path) -> None:
    imported(tmp_path, WHOLE, "--all")

    relationships = {each.name: each for each in EmbeddedPlatform().relationships("wool_sheep")}
    assert relationships["wool_farm_sheep"].on_delete is Cascade.DELETE
    assert relationships["wool_sheep_shows"].intersect == "wool_sheep_show"


def test_an_intersect_entity_has_the_names_that_it_has_at_the_source(tmp_path: Path) -> None:
    showing = entity(
        "wool_Sheep_Show",
        EntitySetName="wool_showings",
        PrimaryIdAttribute="wool_showingid",
        IsIntersect=True,
    )
    whole = {**WHOLE, "EntityMetadata": [*WHOLE["EntityMetadata"], showing]}

    imported(tmp_path, whole, "--all")

    made = EmbeddedPlatform().entities()["wool_sheep_show"]
    assert (made.entity_set, made.primary_id) == ("wool_showings", "wool_showingid")


def test_a_lookup_that_only_the_platform_writes_gets_further_targets(tmp_path: Path) -> None:
    def party(*targets: str) -> dict[str, Any]:
        lookup = attribute("partyid", "Lookup", Targets=list(targets), IsValidForCreate=False)
        return entity("wool_Party", {**lookup, "IsValidForUpdate": False})

    imported(tmp_path, {"value": [party("systemuser")]}, "--all")
    imported(tmp_path, {"value": [FARM, party("systemuser", "wool_farm")]}, "--all")

    lookup = EmbeddedPlatform().attributes("wool_party")["partyid"]
    assert lookup.targets == ("systemuser", "wool_farm")
    assert not lookup.creatable


def test_related_entities_come_along_when_wished(tmp_path: Path) -> None:
    imported(tmp_path, WHOLE, "--entities", "wool_sheep", "--related")

    assert {"wool_farm", "wool_sheep"} <= set(EmbeddedPlatform().entities())
    assert "wool_show" not in EmbeddedPlatform().entities()


def test_what_the_files_do_not_describe_no_option_brings(tmp_path: Path) -> None:
    yarn = entity("wool_Yarn", attribute("wool_FarmId", "Lookup", Targets=["wool_farm"]))

    told = imported(tmp_path, {"value": [yarn]}, "--all", "--dry-run")

    assert "wool_farm: the source does not describe it as an entity" in told
    assert "To have it" not in told


def test_a_later_run_brings_what_has_changed_and_what_was_missing(tmp_path: Path) -> None:
    assert "wool_sheep.wool_farmid: no entity" in imported(tmp_path, WHOLE, "--entities", "wool_sheep")
    EmbeddedPlatform().create("wool_sheep", {"wool_name": "Dolly"})
    changed = json.loads(json.dumps(WHOLE))
    sheep = changed["EntityMetadata"][0]
    sheep["Attributes"].append(attribute("wool_Ear", "String", MaxLength=5))
    sheep["Attributes"][1]["MaxLength"] = 90
    sheep["Attributes"][1]["DisplayName"] = label("Call name")

    assert "Made 1 entities, changed 1" in imported(tmp_path, changed, "--entities", "wool_sheep,wool_farm")
    assert "Made 0 entities, changed 0" in imported(tmp_path, changed, "--entities", "wool_sheep,wool_farm")

    attributes = EmbeddedPlatform().attributes("wool_sheep")
    assert attributes["wool_farmid"].targets == ("wool_farm",)
    assert attributes["wool_ear"].max_length == 5
    assert (attributes["wool_name"].max_length, attributes["wool_name"].label.text()) == (90, "Call name")
    [row] = EmbeddedPlatform().query(Query("wool_sheep", (Column("wool_name"),))).rows
    assert row["wool_name"] == "Dolly"


def test_option_sets_may_come_in_a_file_of_their_own(tmp_path: Path) -> None:
    bare = entity("wool_Yarn", attribute("wool_Grade", "Picklist", OptionSet={**GRADES, "Options": []}))
    sets = tmp_path / "sets.json"
    sets.write_text(
        json.dumps({"value": [GRADES, {"OptionSetType": "Boolean", "Name": "x"}]}), encoding="utf-8"
    )

    imported(tmp_path, {"value": [bare]}, str(sets), "--all")

    assert len(EmbeddedPlatform().option_set("wool_grade", entity="wool_yarn").options) == 2


CSDL = """<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
<edmx:Reference Uri="x"><edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/></edmx:Reference>
<edmx:DataServices><Schema Namespace="Microsoft.Dynamics.CRM" Alias="mscrm" xmlns="http://docs.oasis-open.org/odata/ns/edm">
<EnumType Name="AccessRights" IsFlags="true"><Member Name="None" Value="0"/></EnumType>
<ComplexType Name="Paging"><Property Name="Count" Type="Edm.Int32"/></ComplexType>
<EntityType Name="crmbaseentity" Abstract="true"/>
<EntityType Name="wool_event" BaseType="mscrm.crmbaseentity"><Key><PropertyRef Name="eventid"/></Key>
 <Property Name="eventid" Type="Edm.Guid"/><Property Name="subject" Type="Edm.String" Unicode="false">
 <Annotation Term="Org.OData.Core.V1.Description" String="What it is about"/></Property></EntityType>
<EntityType Name="wool_call" BaseType="mscrm.wool_event">
 <Property Name="wool_fee" Type="Edm.Decimal" Scale="Variable"/>
 <Property Name="wool_fee_base" Type="Edm.Decimal"/>
 <Property Name="wool_day" Type="Edm.Date"/><Property Name="wool_rights" Type="mscrm.AccessRights"/>
 <Property Name="statecode" Type="Edm.Int32"/><Property Name="statuscode" Type="Edm.Int32"/>
 <Property Name="wool_paper" Type="Edm.Guid"/><Property Name="wool_paper_name" Type="Edm.String"/>
 <Property Name="wool_face" Type="Edm.Binary"/><Property Name="wool_faceid" Type="Edm.Guid"/>
 <Property Name="wool_face_timestamp" Type="Edm.Int64"/><Property Name="wool_face_url" Type="Edm.String"/>
 <Property Name="_wool_about_value" Type="Edm.Guid"/>
 <NavigationProperty Name="wool_about_team" Type="mscrm.team" Partner="wool_team_calls">
  <ReferentialConstraint Property="_wool_about_value" ReferencedProperty="teamid"/></NavigationProperty>
 <NavigationProperty Name="wool_about_event" Type="mscrm.wool_event" Partner="wool_event_calls">
  <ReferentialConstraint Property="_wool_about_value" ReferencedProperty="eventid"/></NavigationProperty>
</EntityType>
<EntityType Name="team" BaseType="mscrm.crmbaseentity"><Key><PropertyRef Name="teamid"/></Key>
 <Property Name="teamid" Type="Edm.Guid"/></EntityType>
<Action Name="wool_Shear" IsBound="true"><Parameter Name="entity" Type="mscrm.wool_call"/></Action>
<Function Name="WhoAmI"><ReturnType Type="mscrm.Paging"/></Function>
<EntityContainer Name="System"><EntitySet Name="wool_calls" EntityType="Microsoft.Dynamics.CRM.wool_call"/>
 <EntitySet Name="wool_events" EntityType="Microsoft.Dynamics.CRM.wool_event"/>
 <EntitySet Name="teams" EntityType="Microsoft.Dynamics.CRM.team"/></EntityContainer>
</Schema></edmx:DataServices></edmx:Edmx>
"""


def test_a_metadata_document_gives_what_it_knows(tmp_path: Path) -> None:
    imported(tmp_path, CSDL, "--entities", "wool_call,wool_event", suffix="xml")

    platform = EmbeddedPlatform()
    attributes = platform.attributes("wool_call")
    types = {
        name: each.type.value
        for name, each in attributes.items()
        if name == "subject" or name.startswith("wool_")
    }
    assert types == {
        "subject": "String",
        "wool_fee": "Money",
        "wool_fee_base": "Decimal",
        "wool_day": "DateTime",
        "wool_paper": "File",
        "wool_face": "Image",
        "wool_about": "Lookup",
    }
    assert attributes["wool_about"].targets == ("team", "wool_event")
    assert platform.entities()["wool_call"].primary_name == "subject"
    assert "wool_event_calls" in {each.name for each in platform.relationships("wool_call")}
    assert len(platform.option_set("statecode", entity="wool_call").options) == 2


def test_a_metadata_document_changes_nothing_that_is_known_better(tmp_path: Path) -> None:
    imported(tmp_path, WHOLE, "--all")
    before = EmbeddedPlatform().attributes("wool_farm")
    outline = (
        CSDL.replace("wool_event", "wool_farm")
        .replace("eventid", "wool_farmid")
        .replace('Name="subject"', 'Name="wool_name"')
    )

    imported(tmp_path, outline, "--entities", "wool_farm", suffix="xml")

    assert EmbeddedPlatform().attributes("wool_farm") == before


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        (gzip.compress(CSDL.encode()), "is compressed. Unpack it"),
        (b"PK\x03\x04" + CSDL.encode(), "is compressed. Unpack it"),
        ({"error": {"code": "0x80040220", "message": "You may not read it."}}, "says: You may not read it."),
        ("hello", "is no JSON at all"),
        (json.dumps(WHOLE)[:-200], "ends in the middle"),
        (json.dumps(WHOLE) + "{}", "something after the end"),
        ('{"value": [{"LogicalName": "x",}]}', "is not JSON"),
        ('{"value": [{"name": "Contoso"}]}', "holds other things than entities"),
        ('{"value": [5]}', "describe 0 entities with 0 attributes.\n"),
        ("[" * 100_000, "ends in the middle"),
        ('{"value": [' + "[" * 5_000 + "]" * 5_000 + "]}", "is not JSON"),
        ({"value": [entity("wool_Bad", {"LogicalName": "x"})]}, "not as Dataverse writes it"),
        (
            {"value": [entity("wool_Bad", attribute("x", "Picklist", OptionSet="y", RequiredLevel="z"))]},
            "wool_bad",
        ),
        ({"value": [entity("wool_Bad") | {"LogicalName": 'x"; DROP'}]}, "for a name"),
        ({"value": [entity("wool_Bad", EntitySetName="accounts/../x")]}, "for a name"),
        ("<html><body>Sign in</body></html>", "is a web page"),
        ("\n<!DOCTYPE HTML><p>Sign in<br>", "is a web page"),
        ("<html><br>".encode("utf-16"), "is a web page"),
        ("<feed/>", "no $metadata document"),
        (CSDL[:900], "not well-formed"),
        (
            '<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"/>',
            "older OData",
        ),
        (
            CSDL.replace("<edmx:Edmx ", "<!DOCTYPE x [<!ENTITY a 'b'>]>\n<edmx:Edmx ", 1),
            "no $metadata document",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(tmp_path: Path, content: Any, reason: str) -> None:
    try:
        told = imported(tmp_path, content, "--all")
    except CommandError as error:
        told = str(error)

    assert reason in told
    assert not [name for name in EmbeddedPlatform().entities() if name.startswith(("wool_", "x"))]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("wool_event", "wool_" + "e" * 11_000_000, id="a value"),
        pytest.param("<Schema", "<" + "e" * 60_000, id="a name"),
        pytest.param("<Schema", "<Schema>" * 300 + "<Schema", id="nesting"),
        pytest.param("<Schema", "<!--" + "e" * 11_000_000 + "--><Schema", id="a comment"),
    ],
)
def test_what_is_too_large_for_metadata_is_refused_without_the_words_of_a_parser(
    tmp_path: Path, old: str, new: str
) -> None:
    with pytest.raises(CommandError, match="too large for metadata") as refusal:
        imported(tmp_path, CSDL.replace(old, new, 1), "--all", suffix="xml")

    assert "XML_PARSE_HUGE" not in str(refusal.value)


def test_an_entity_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    bare = {"value": [{**FARM, "PrimaryIdAttribute": None}]}

    for arguments in ((), ("--all",)):
        told = imported(tmp_path, bare, *arguments)
        assert "Left out: wool_farm: it has no entity set or no id, so its records cannot be reached." in told
    report = json.loads(imported(tmp_path, bare, "--all", "--json"))
    assert [each["name"] for each in report["left_out"]] == ["wool_farm"]
    with pytest.raises(CommandError, match="wool_farm: it has no entity set or no id"):
        imported(tmp_path, bare, "--entities", "wool_farm")


def test_a_name_that_is_not_described_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no entity wool_goat"):
        imported(tmp_path, WHOLE, "--entities", "wool_goat,wool_farm")


def test_lookups_are_spelled_as_they_are_navigated(tmp_path: Path) -> None:
    owner = attribute("wool_OwnerRef", "Customer", Targets=["systemuser", "team"])
    # As Dataverse has `parentcustomerid_account` for ParentCustomerId, and `new_CaseId` for new_CaseId.
    to_one = [
        {
            "SchemaName": f"wool_farm_{target}",
            "ReferencedEntity": target,
            "ReferencingEntity": "wool_farm",
            "ReferencingAttribute": "wool_ownerref",
            "ReferencingEntityNavigationPropertyName": f"wool_ownerref_{target}",
        }
        for target in ("systemuser", "team")
    ]
    farm = {**FARM, "Attributes": [*FARM["Attributes"], owner], "ManyToOneRelationships": to_one}

    imported(tmp_path, {"value": [farm]}, "--all")

    with read_unit() as unit:
        names = set(navigations(unit.snapshot, "wool_farm"))
    assert {"wool_ownerref_systemuser", "wool_ownerref_team"} <= names


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--entities", "wool_sheep", "--related=x.json"),
            "“x.json” is no number of levels from 1 to 100. Write a",
        ),
        (("--entities", "wool_sheep", "--related=0"), "“0” is no number of levels"),
        (("--all", "--related"), "--related makes what lookups of --entities point at."),
        (("--related",), "Name these with --entities, or leave --related out."),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    with pytest.raises(CommandError) as refused:
        imported(tmp_path, WHOLE, *arguments)
    assert said in str(refused.value)
    assert "wool_sheep" not in EmbeddedPlatform().entities()


def test_a_source_of_which_no_entity_can_be_made_is_not_said_to_need_all(tmp_path: Path) -> None:
    bare = {"value": [{**FARM, "PrimaryIdAttribute": None}]}
    told = imported(tmp_path, bare, "--all")
    assert "Nothing was made. None of them can be made." in told
    assert "or --all" not in told
