"""Microsoft's SDK for Python at its ordinary work with records, files and batches, unchanged."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PowerPlatform.Dataverse.client import DataverseClient
from PowerPlatform.Dataverse.core.errors import HttpError
from PowerPlatform.Dataverse.models.filters import col
from PowerPlatform.Dataverse.models.upsert import UpsertItem

pytestmark = pytest.mark.processes


@pytest.fixture
def tag() -> str:
    """A word that only this test's records have in their names."""
    return uuid.uuid4().hex[:8]


@pytest.fixture
def many(sdk: DataverseClient, tag: str) -> list[str]:
    """The ids of 25 accounts."""
    return sdk.records.create(
        "account",
        [{"name": f"Many {tag} {number:02}", "accountnumber": f"{tag}-{number}"} for number in range(25)],
    )


def names(rows: Any) -> list[str]:
    return [row["name"] for row in rows]


def test_a_record_is_created_read_changed_and_deleted(sdk: DataverseClient, tag: str) -> None:
    values = {"name": tag, "telephone1": "1", "revenue": 12.5, "industrycode": "Accounting"}
    id = sdk.records.create("account", values)

    sdk.records.update("account", id, {"telephone1": "2"})
    record = sdk.records.retrieve("account", id, select=["name", "telephone1", "revenue", "industrycode"])
    sdk.records.delete("account", id)

    assert record is not None
    assert (record["name"], record["telephone1"], record["revenue"], record["industrycode"]) == (
        tag,
        "2",
        12.5,
        1,
    )
    assert sdk.records.retrieve("account", id) is None


def test_many_are_changed_and_deleted_at_once(sdk: DataverseClient, many: list[str], tag: str) -> None:
    sdk.records.update("account", many[:3], {"fax": "same"})
    sdk.records.update("account", many[:3], [{"telephone1": str(number)} for number in range(3)])
    rows = sdk.records.list("account", filter=f"fax eq 'same' and contains(name,'{tag}')", orderby=["name"])
    sdk.records.delete("account", many[:3])
    sdk.records.delete("account", many[3:5], use_bulk_delete=False)

    assert [row["telephone1"] for row in rows] == ["0", "1", "2"]
    assert len(sdk.records.list("account", filter=f"contains(name,'{tag}')")) == 20


def test_upserts_create_and_change_by_alternate_key(sdk: DataverseClient, tag: str) -> None:
    def put(*numbers: int, name: str) -> None:
        keys = [{"accountnumber": f"{tag}-{number}"} for number in numbers]
        sdk.records.upsert("account", [UpsertItem(key, {"name": f"{name} {tag}"}) for key in keys])

    put(1, name="One")
    put(1, 2, name="Both")

    assert names(sdk.records.list("account", filter=f"contains(name,'{tag}')")) == [f"Both {tag}"] * 2


def test_pages_are_followed(sdk: DataverseClient, many: list[str], tag: str) -> None:
    wanted = f"contains(name,'{tag}')"
    pages = sdk.records.list_pages("account", filter=wanted, orderby=["name"], page_size=10)
    fetched = sdk.query.fetchxml(
        f'<fetch count="10"><entity name="account"><attribute name="name"/><order attribute="name"/>'
        f'<filter><condition attribute="name" operator="like" value="%{tag}%"/></filter></entity></fetch>'
    )

    sizes = [[len(page) for page in way] for way in (pages, fetched.execute_pages())]

    assert sizes == [[10, 10, 5]] * 2


@pytest.mark.filterwarnings("ignore:Dataverse did not return a paging cookie")
def test_pages_by_number_alone_are_followed(sdk: DataverseClient, many: list[str], tag: str) -> None:
    fetched = sdk.query.fetchxml(
        f'<fetch count="10"><entity name="account"><attribute name="name"/><filter>'
        f'<condition attribute="name" operator="like" value="%{tag}%"/></filter>'
        '<link-entity name="systemuser" from="systemuserid" to="ownerid" alias="owner">'
        '<order attribute="fullname"/></link-entity></entity></fetch>'
    ).execute()

    assert len(set(names(fetched))) == 25


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        (lambda tag: col("name").like("Many %"), 25),
        (lambda tag: col("accountnumber").in_([f"{tag}-1", f"{tag}-2"]), 2),
        (lambda tag: col("accountnumber").not_in([f"{tag}-1", f"{tag}-2"]), 23),
        (lambda tag: (col("accountnumber") == f"{tag}-1") | (col("accountnumber") == f"{tag}-2"), 2),
        (lambda tag: ~(col("accountnumber") == f"{tag}-1"), 24),
        (lambda tag: col("telephone1").is_null(), 25),
        (lambda tag: col("revenue").between(1, 100), 0),
    ],
    ids=["like", "in", "not in", "or", "not", "null", "between"],
)
def test_built_queries_find_what_they_say(
    sdk: DataverseClient, many: list[str], tag: str, condition: Callable[[str], Any], count: int
) -> None:
    built = sdk.query.builder("account").select("name").where(condition(tag))

    records = built.where(col("name").like(f"%{tag}%")).page_size(7).execute()

    assert len(list(records)) == count


