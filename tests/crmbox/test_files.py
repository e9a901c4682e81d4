"""Files of columns and notes: block by block, attached at the end, and nothing left behind."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connections
from pytest_django import Settings

from crmbox.engine.dialects import dialect_of
from crmbox.files.blocks import BLOCK
from crmbox.files.registry import forget_abandoned
from crmbox.platform import EmbeddedPlatform
from crmclient import Call, Download, FileInfo, Platform, Reference
from crmclient.errors import (
    DeadlineExceeded,
    FileLost,
    InvalidRecord,
    RecordNotFound,
    Unavailable,
    VersionMismatch,
)
from tests.crmbox.conftest import APART
from tests.crmbox.shop import MOST_BYTES, add_product, read

NOBODY = "11111111-1111-4111-8111-111111111111"
PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(100)
LARGE = bytes(range(256)) * 4096 * 2 + b"the end"


@pytest.fixture(params=["database", "disk"])
def platform(
    apart: EmbeddedPlatform, request: pytest.FixtureRequest, settings: Settings, tmp_path: Path
) -> EmbeddedPlatform:
    settings.PORTICO = {**settings.PORTICO, "CRM_FILES": request.param}
    settings.DATA_DIR = tmp_path
    return apart


@pytest.fixture
def kept(platform: Platform, tmp_path: Path) -> Any:
    """How many files and blocks there are more than before the test."""

    def count() -> tuple[int, int]:
        with connections[APART].cursor() as cursor:
            cursor.execute("SELECT (SELECT COUNT(*) FROM crm_file), (SELECT COUNT(*) FROM crm_file_block)")
            files, blocks = cursor.fetchone()
        return files, blocks + sum(path.is_file() for path in tmp_path.rglob("*"))

    files, blocks = count()
    return lambda: (count()[0] - files, count()[1] - blocks)


class Broken(io.RawIOBase):
    """A body whose sender goes away after `good` bytes."""

    def __init__(self, good: int) -> None:
        self._left = good

    def read(self, size: int = -1) -> bytes:
        if not self._left:
            raise ConnectionResetError
        piece = b"x" * min(size, self._left)
        self._left -= len(piece)
        return piece


class Dripping(io.BytesIO):
    """A body that comes in small pieces."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(size or 0, 1000))


def upload(
    platform: Platform, id: str, content: Any = b"hello", attribute: str = "sheet", **details: Any
) -> FileInfo:
    body = io.BytesIO(content) if isinstance(content, bytes) else content
    details = {"file_name": "Übersicht.pdf", "content_type": "application/pdf", **details}
    return platform.upload("shop_product", id, attribute, body, **details)


def content(download: Download | None) -> bytes:
    assert download is not None
    return b"".join(download.chunks)


@pytest.mark.parametrize(
    "body", [b"", b"hello", LARGE, b"x" * BLOCK], ids=["empty", "small", "large", "one block"]
)
def test_what_is_uploaded_comes_back(platform: Platform, body: bytes) -> None:
    id = add_product(platform)

    info = upload(platform, id, body)

    assert (info.file_name, info.size, info.content_type) == ("Übersicht.pdf", len(body), "application/pdf")
    assert read(platform, id, "sheet") == info
    download = platform.download("shop_product", id, "sheet")
    assert download is not None
    assert (download.info, download.start, download.length) == (info, 0, len(body))
    assert content(download) == body


def test_a_body_in_small_pieces_is_one_file(platform: Platform) -> None:
    id = add_product(platform)

    upload(platform, id, Dripping(LARGE))

    assert content(platform.download("shop_product", id, "sheet")) == LARGE


