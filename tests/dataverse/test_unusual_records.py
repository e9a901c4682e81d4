"""Records that are not as others: without a tag, with attributes that nobody reads, with very many
columns."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from crmclient import exact_json
from crmclient.dataverse.platform import DataversePlatform
from crmclient.errors import InvalidQuery, InvalidRecord, UnexpectedAnswer
from crmclient.query.ast import Aggregate, Column, Query
from tests.contract.test_files import PNG
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import platform_at
from tests.webapi.crm import service

COUNT = Aggregate.COUNT
RECORD = r"/accounts\([0-9a-f-]{36}\)"


def named(platform: DataversePlatform, id: str) -> object:
    return platform.retrieve("account", id, ["name"]).values["name"]


@pytest.mark.parametrize("tag", [None, "", 'W/""'])
def test_a_record_without_a_tag_has_no_version(failing: Failing, tag: str | None) -> None:
    platform = failing.platform()
    id = platform.create("account", {"name": "Tagged"}).id
    row = {"accountid": id, "name": "Without", **({} if tag is None else {"@odata.etag": tag})}
    told = {"status": 200, "headers": {"Content-Type": "application/json"}, "body": json.dumps(row)}
    failing.arm(
        {"method": "GET", "path": RECORD, **told},
        {"method": "PATCH", "path": RECORD, "executed": True, **told},
    )

    record = platform.retrieve("account", id, ["name"])
    written = platform.update("account", id, {"name": "Changed"}, if_version=record.version)

    assert (record.values, record.version) == ({"name": "Without"}, None)
    assert (written.id, written.version) == (id, None)
    assert named(platform, id) == "Changed"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({}, "In the platform's metadata, the property value is missing."),
        ({"value": [{}]}, "In the platform's metadata, the property EntitySetName is missing."),
        ({"value": 5}, "In the platform's metadata, a property is not of its type: "),
    ],
)
def test_metadata_of_another_shape_is_told_by_its_property(
    failing: Failing, answer: dict[str, Any], message: str
) -> None:
    json_type = {"Content-Type": "application/json"}
    strange = {"path": "EntityDefinitions", "status": 200, "headers": json_type, "body": json.dumps(answer)}
    failing.arm({**strange, "times": None})

    with pytest.raises(UnexpectedAnswer) as raised:
        failing.platform().entities()

    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    "entity_set", ["customapis", "customapirequestparameters", "customapiresponseproperties"]
)
def test_custom_apis_are_read_from_all_pages(failing: Failing, entity_set: str) -> None:
    whole = failing.platform().processes()
    failing.arm(first_page(failing, entity_set))

    assert failing.platform().processes() == whole


@pytest.mark.parametrize("entity_set", ["savedqueries", "userqueries"])
def test_views_are_read_from_all_pages(failing: Failing, entity_set: str) -> None:
    whole = failing.platform().saved_views("account")
    assert whole.views
    failing.arm(first_page(failing, entity_set))

    assert failing.platform().saved_views("account") == whole


def test_a_next_page_at_another_address_is_not_asked_for(failing: Failing) -> None:
    failing.arm(first_page(failing, "savedqueries", base="https://elsewhere.example/"))

    with pytest.raises(UnexpectedAnswer, match="The platform's next page is at another address"):
        failing.platform().saved_views("account")


def first_page(failing: Failing, entity_set: str, base: str = "") -> dict[str, Any]:
    """A fault: the rows are on the second page, and the first one is empty."""
    base = base or f"{failing.server.url}/api/data/v9.2/"
    link = f"{base}{entity_set}"
    if entity_set.endswith("queries"):
        link += "?$filter=returnedtypecode eq 'account' and querytype eq 0&$orderby=name"
    return {
        "method": "GET",
        "path": f"/{entity_set}",
        "status": 200,
        "headers": {"Content-Type": "application/json"},
        "body": json.dumps({"value": [], "@odata.nextLink": link.replace(" ", "%20")}),
    }


@pytest.mark.parametrize("column", ["new_logo", "new_contract"])
def test_a_file_in_a_column_that_nobody_reads_is_stored(failing: Failing, column: str) -> None:
    platform = platform_at(failing.server)
    listed = {"value": platform.definitions(["account"])[0]["Attributes"]}
    for item in listed["value"]:
        item["IsValidForRead"] = item["IsValidForRead"] and item["LogicalName"] != column
    told = {
        "status": 200,
        "headers": {"Content-Type": "application/json"},
        "body": exact_json.render(listed).decode(),
    }
    failing.arm({"method": "GET", "path": r"\(LogicalName='account'\)/Attributes$", **told})
    assert not platform.attributes("account")[column].readable
    id = platform.create("account", {"name": "With a file"}).id

    info = platform.upload(
        "account", id, column, io.BytesIO(PNG), file_name="a.png", content_type="image/png"
    )

    assert (info.file_name, info.size, info.content_type) == ("a.png", len(PNG), "image/png")
    download = failing.platform().download("account", id, column)
    assert download is not None
    assert b"".join(download.chunks) == PNG


def test_an_attribute_that_nobody_reads_is_never_asked_for(failing: Failing) -> None:
    platform = failing.platform()
    listed = {"value": platform.definitions(["contact"])[0]["Attributes"]}
    unread = ("emailaddress1", "parentcustomerid")
    for item in listed["value"]:
        item["IsValidForRead"] = item["IsValidForRead"] and item["LogicalName"] not in unread
    told = {
        "status": 200,
        "headers": {"Content-Type": "application/json"},
        "body": exact_json.render(listed).decode(),
    }
    failing.arm({"method": "GET", "path": r"\(LogicalName='contact'\)/Attributes$", **told})

    attributes = platform.attributes("contact")
    id = platform.create("contact", {"lastname": "Secret", "emailaddress1": "a@b.example"}).id

    assert not attributes["emailaddress1"].readable
    assert attributes["lastname"].readable
    with pytest.raises(InvalidRecord):
        platform.retrieve("contact", id, ["emailaddress1"])
    for query in (
        Query("contact", (Column("emailaddress1"),)),
        Query("contact", (Column("emailaddress1", "mail", group_by=True), Column("contactid", "all", COUNT))),
        Query("contact", (Column("parentcustomeridname"),)),
    ):
        with pytest.raises(InvalidQuery, match="does not return its value"):
            platform.query(query)


def test_a_row_may_have_two_hundred_columns(failing: Failing) -> None:
    names = [f"new_c{number:03}" for number in range(200)]
    body = {
        "SchemaName": "new_wide",
        "DisplayName": label("Wide"),
        "DisplayCollectionName": label("Wide"),
        "Attributes": [text(name, primary=name == "new_c000") for name in names],
    }
    service(failing.server).send("POST", "EntityDefinitions", json=body).raise_for_status()
    platform = failing.platform()
    values = {name: f"{name} äß" for name in names}

    id = platform.create("new_wide", values).id

    assert platform.retrieve("new_wide", id, names).values == values
    assert platform.query(Query("new_wide", tuple(map(Column, names)))).rows == [values]
    platform.update("new_wide", id, dict.fromkeys(names[1:], "x"))
    assert platform.retrieve("new_wide", id, names).values == {
        **dict.fromkeys(names, "x"),
        "new_c000": values["new_c000"],
    }


def label(english: str) -> dict[str, Any]:
    return {"LocalizedLabels": [{"Label": english, "LanguageCode": 1033}]}


def text(name: str, *, primary: bool) -> dict[str, Any]:
    return {
        "@odata.type": "Microsoft.Dynamics.CRM.StringAttributeMetadata",
        "SchemaName": name,
        "IsPrimaryName": primary,
        "MaxLength": 100,
        "DisplayName": label(name),
    }
