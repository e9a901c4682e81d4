"""dataverse-api, a client that others have written for Python, at its ordinary work, unchanged."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from dataverse_api.dataverse import DataverseClient
from dataverse_api.entity import DataverseEntity
from dataverse_api.metadata.attributes import (
    BooleanAttributeMetadata,
    DecimalAttributeMetadata,
    IntegerAttributeMetadata,
    MemoAttributeMetadata,
    StringAttributeMetadata,
)
from dataverse_api.metadata.entity import define_entity
from dataverse_api.metadata.relationships import define_relationship
from dataverse_api.utils.batching import BatchCommand, RequestMethod
from dataverse_api.utils.labels import define_label

from tests.published_clients.conftest import Credential
from tests.servers import Server

pytestmark = pytest.mark.processes


@pytest.fixture
def client(plain: Server) -> Iterator[DataverseClient]:
    with requests.Session() as session:
        token = Credential(plain.url).get_token(f"{plain.url}/.default").token
        session.headers["Authorization"] = f"Bearer {token}"
        yield DataverseClient(session, f"{plain.url}/")


@pytest.fixture
def wool(client: DataverseClient) -> Iterator[DataverseEntity]:
    """A table of the test's own, with a lookup."""
    name = f"new_Wool{uuid.uuid4().hex[:6]}"
    attributes = [
        StringAttributeMetadata(
            schema_name="new_Name", is_primary_name=True, display_name=define_label("Name")
        ),
        StringAttributeMetadata(schema_name="new_Code"),
        DecimalAttributeMetadata(schema_name="new_Price", min_value=0, max_value=100),
        IntegerAttributeMetadata(schema_name="new_Number", min_value=0, max_value=100),
        MemoAttributeMetadata(schema_name="new_Story"),
        BooleanAttributeMetadata(schema_name="new_Sold"),
    ]
    client.create_entity(define_entity(name, attributes), return_representation=True)
    client.create_relationship(
        define_relationship(f"new_account_{name}", name.lower(), "account", "rel_Account")
    )
    yield client.entity(name.lower())
    client.delete_entity(name.lower())


def rows(count: int) -> list[dict[str, Any]]:
    return [{"new_name": f"Row {n}", "new_number": n, "new_price": 1.5} for n in range(count)]


def test_records_are_made_in_every_way_and_read_page_by_page(wool: DataverseEntity) -> None:
    given = rows(12)
    wool.create(given[:3], return_created=True)
    wool.create(given[3:6], mode="multiple")
    wool.create(given[6:9], mode="batch")
    wool.create(given[9:], threading=True)

    records = wool.read(select=["new_name"], order_by="new_number", page_size=5, return_formatted_values=True)
    some = wool.read(select=["new_name"], filter="new_number gt 5 and contains(new_name,'Row')", top=2)

    assert [row["new_name"] for row in records] == [f"Row {n}" for n in range(12)]
    assert len(some) == 2


@pytest.mark.parametrize("mode", ["individual", "batch"])
def test_values_and_records_are_deleted(wool: DataverseEntity, mode: Any) -> None:
    wool.create(rows(4))

    wool.delete_columns(["new_price"], filter="new_number gt 2", mode=mode)
    wool.delete(filter="new_number lt 2", mode=mode)

    left = wool.read(select=["new_price"], order_by="new_number")
    assert [row["new_price"] for row in left] == [1.5, None]


def test_the_definition_is_read_and_changed(client: DataverseClient, wool: DataverseEntity) -> None:
    definition = client.get_entity_definition(wool.logical_name)
    definition.display_name = define_label("Yarn")
    client.update_entity(definition, preserve_localized_labels=True)
    wool.add_attribute(StringAttributeMetadata(schema_name="new_Colour"), return_representation=True)
    wool.remove_attribute(logical_name="new_story")

    again = client.get_entity_definition(wool.logical_name)
    assert again.display_name.localized_labels[0].label == "Yarn"
    assert wool.supports_create_multiple
    assert wool.relationships.single_valued == ["rel_account"]
    wool.create([{"new_name": "Red", "new_colour": "red"}])


def test_upserts_go_by_alternate_key(client: DataverseClient) -> None:
    accounts = client.entity("account")
    [key] = [name for name, columns in accounts.alternate_keys.items() if columns == ["accountnumber"]]
    code = f"{uuid.uuid4().hex[:8]} a/b"
    for name in ("First", "Second"):
        accounts.upsert([{"accountnumber": code, "name": name}], altkey_name=key)
    accounts.upsert([{"accountnumber": code, "name": "Third"}], altkey_name=key, mode="batch")

    records = accounts.read(select=["name"], filter=f"accountnumber eq '{code}'")
    assert [row["name"] for row in records] == ["Third"]


def test_a_batch_takes_what_it_is_given(client: DataverseClient) -> None:
    commands = [
        BatchCommand("accounts?$top=1", RequestMethod.GET),
        BatchCommand("accounts", RequestMethod.POST, data={"name": "In a batch"}),
    ]

    [answer] = client.submit_batch(commands)

    assert (answer.status_code, answer.text.count("HTTP/1.1 20")) == (200, 2)
    assert 1033 in client.get_language_codes()