@pytest.mark.parametrize(
    ("start", "length"),
    [(0, 10), (5, None), (BLOCK - 3, 6), (BLOCK, BLOCK), (len(LARGE) - 3, 100), (len(LARGE), None), (7, 0)],
)
def test_a_part_can_be_read(platform: Platform, start: int, length: int | None) -> None:
    id = add_product(platform)
    upload(platform, id, LARGE)
    expected = LARGE[start : None if length is None else start + length]

    download = platform.download("shop_product", id, "sheet", start=start, length=length)

    assert download is not None
    assert (download.start, download.length) == (start, len(expected))
    assert content(download) == expected


@pytest.mark.parametrize("start", [-1, 6])
def test_a_part_behind_the_end_is_refused(platform: Platform, start: int) -> None:
    id = add_product(platform)
    upload(platform, id, b"hello")

    with pytest.raises(InvalidRecord):
        platform.download("shop_product", id, "sheet", start=start)


def test_an_empty_column_has_no_file(platform: Platform) -> None:
    assert platform.download("shop_product", add_product(platform), "sheet") is None


def test_a_broken_off_upload_leaves_the_old_file_and_nothing_else(platform: Platform, kept: Any) -> None:
    id = add_product(platform)
    upload(platform, id, b"old")
    before = kept()

    with pytest.raises(ConnectionResetError):
        upload(platform, id, Broken(2 * BLOCK))

    assert content(platform.download("shop_product", id, "sheet")) == b"old"
    assert kept() == before


