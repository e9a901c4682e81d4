"""Microsoft's SDK for Python changes the metadata, and reads it, unchanged."""

from __future__ import annotations

import enum
import uuid
from collections.abc import Iterator

import pytest
from PowerPlatform.Dataverse.client import DataverseClient
from PowerPlatform.Dataverse.models.labels import Label, LocalizedLabel
from PowerPlatform.Dataverse.models.relationship import (
    LookupAttributeMetadata,
    ManyToManyRelationshipMetadata,
    OneToManyRelationshipMetadata,
)
from PowerPlatform.Dataverse.models.upsert import UpsertItem

pytestmark = pytest.mark.processes


class Grade(enum.IntEnum):
    COARSE = 1
    FINE = 2


COLUMNS = {
    "new_Title": "string",
    "new_Story": "memo",
    "new_Price": "decimal",
    "new_Cost": "money",
    "new_Number": {"type": "int", "min_value": 1, "max_value": 5},
    "new_Share": "float",
    "new_Since": "datetime",
    "new_Sold": "bool",
    "new_Plan": "file",
    "new_Grade": Grade,
}


@pytest.fixture
def table(sdk: DataverseClient) -> Iterator[str]:
    """The schema name of a table with a column of every type."""
    name = f"new_Wool{uuid.uuid4().hex[:6]}"
    sdk.tables.create(name, COLUMNS, primary_column="new_Label", display_name="Wool")
    yield name
    sdk.tables.delete(name)
    assert sdk.tables.get(name) is None


def test_a_table_is_there_with_its_columns(sdk: DataverseClient, table: str) -> None:
    info = sdk.tables.get(table)
    columns = {column["SchemaName"]: column for column in sdk.tables.list_columns(table, typed=True)}

    assert info is not None
    assert info.logical_name == table.lower()
    assert set(COLUMNS) < set(columns)
    assert (columns["new_Number"]["MinValue"], columns["new_Number"]["MaxValue"]) == (1, 5)
    wanted = f"SchemaName eq '{table}'"
    assert [each["SchemaName"] for each in sdk.tables.list(filter=wanted, select=["SchemaName"])] == [table]


def test_its_records_hold_what_they_are_given(sdk: DataverseClient, table: str) -> None:
    values = {"new_Label": "Merino", "new_Price": 1.5, "new_Sold": True, "new_Number": 3, "new_Grade": "FINE"}
    id = sdk.records.create(table, {**values, "new_Since": "2024-02-29T12:00:00Z"})

    row = sdk.records.retrieve(table, id)

    assert row is not None
    assert row["new_grade"] == Grade.FINE
    assert (row["new_price"], row["new_sold"], row["new_number"]) == (1.5, True, 3)
    assert row["new_since"] == "2024-02-29T12:00:00Z"


def test_columns_come_change_and_go(sdk: DataverseClient, table: str) -> None:
    sdk.tables.add_columns(table, {"new_Note": {"type": "memo", "max_length": 2000}, "new_Old": "bool"})
    sdk.tables.update_column(table, "new_Title", {"max_length": 400, "display_name": "The title"})
    sdk.tables.update_columns(table, {"new_Number": {"max_value": 9}, "new_Price": {"precision": 3}})
    sdk.tables.remove_columns(table, ["new_Old"])

    title = sdk.tables.get_column(table, "new_Title", typed=True)
    note = sdk.tables.get_column(table, "new_Note", typed=True)

    assert title is not None
    assert note is not None
    assert (title["MaxLength"], note["MaxLength"]) == (400, 2000)
    assert title["DisplayName"]["UserLocalizedLabel"]["Label"] == "The title"
    assert sdk.tables.get_column(table, "new_Old") is None


def test_relationships_tie_tables(sdk: DataverseClient, table: str) -> None:
    lookup = sdk.tables.create_lookup_field(table.lower(), "new_AccountId", "account", display_name="Account")
    sdk.tables.create_one_to_many_relationship(
        LookupAttributeMetadata(
            schema_name="new_ContactId", display_name=Label([LocalizedLabel("Contact", 1033)])
        ),
        OneToManyRelationshipMetadata(
            schema_name=f"new_contact_{table}",
            referenced_entity="contact",
            referencing_entity=table.lower(),
            referenced_attribute="contactid",
        ),
    )
    pairs = sdk.tables.create_many_to_many_relationship(
        ManyToManyRelationshipMetadata(
            schema_name=f"new_pairs_{table}",
            entity1_logical_name="account",
            entity2_logical_name=table.lower(),
        )
    )
    account = sdk.records.create("account", {"name": "Tied"})
    id = sdk.records.create(table, {"new_Label": "Tied", "new_AccountId@odata.bind": f"/accounts({account})"})

    row = sdk.records.retrieve(table, id)
    names = {each["SchemaName"] for each in sdk.tables.list_table_relationships(table)}

    assert row is not None
    assert row["_new_accountid_value"] == account
    assert {lookup.relationship_schema_name, f"new_contact_{table}", f"new_pairs_{table}"} <= names
    sdk.tables.delete_relationship(str(pairs.relationship_id))
    assert sdk.tables.get_relationship(f"new_pairs_{table}") is None


def test_keys_find_records(sdk: DataverseClient, table: str) -> None:
    key = sdk.tables.create_alternate_key(table, f"new_key_{table}", ["new_title"])
    for label in ("First", "Second"):
        sdk.records.upsert(table, [UpsertItem({"new_title": "T-1"}, {"new_label": label})])

    assert [row["new_label"] for row in sdk.records.list(table)] == ["Second"]
    assert [each.key_attributes for each in sdk.tables.get_alternate_keys(table)] == [["new_title"]]
    sdk.tables.delete_alternate_key(table, key.metadata_id)
    assert sdk.tables.get_alternate_keys(table) == []


def test_columns_are_found_by_type(sdk: DataverseClient) -> None:
    plain = sdk.tables.list_columns("account", select=["LogicalName"], filter="AttributeType eq 'Money'")
    one_to_many = "RelationshipType eq Microsoft.Dynamics.CRM.RelationshipType'OneToManyRelationship'"

    assert "revenue" in {column["LogicalName"] for column in plain}
    assert len(sdk.tables.list_relationships(filter=one_to_many, select=["SchemaName"])) > 10
    assert {column["name"] for column in sdk.query.sql_columns("account")} >= {"name", "revenue"}