def test_related_records_and_labels_come_along(sdk: DataverseClient, tag: str) -> None:
    contact = sdk.records.create("contact", {"lastname": tag})
    bound = {"name": tag, "industrycode": 1, "primarycontactid@odata.bind": f"/contacts({contact})"}
    id = sdk.records.create("account", bound)

    [row] = sdk.records.list(
        "account", filter=f"accountid eq {id}", expand=["primarycontactid"], include_annotations="*"
    )

    assert row["primarycontactid"]["lastname"] == tag
    assert row["industrycode@OData.Community.Display.V1.FormattedValue"] == "Accounting"


@pytest.mark.parametrize(
    ("mode", "size"), [("small", 100_000), ("chunk", 4 * 1024 * 1024), ("chunk", 9_000_000)]
)
def test_files_go_up(sdk: DataverseClient, tmp_path: Path, mode: str, size: int) -> None:
    id = sdk.records.create("account", {"name": "With a contract"})
    path = tmp_path / "contract.pdf"
    path.write_bytes(b"%PDF-1.4\n" + os.urandom(size - 9))

    sdk.files.upload("account", id, "new_contract", str(path), mode=mode)

    row = sdk.records.retrieve("account", id, select=["new_contract", "new_contract_name"])
    assert row is not None
    assert row["new_contract_name"] == "contract.pdf"


def test_a_batch_does_all_that_single_requests_do(sdk: DataverseClient, many: list[str], tag: str) -> None:
    batch = sdk.batch.new()
    batch.records.create("account", {"name": f"First {tag}"})
    batch.records.create("account", [{"name": f"Second {tag}"}, {"name": f"Third {tag}"}])
    batch.records.retrieve("account", many[0], select=["name"])
    batch.records.update("account", many[0], {"fax": "3"})
    batch.records.upsert("account", [UpsertItem({"accountnumber": f"{tag}-1"}, {"name": f"Upserted {tag}"})])
    batch.records.list("account", top=2, select=["name"])
    batch.records.delete("account", many[5])
    batch.tables.get("account")
    batch.tables.list()
    with batch.changeset() as changes:
        contact = changes.records.create("contact", {"lastname": tag})
        changes.records.create("account", {"name": f"Tied {tag}", "primarycontactid@odata.bind": contact})

    result = batch.execute()

    assert not result.has_errors, [each.error_message for each in result.failed]
    [tied] = sdk.records.list("account", filter=f"name eq 'Tied {tag}'", expand=["primarycontactid"])
    assert tied["primarycontactid"]["lastname"] == tag
    assert sdk.records.retrieve("account", many[5]) is None


@pytest.mark.parametrize(("go_on", "statuses"), [(False, [404]), (True, [404, 204])])
def test_a_batch_ends_at_its_first_error_unless_told_otherwise(
    sdk: DataverseClient, tag: str, go_on: bool, statuses: list[int]
) -> None:
    batch = sdk.batch.new()
    batch.records.retrieve("account", str(uuid.uuid4()))
    batch.records.create("account", {"name": tag})

    result = batch.execute(continue_on_error=go_on)

    assert [each.status_code for each in result.responses] == statuses


def test_what_is_wrong_is_said(sdk: DataverseClient) -> None:
    with pytest.raises(HttpError) as raised:
        sdk.records.create("account", {"name": "x" * 161})

    assert raised.value.status_code == 400
    assert "name" in str(raised.value)


def test_sql_is_answered(sdk: DataverseClient, many: list[str], tag: str) -> None:
    rows = sdk.query.sql(
        "SELECT TOP 3 a.name, u.fullname FROM account a JOIN systemuser u ON a.ownerid = u.systemuserid "
        f"WHERE a.name LIKE 'Many {tag}%' ORDER BY a.name DESC"
    )
    frame = sdk.dataframe.sql(f"SELECT COUNT(*) AS many FROM account WHERE name LIKE 'Many {tag}%'")

    assert names(rows) == [f"Many {tag} {number}" for number in (24, 23, 22)]
    assert frame["many"].tolist() == [25]
