"""Files of columns and attachments of notes: small and large, whole and in parts."""

from __future__ import annotations

import io
import os
from typing import BinaryIO

import pytest
from PIL import Image

from crmclient import FileInfo, Platform, Reference
from crmclient.errors import InvalidRecord, RecordNotFound, VersionMismatch
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from tests.contract.making import NOBODY, account, accounts, named, read, unique

pytestmark = pytest.mark.needs("files")

MEGABYTE = 1024 * 1024
PDF = "application/pdf"
PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
    b"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"
)


class Trickle(io.RawIOBase):
    """A stream that cannot be measured and gives a little at a time."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self._inner = io.BytesIO(content)

    def read(self, size: int = -1) -> bytes:
        return self._inner.read(min(size, 10_000) if size > 0 else size)


def note(platform: Platform) -> str:
    about = Reference("account", account(platform))
    return platform.create("annotation", {"subject": "With a file", "objectid": about}).id


def put(
    platform: Platform, entity: str, id: str, column: str, content: bytes | BinaryIO, name: str = "a.pdf"
) -> FileInfo:
    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    return platform.upload(entity, id, column, stream, file_name=name, content_type=PDF)


def whole(platform: Platform, entity: str, id: str, column: str, **span: int) -> bytes:
    download = platform.download(entity, id, column, **span)  # type: ignore[arg-type]
    assert download is not None
    content = b"".join(download.chunks)
    assert len(content) == download.length
    return content


@pytest.mark.parametrize("size", [1, 100_001, 4 * MEGABYTE, 4 * MEGABYTE + 1, 8 * MEGABYTE, 9_000_000])
def test_a_file_comes_back_as_it_was(platform: Platform, size: int) -> None:
    id, content = account(platform), os.urandom(size)

    info = put(platform, "account", id, "new_contract", content)

    assert (info.file_name, info.size, info.content_type) == ("a.pdf", size, PDF)
    assert read(platform, "account", id, "new_contract") == info
    assert whole(platform, "account", id, "new_contract") == content


def test_a_stream_that_cannot_be_measured(platform: Platform) -> None:
    id, content = account(platform), os.urandom(5_000_000)

    info = put(platform, "account", id, "new_contract", Trickle(content))  # type: ignore[arg-type]

    assert info.size == len(content)
    assert whole(platform, "account", id, "new_contract") == content


@pytest.mark.parametrize("name", ["Verträge & Co 100%.pdf", "契約.pdf", 'a"b;c.pdf', "r%41w.pdf", "🚀.pdf"])
@pytest.mark.parametrize("size", [10, 4 * MEGABYTE + 10])
def test_a_files_name_comes_back_as_it_was(platform: Platform, name: str, size: int) -> None:
    id = account(platform)

    assert put(platform, "account", id, "new_contract", os.urandom(size), name).file_name == name
    info = read(platform, "account", id, "new_contract")
    assert isinstance(info, FileInfo)
    assert info.file_name == name


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        (0, 5, slice(0, 5)),
        (3, None, slice(3, None)),
        (4_194_300, 20, slice(4_194_300, 4_194_320)),
        (7, 0, slice(0, 0)),
    ],
)
def test_a_part_of_a_file(platform: Platform, start: int, length: int | None, expected: slice) -> None:
    content = os.urandom(5_000_000)
    id, about = account(platform), note(platform)
    put(platform, "account", id, "new_contract", content)
    put(platform, "annotation", about, "documentbody", content)

    for entity, record, column in (("account", id, "new_contract"), ("annotation", about, "documentbody")):
        download = platform.download(entity, record, column, start=start, length=length)
        assert download is not None
        assert b"".join(download.chunks) == content[expected]


def test_a_range_behind_the_end(platform: Platform) -> None:
    id = account(platform)
    put(platform, "account", id, "new_contract", b"12345")

    assert whole(platform, "account", id, "new_contract", start=5) == b""
    with pytest.raises(InvalidRecord):
        platform.download("account", id, "new_contract", start=6)
    with pytest.raises(InvalidRecord):
        platform.download("account", id, "new_contract", length=-1)


def test_a_new_file_has_a_new_id(platform: Platform) -> None:
    id, about = account(platform), note(platform)

    for entity, record, column in (("account", id, "new_contract"), ("annotation", about, "documentbody")):
        first = put(platform, entity, record, column, b"first")
        second = put(platform, entity, record, column, b"second!")
        assert first.id != second.id
        assert read(platform, entity, record, column) == second
        assert whole(platform, entity, record, column) == b"second!"


def test_a_column_without_a_file(platform: Platform) -> None:
    id = account(platform)

    assert platform.download("account", id, "new_contract") is None
    assert read(platform, "account", id, "new_contract") is None
    assert platform.download("annotation", note(platform), "documentbody") is None


def test_a_file_is_cleared_like_any_value(platform: Platform) -> None:
    id = account(platform)
    put(platform, "account", id, "new_contract", b"12345")

    platform.update("account", id, {"new_contract": None})

    assert platform.download("account", id, "new_contract") is None


def test_an_image(platform: Platform) -> None:
    id = account(platform)

    info = platform.upload(
        "account", id, "new_logo", io.BytesIO(PNG), file_name="logo.png", content_type="image/png"
    )

    assert (info.file_name, info.size, info.content_type) == ("logo.png", len(PNG), "image/png")
    assert read(platform, "account", id, "new_logo") == info
    assert whole(platform, "account", id, "new_logo") == PNG


def test_an_image_that_is_kept_as_a_thumbnail_only(platform: Platform) -> None:
    name = unique("Pictured")
    id = platform.create("contact", {"lastname": name}).id
    assert read(platform, "contact", id, "entityimage") is None
    assert platform.download("contact", id, "entityimage") is None

    info = platform.upload(
        "contact", id, "entityimage", io.BytesIO(PNG), file_name="me.png", content_type="image/png"
    )

    assert (info.file_name, info.content_type) == ("me.png", "image/png")
    assert info.size > 0
    content = whole(platform, "contact", id, "entityimage")
    assert (len(content), content[:4]) == (info.size, PNG[:4])
    assert whole(platform, "contact", id, "entityimage", start=2, length=5) == content[2:7]
    assert read(platform, "contact", id, "entityimage") == info
    named_so = Filter((Condition("lastname", Operator.EQ, (name,)),))
    columns = (Column("lastname"), Column("entityimage"))
    [row] = platform.query(Query("contact", columns, named_so)).rows
    assert row == {"lastname": name, "entityimage": info}


@pytest.mark.parametrize("size", [1, 3, 200_000, 5_000_001])
def test_an_attachment_comes_back_as_it_was(platform: Platform, size: int) -> None:
    id, content = note(platform), os.urandom(size)

    info = put(platform, "annotation", id, "documentbody", content, "Anhang ü.pdf")

    assert (info.file_name, info.size, info.content_type) == ("Anhang ü.pdf", size, PDF)
    columns = ["filename", "mimetype", "filesize", "isdocument"]
    assert platform.retrieve("annotation", id, columns).values == {
        "filename": "Anhang ü.pdf",
        "mimetype": PDF,
        "filesize": size,
        "isdocument": True,
    }
    assert whole(platform, "annotation", id, "documentbody") == content


def test_files_in_the_rows_of_a_query(platform: Platform) -> None:
    name = unique("With files")
    id = account(platform, name=name)
    info = put(platform, "account", id, "new_contract", b"12345")
    logo = platform.upload(
        "account", id, "new_logo", io.BytesIO(PNG), file_name="l.png", content_type="image/png"
    )
    remark = platform.create("annotation", {"subject": "x", "objectid": Reference("account", id)}).id
    attached = put(platform, "annotation", remark, "documentbody", b"678")

    [row] = platform.query(accounts(named(name), columns=("name", "new_contract", "new_logo"))).rows
    about = Filter((Condition("objectid", Operator.EQ, (id,)),))
    [annotation] = platform.query(
        Query("annotation", (Column("documentbody"), Column("subject")), about)
    ).rows

    assert row == {"name": name, "new_contract": info, "new_logo": logo}
    assert annotation == {"documentbody": attached, "subject": "x"}


def test_what_is_no_place_for_a_file(platform: Platform) -> None:
    id = account(platform)
    for column, code in (("nothing", "unknown_attribute"), ("name", "wrong_type")):
        for call in (
            lambda column=column: put(platform, "account", id, column, b"x"),
            lambda column=column: platform.download("account", id, column),
        ):
            with pytest.raises(InvalidRecord) as raised:
                call()
            assert [(p.attribute, p.code) for p in raised.value.problems] == [(column, code)]
    with pytest.raises(RecordNotFound):
        put(platform, "account", NOBODY, "new_contract", b"x")
    with pytest.raises(RecordNotFound):
        put(platform, "annotation", NOBODY, "documentbody", b"x")


@pytest.mark.parametrize(("name", "code"), [("", "required"), ("x" * 256, "too_long"), ("n\0", "wrong_type")])
def test_a_name_that_no_file_can_have(platform: Platform, name: str, code: str) -> None:
    with pytest.raises(InvalidRecord) as raised:
        put(platform, "account", account(platform), "new_contract", b"x", name)
    assert [p.code for p in raised.value.problems] == [code]


def test_an_image_that_is_too_large(platform: Platform) -> None:
    with pytest.raises(InvalidRecord) as raised:
        put(platform, "account", account(platform), "new_logo", PNG + bytes(10 * MEGABYTE))
    assert [(p.attribute, p.code) for p in raised.value.problems] == [("new_logo", "too_long")]


def test_an_upload_may_be_meant_for_one_version(platform: Platform) -> None:
    id, about = account(platform), note(platform)
    for entity, record, column in (("account", id, "new_contract"), ("annotation", about, "documentbody")):
        version = platform.retrieve(entity, record, []).version
        platform.upload(
            entity, record, column, io.BytesIO(b"1"), file_name="a", content_type=PDF, if_version=version
        )
        with pytest.raises(VersionMismatch):
            platform.upload(
                entity, record, column, io.BytesIO(b"2"), file_name="a", content_type=PDF, if_version=version
            )
        assert whole(platform, entity, record, column) == b"1"


def picture(width: int, height: int, format: str = "PNG") -> bytes:
    made = io.BytesIO()
    Image.effect_mandelbrot((width, height), (-2.0, -1.5, 1.0, 1.5), 20).save(made, format)
    return made.getvalue()


@pytest.mark.parametrize(
    ("width", "height", "format", "side"),
    [(800, 400, "PNG", 144), (300, 900, "JPEG", 144), (500, 90, "GIF", 90), (150, 150, "BMP", 144)],
)
def test_a_thumbnail_is_a_small_square(
    platform: Platform, width: int, height: int, format: str, side: int
) -> None:
    id = account(platform)
    content, kind = picture(width, height, format), f"image/{format.lower()}"
    put_image(platform, "account", id, "new_logo", content, kind)

    thumbnail = platform.thumbnail("account", id, "new_logo")

    assert thumbnail is not None
    small = b"".join(thumbnail.chunks)
    assert (len(small), thumbnail.length) == (thumbnail.info.size, thumbnail.info.size)
    assert thumbnail.info.content_type == kind
    with Image.open(io.BytesIO(small)) as image:
        assert (image.size, image.format) == ((side, side), format)
    assert whole(platform, "account", id, "new_logo") == content


def test_a_small_image_is_its_own_thumbnail(platform: Platform) -> None:
    id = account(platform)
    put_image(platform, "account", id, "new_logo", PNG, "image/png")

    thumbnail = platform.thumbnail("account", id, "new_logo")

    assert thumbnail is not None
    assert b"".join(thumbnail.chunks) == PNG


def test_of_an_image_without_a_whole_copy_the_thumbnail_is_all(platform: Platform) -> None:
    id = platform.create("contact", {"lastname": unique("Pictured")}).id
    put_image(platform, "contact", id, "entityimage", picture(600, 300), "image/png")

    kept = whole(platform, "contact", id, "entityimage")
    thumbnail = platform.thumbnail("contact", id, "entityimage")

    with Image.open(io.BytesIO(kept)) as image:
        assert image.size == (144, 144)
    assert thumbnail is not None
    assert b"".join(thumbnail.chunks) == kept
    assert read(platform, "contact", id, "entityimage") == thumbnail.info


def test_there_is_no_thumbnail_of_nothing(platform: Platform) -> None:
    id = account(platform)
    assert platform.thumbnail("account", id, "new_logo") is None
    with pytest.raises(InvalidRecord):
        platform.thumbnail("account", id, "new_contract")
    with pytest.raises(RecordNotFound):
        platform.thumbnail("account", NOBODY, "new_logo")


def put_image(
    platform: Platform, entity: str, id: str, column: str, content: bytes, content_type: str
) -> FileInfo:
    name = f"picture.{content_type.partition('/')[2]}"
    stream = io.BytesIO(content)
    return platform.upload(entity, id, column, stream, file_name=name, content_type=content_type)