def test_an_upload_whose_commit_is_not_answered_keeps_its_file(
    platform: Platform, kept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The column has the new file all the same: what is cleaned up after an error must not be its content."""
    id = add_product(platform)
    upload(platform, id, b"the one before")
    before = kept()
    dialect = type(dialect_of(connections[APART].vendor))
    cursor_of = dialect.cursor
    lost: list[str] = []

    class Unanswered:
        """The cursor of a connection that breaks when the commit of the attached file has been sent."""

        def __init__(self, connection: Any) -> None:
            self._cursor = cursor_of(dialect_of(connections[APART].vendor), connection)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._cursor, name)

        def execute(self, statement: str, params: Any) -> Any:
            executed = self._cursor.execute(statement, params)
            if statement == "COMMIT" and lost == ["next"]:
                lost.append("now")
                raise OperationalError("the connection was lost")
            return executed

    def on_statement(execute: Any, sql: str, *rest: Any) -> Any:
        if "SET attached" in sql:
            lost.append("next")
        return execute(sql, *rest)

    # Wrappers see every statement but those that begin and end transactions.
    monkeypatch.setattr(dialect, "cursor", lambda self, connection: Unanswered(connection))
    with connections[APART].execute_wrapper(on_statement), pytest.raises(Unavailable):
        upload(platform, id, LARGE, file_name="New.pdf")
    monkeypatch.undo()

    assert lost == ["next", "now"]
    info = read(platform, id, "sheet")
    assert isinstance(info, FileInfo)
    assert info.file_name == "New.pdf"
    assert content(platform.download("shop_product", id, "sheet")) == LARGE
    swept()
    assert content(platform.download("shop_product", id, "sheet")) == LARGE
    assert kept()[0] == before[0]


def test_too_large_a_file_is_refused_and_leaves_nothing(platform: Platform, kept: Any) -> None:
    id = add_product(platform)

    with pytest.raises(InvalidRecord) as raised:
        upload(platform, id, b"x" * (MOST_BYTES + 1))

    assert [problem.code for problem in raised.value.problems] == ["too_long"]
    assert kept() == (0, 0)
    assert upload(platform, id, b"x" * MOST_BYTES).size == MOST_BYTES


def test_a_new_file_takes_the_place_of_the_old_one(platform: Platform, kept: Any) -> None:
    id = add_product(platform)
    upload(platform, id, b"old")
    upload(platform, id, b"new")

    assert content(platform.download("shop_product", id, "sheet")) == b"new"
    assert kept() == (1, 1)


def test_clearing_the_column_removes_the_file(platform: Platform, kept: Any) -> None:
    id = add_product(platform)
    upload(platform, id)

    platform.update("shop_product", id, {"sheet": None})

    assert platform.download("shop_product", id, "sheet") is None
    assert kept() == (0, 0)


def test_deleting_the_record_removes_its_files(platform: Platform, kept: Any) -> None:
    id = add_product(platform)
    upload(platform, id)
    upload(platform, id, PICTURE, attribute="picture")
    assert kept() == (2, 2)

    platform.delete("shop_product", id)

    assert kept() == (0, 0)


def test_two_columns_hold_two_files(platform: Platform) -> None:
    id = add_product(platform)
    upload(platform, id, b"sheet")
    upload(platform, id, PICTURE, attribute="picture", content_type="image/png")

    assert content(platform.download("shop_product", id, "sheet")) == b"sheet"
    assert content(platform.download("shop_product", id, "picture")) == PICTURE


def test_an_upload_gives_the_record_another_version(platform: Platform) -> None:
    id = add_product(platform)
    before = platform.retrieve("shop_product", id, []).version

    upload(platform, id, if_version=before)

    assert platform.retrieve("shop_product", id, []).version != before


def test_a_guarded_upload_needs_the_version_it_names(platform: Platform, kept: Any) -> None:
    id = add_product(platform)
    before = platform.retrieve("shop_product", id, []).version
    platform.update("shop_product", id, {"quantity": 1})

    with pytest.raises(VersionMismatch):
        upload(platform, id, if_version=before)

    assert kept() == (0, 0)


def test_a_record_that_changes_during_a_guarded_upload_keeps_its_old_file(
    platform: Platform, kept: Any
) -> None:
    id = add_product(platform)
    version = platform.retrieve("shop_product", id, []).version

    class Meddling(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            platform.update("shop_product", id, {"quantity": 1})
            return super().read(size)

    with pytest.raises(VersionMismatch):
        upload(platform, id, Meddling(b"hello"), if_version=version)

    assert read(platform, id, "sheet") is None
    assert kept() == (0, 0)


@pytest.mark.parametrize("id", [NOBODY, "not-a-guid"])
def test_a_file_needs_a_record(platform: Platform, id: str) -> None:
    with pytest.raises(RecordNotFound):
        upload(platform, id)
    with pytest.raises(RecordNotFound):
        platform.download("shop_product", id, "sheet")


@pytest.mark.parametrize("attribute", ["name", "ghost"])
def test_only_file_and_image_columns_take_files(platform: Platform, attribute: str) -> None:
    id = add_product(platform)

    with pytest.raises(InvalidRecord):
        upload(platform, id, attribute=attribute)
    with pytest.raises(InvalidRecord):
        platform.download("shop_product", id, attribute)


@pytest.mark.parametrize("name", ["", "x" * 256, "a\0b"])
def test_a_file_needs_a_name_that_can_be_kept(platform: Platform, name: str) -> None:
    with pytest.raises(InvalidRecord):
        upload(platform, add_product(platform), file_name=name)


def test_a_deadline_stops_an_upload(platform: Platform, kept: Any) -> None:
    id = add_product(platform)

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            time.sleep(0.06)
            return super().read(size)

    with pytest.raises(DeadlineExceeded):
        upload(platform, id, Slow(LARGE), call=Call(deadline=time.monotonic() + 0.05))

    assert kept() == (0, 0)


def test_a_reader_learns_that_the_file_went_away(platform: Platform, settings: Settings) -> None:
    id = add_product(platform)
    upload(platform, id, LARGE)
    download = platform.download("shop_product", id, "sheet")

    platform.update("shop_product", id, {"sheet": None})

    if settings.PORTICO["CRM_FILES"] == "disk":
        # An open file can be read to its end.
        assert content(download) == LARGE
    else:
        with pytest.raises(FileLost):
            content(download)


def test_writers_are_not_held_up_while_a_file_is_read(platform: Platform) -> None:
    id = add_product(platform)
    upload(platform, id, LARGE)
    download = platform.download("shop_product", id, "sheet")
    assert download is not None
    next(download.chunks)

    platform.update("shop_product", id, {"quantity": 1})

    assert len(b"".join(download.chunks)) < len(LARGE)


def test_uploads_abandoned_long_ago_are_swept_away(platform: Platform, kept: Any) -> None:
    with connections[APART].cursor() as cursor:
        cursor.execute(
            "INSERT INTO crm_file (id, entity, record, attribute, attached, begun_at) VALUES "
            "(%s, 'shop_product', %s, 'sheet', %s, '2020-01-01 00:00:00.000000+00:00')",
            [NOBODY, NOBODY, False],
        )
    assert kept() == (1, 0)

    # None by a request: it would wait for the leftovers of others.
    upload(platform, add_product(platform))
    assert kept() == (2, 1)
    assert forget_abandoned(5, APART) == 1

    assert kept() == (1, 1)


@pytest.fixture
def on_disk(apart: EmbeddedPlatform, settings: Settings, tmp_path: Path) -> Platform:
    settings.PORTICO = {**settings.PORTICO, "CRM_FILES": "disk"}
    settings.DATA_DIR = tmp_path
    return apart


def unremovable(folder: Path) -> Path:
    """The only file. A folder that is not empty is in its place: nobody can remove that as a file."""
    (file,) = (path for path in folder.rglob("*") if path.is_file())
    file.unlink()
    (file / "stuck").mkdir(parents=True)
    return file


def swept() -> int:
    with connections[APART].cursor() as cursor:
        cursor.execute("UPDATE crm_file SET begun_at = '2020-01-01 00:00:00.000000+00:00' WHERE NOT attached")
    return forget_abandoned(5, APART)


def test_a_new_file_stays_where_the_old_one_cannot_be_removed(on_disk: Platform, tmp_path: Path) -> None:
    id = add_product(on_disk)
    upload(on_disk, id, LARGE)
    old = unremovable(tmp_path)

    info = upload(on_disk, id, b"new")

    assert read(on_disk, id, "sheet") == info
    assert content(on_disk.download("shop_product", id, "sheet")) == b"new"
    # Each sweep tries again, until it succeeds.
    assert swept() == 1
    (old / "stuck").rmdir()
    old.rmdir()
    old.write_bytes(LARGE)
    assert swept() == 1
    assert not old.exists()
    assert swept() == 0
    assert content(on_disk.download("shop_product", id, "sheet")) == b"new"


@pytest.mark.parametrize("way", ["the record is deleted", "the column is cleared"])
def test_a_write_that_lets_go_of_a_file_succeeds_where_it_cannot_be_removed(
    on_disk: Platform, tmp_path: Path, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    id = add_product(on_disk)
    upload(on_disk, id, LARGE)
    unremovable(tmp_path)

    if way == "the record is deleted":
        on_disk.delete("shop_product", id)
        with pytest.raises(RecordNotFound):
            read(on_disk, id, "sheet")
    else:
        on_disk.update("shop_product", id, {"sheet": None})
        assert read(on_disk, id, "sheet") is None

    assert "were not removed" in caplog.text


def test_a_notes_attachment_tells_its_facts(platform: Platform) -> None:
    product = Reference("shop_product", add_product(platform))
    note = platform.create("annotation", {"subject": "Plan", "objectid": product}).id
    assert read(platform, note, "isdocument", "annotation") is False

    platform.upload(
        "annotation",
        note,
        "documentbody",
        io.BytesIO(b"hello"),
        file_name="plan.txt",
        content_type="text/plain",
    )

    assert platform.retrieve(
        "annotation", note, ["filename", "mimetype", "filesize", "isdocument"]
    ).values == {
        "filename": "plan.txt",
        "mimetype": "text/plain",
        "filesize": 5,
        "isdocument": True,
    }
