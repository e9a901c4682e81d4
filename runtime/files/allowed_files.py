"""Which files an endpoint takes: by extension, by content type, and by what their first bytes show.

Formats that have a signature must show it. Text has none: it must hold no NUL byte. Of a format that is
neither, the name is all there is to judge.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

import puremagic

from runtime.files.names import extension_of
from runtime.http.problems import Problem

HEAD = 8192
"""How many bytes a file is judged by."""

GENERIC = "application/octet-stream"

_MEDIA_TYPE = re.compile(r"[a-z]{1,127}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")
# Content types that say nothing of a file. The last one is what curl sends by itself.
_UNINFORMATIVE = frozenset({"", GENERIC, "application/x-www-form-urlencoded"})
_TEXTS = re.compile(r"text/.*|message/.*|.*[/+](json|xml|yaml)|application/(javascript|sql|x-sh)")
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
# Extensions of a format whose signature is known by another extension.
_SAME = {"heic": "heif"}


@dataclass(frozen=True, slots=True)
class Allowed:
    """The files that an endpoint allows: of at most `max_size` bytes, with these extensions and content
    types.

    An empty collection allows everything. `image/*` allows every image type.
    """

    max_size: int
    extensions: Collection[str] = ()
    content_types: Collection[str] = ()

    def check(self, name: str, content_type: str, head: bytes) -> None:
        """Raise Problem 415 `unsupported_file_type` unless a file of this name, type and beginning is
        allowed.
        """
        if self.extensions:
            extension = extension_of(name)
            if extension not in self.extensions:
                raise _type_refusal(f"Send a file that ends in .{', .'.join(self.extensions)}.")
            if not _fits_head({extension}, mimetypes.guess_type(f"a.{extension}")[0] or "", head):
                raise _type_refusal(f"The content is not that of a .{extension} file.")
        if self.content_types:
            family = f"{content_type.partition('/')[0]}/*"
            if content_type not in self.content_types and family not in self.content_types:
                raise _type_refusal(f"Send a file of type {', '.join(self.content_types)}.")
            if not _fits_head(_extensions_of_type(content_type), content_type, head):
                raise _type_refusal(f"The content is not {content_type}.")


def first_bytes_of(name: str, content_type: str) -> bytes:
    """Return first bytes that pass for a file of this name and type; empty when any content does."""
    extension = extension_of(name)
    # The arguments with which `Allowed.check` judges a file: by its name, and by its content type.
    judged = (
        ({extension}, mimetypes.guess_type(name)[0] or ""),
        (_extensions_of_type(content_type), content_type),
    )
    signatures: Iterator[bytes] = (
        b"\0" * header.offset + header.byte_match
        for header in puremagic.magic_header_array
        if header.extension.lower() == f".{extension}" or header.mime_type == content_type
        if header.offset >= 0
    )
    # The shortest one that passes; last those that have an escape sequence in place of the byte that it
    # stands for, as some entries of the library do.
    for signature in (b"", *sorted(signatures, key=lambda header: (rb"\x" in header, len(header)))):
        if all(_fits_head(extensions, media, signature) for extensions, media in judged):
            return signature
    return b""


def media_type(text: str) -> str:
    """Return the media type in a header, in lower case and without parameters; GENERIC for any other text."""
    media = text.partition(";")[0].strip().lower()
    return media if _MEDIA_TYPE.fullmatch(media) else GENERIC


def type_of(name: str, declared: str) -> str:
    """Return the content type of a file: the declared one or, if that says nothing, the one that the name
    suggests.
    """
    media = media_type(declared)
    return (mimetypes.guess_type(name)[0] or GENERIC) if media in _UNINFORMATIVE else media


def _fits_head(extensions: Collection[str], content_type: str, head: bytes) -> bool:
    """Return whether the head of a file has the signature of one of `extensions`, or that of `content_type`.

    `extensions` is the file's own, or all those of its content type. Formats without a signature fit any
    head. A text has no NUL byte, unless it begins with a byte order mark.
    """
    if _TEXTS.fullmatch(content_type):
        return b"\0" not in head or head.startswith(_BYTE_ORDER_MARKS)
    signed = {_SAME.get(extension, extension) for extension in extensions} & _extensions_with_signature()
    if not signed:
        return True
    formats = _formats_with_signature_of(head)
    return any(extension in signed or media == content_type for extension, media in formats)


def _formats_with_signature_of(head: bytes) -> list[tuple[str, str]]:
    """Return the extension and the content type of every format whose signature `head` has."""
    try:
        matches = puremagic.magic_string(head)
    except (puremagic.PureError, ValueError):
        return []
    return [(match.extension.lower().lstrip("."), match.mime_type) for match in matches]


@cache
def _extensions_with_signature() -> frozenset[str]:
    """Return the extensions of formats that have a signature."""
    return frozenset(
        signature.extension.lower().lstrip(".") for signature in puremagic.magic_header_array
    ) - {""}


@cache
def _extensions_of_type(content_type: str) -> frozenset[str]:
    """Return the extensions of files with a content type, without dots."""
    return frozenset(extension.lstrip(".") for extension in mimetypes.guess_all_extensions(content_type))


def _type_refusal(detail: str) -> Problem:
    """Return the Problem 415 with this sentence."""
    return Problem(415, "unsupported_file_type", detail)
