"""Files that Dataverse has no bytes of, as the client sees them."""

from __future__ import annotations

import io

import pytest

from crmclient import FileInfo
from crmclient.dataverse.files.upload import BLOCK
from crmclient.errors import PlatformError
from tests.contract.making import account, accounts, named, unique
from tests.contract.test_files import PNG
from tests.dataverse.conftest import Failing


@pytest.mark.parametrize(("column", "content"), [("new_logo", PNG), ("new_contract", b"%PDF-1.4")])
def test_a_file_without_bytes_is_none(failing: Failing, column: str, content: bytes) -> None:
    writer, reader = failing.platform(), failing.platform()
    name = unique("No bytes")
    id = account(writer, name=name)
    writer.upload("account", id, column, io.BytesIO(content), file_name="a.png", content_type="image/png")
    failing.arm({"method": "GET", "path": r"/\$value$", "status": 204, "times": None})

    assert reader.retrieve("account", id, ["name", column]).values == {"name": name, column: None}
    assert reader.query(accounts(named(name), columns=("name", column))).rows == [
        {"name": name, column: None}
    ]
    assert reader.download("account", id, column) is None


def test_a_thumbnail_that_says_no_name_has_one(failing: Failing) -> None:
    writer, reader = failing.platform(), failing.platform()
    id = account(writer)
    writer.upload("account", id, "new_logo", io.BytesIO(PNG), file_name="a.png", content_type="image/png")
    failing.arm(
        {"method": "GET", "path": r"/\$value$", "status": 204},
        {
            "method": "GET",
            "path": r"/\$value$",
            "status": 200,
            "headers": {"mimetype": "image/png"},
            "body": "x",
        },
    )

    file_info = reader.retrieve("account", id, ["new_logo"]).values["new_logo"]

    assert (file_info.file_name, file_info.size, file_info.content_type) == ("new_logo.png", 1, "image/png")  # type: ignore[union-attr]


@pytest.mark.parametrize(("column", "content"), [("new_logo", PNG), ("new_contract", b"%PDF-1.4")])
def test_a_file_that_is_lost_after_it_was_described_is_none(
    failing: Failing, column: str, content: bytes
) -> None:
    platform = failing.platform()
    id = account(platform)
    platform.upload("account", id, column, io.BytesIO(content), file_name="a.png", content_type="image/png")
    described = platform.retrieve("account", id, [column]).values[column]
    assert isinstance(described, FileInfo)
    failing.arm({"method": "GET", "path": r"/\$value$", "status": 204, "times": None})

    assert platform.download("account", id, column, known=described) is None
    assert platform.download("account", id, column) is None
    assert platform.retrieve("account", id, [column]).values == {column: None}


def test_an_image_that_loses_its_full_size_copy_after_it_was_described_is_its_thumbnail(
    failing: Failing,
) -> None:
    platform = failing.platform()
    id = account(platform)
    platform.upload("account", id, "new_logo", io.BytesIO(PNG), file_name="a.png", content_type="image/png")
    described = platform.retrieve("account", id, ["new_logo"]).values["new_logo"]
    assert isinstance(described, FileInfo)
    thumbnail = {"status": 200, "headers": {"mimetype": "image/png"}, "body": "x"}
    failing.arm(
        {"method": "GET", "path": r"/\$value$", "status": 204, "times": 2},
        {"method": "GET", "path": r"/\$value$", **thumbnail, "times": None},
    )

    file = platform.download("account", id, "new_logo", known=described)

    assert file is not None
    assert (file.info.size, b"".join(file.chunks)) == (1, b"x")


@pytest.mark.parametrize("size", ["²", "9" * 5000])
def test_a_size_of_blocks_that_is_no_number_in_reach_is_no_accident(failing: Failing, size: str) -> None:
    platform = failing.platform(retries=0)
    id = account(platform)
    failing.arm(
        {
            "method": "PATCH",
            "path": "/new_contract",
            "status": 200,
            "headers": {"Location": "?sessiontoken=none", "x-ms-chunk-size": size},
        }
    )

    # The session is none of the platform's, which says so when the first block comes.
    with pytest.raises(PlatformError):
        platform.upload(
            "account", id, "new_contract", io.BytesIO(bytes(BLOCK + 1)), file_name="a", content_type="a/b"
        )
    assert failing.struck() == [1]
