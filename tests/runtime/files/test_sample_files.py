"""Sample files pass for files of their type, and say nothing of anybody's own."""

from __future__ import annotations

import mimetypes

import puremagic
import pytest

from runtime.files.allowed_files import Allowed
from runtime.files.sample_files import sample_content
from runtime.http.problems import Problem

SIZE = 4000
USUAL = [
    ("sample.pdf", "application/pdf"),
    ("sample.png", "image/png"),
    ("sample.jpg", "image/jpeg"),
    ("sample.gif", "image/gif"),
    ("sample.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("sample.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("sample.zip", "application/zip"),
    ("sample.mp4", "video/mp4"),
    ("sample.heic", "image/heic"),
    ("sample.txt", "text/plain"),
    ("sample.csv", "text/csv"),
    ("sample.json", "application/json"),
    ("sample.xml", "application/xml"),
    ("sample.pdf", "application/octet-stream"),
    ("sample", "application/pdf"),
]
SIGNED = sorted({known.extension.lower().lstrip(".") for known in puremagic.magic_header_array} - {""})
# Of `tar.gz`, `gz` is the extension.
EXTENSIONS = [extension for extension in SIGNED if "." not in extension]


@pytest.mark.parametrize(("name", "content_type"), USUAL)
def test_a_sample_is_taken_where_its_type_is_asked_for(name: str, content_type: str) -> None:
    content = sample_content(name, content_type, SIZE)
    assert len(content) == SIZE
    extensions = {name.rpartition(".")[2]} if "." in name else ()
    Allowed(SIZE, extensions).check(name, content_type, content)
    if content_type != "application/octet-stream":
        Allowed(SIZE, content_types={content_type}).check(name, content_type, content)


def test_whatever_has_a_signature_is_made_up_by_its_extension() -> None:
    refused = []
    for extension in EXTENSIONS:
        name = f"sample.{extension}"
        media = mimetypes.guess_type(name)[0] or "application/octet-stream"
        try:
            Allowed(SIZE, {extension}).check(name, media, sample_content(name, media, SIZE))
        except Problem:
            refused.append(extension)
    assert refused == []


@pytest.mark.parametrize("size", [0, 1, 3, 4096, 100_001])
def test_a_sample_has_the_size_that_was_asked_for_and_is_the_same_each_time(size: int) -> None:
    content = sample_content("sample.pdf", "application/pdf", size)
    assert len(content) == size
    assert content == sample_content("sample.pdf", "application/pdf", size)
