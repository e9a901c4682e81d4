"""File names in headers: RFC 6266 and RFC 5987 both ways, in any script."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from urllib.parse import quote

from django.utils.http import parse_header_parameters

from runtime.http.problems import Problem

LONGEST_NAME = 255

# Characters that change the direction of text: with them, people read `fdp.exe` as `exe.pdf`.
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NOT_IN_QUOTES = re.compile(r'[^ -~]|["\\%]')
# What RFC 5987 leaves unescaped.
_PLAIN = "!#$&+-.^_`|~"


def attachment(name: str) -> str:
    """Return a `Content-Disposition` that makes a browser save the file under `name` instead of showing it.

    A name in ASCII, for clients that read no other, comes before the full name.
    """
    ascii_only = _NOT_IN_QUOTES.sub("_", _without_accents(name)) or "file"
    quoted_name = quote(name.encode("utf-8", "replace"), safe=_PLAIN)
    return f"attachment; filename=\"{ascii_only}\"; filename*=UTF-8''{quoted_name}"


def name_in(disposition: str) -> str:
    """Return the file name in a request's `Content-Disposition`. Raises Problem 400 `invalid_file_name`."""
    with suppress(UnicodeError):
        # Servers read headers as Latin-1; clients that do not escape send UTF-8.
        disposition = disposition.encode("latin-1").decode("utf-8")
    name = _file_name_in(disposition)
    if not name:
        raise invalid_name(
            "Name the file: Content-Disposition: attachment; filename=\"a.pdf\", or filename*=UTF-8''a.pdf."
        )
    return clean(name)


def name_in_part(disposition: str, plain: str | None) -> str:
    """Return the file name of a form's part. Raises Problem 400 `invalid_file_name`.

    `plain` is the `filename` that the multipart parser has read: it undoes what browsers escape (`%22`). The
    parser does not know `filename*`, which counts if the header has it.
    """
    name = _file_name_in(disposition) if "filename*" in disposition.lower() else plain
    if not name:
        raise invalid_name("Give the part “file” a filename.")
    return clean(name)


def clean(raw_name: str) -> str:
    """Return the name without a path before it. Raises Problem 400 `invalid_file_name` for an
    unusable name.
    """
    name = re.split(r"[/\\]", raw_name)[-1].strip()
    if name in {"", ".", ".."}:
        raise invalid_name("The file needs a name.")
    if len(name) > LONGEST_NAME:
        raise invalid_name(f"A file name has at most {LONGEST_NAME} characters.")
    if any(character in _TURNS or unicodedata.category(character) in {"Cc", "Cs"} for character in name):
        raise invalid_name("The file's name holds control characters.")
    return name


def extension_of(name: str) -> str:
    """Return the extension in lower case, without the dot; empty without one."""
    before, dot, extension = name.rpartition(".")
    return extension.lower() if dot and before else ""


def invalid_name(detail: str) -> Problem:
    return Problem(400, "invalid_file_name", detail)


def _file_name_in(disposition: str) -> str | None:
    """Return the file name in a `Content-Disposition`; None without one. Raises Problem 400 for a header that
    cannot be read.
    """
    try:
        _, parameters = parse_header_parameters(disposition)
    except (ValueError, LookupError) as error:
        raise invalid_name("The Content-Disposition cannot be read.") from error
    name = parameters.get("filename")
    return name if isinstance(name, str) else None


def _without_accents(name: str) -> str:
    """Return a name without accents and other marks: é becomes e."""
    parts = unicodedata.normalize("NFKD", name)
    return "".join(character for character in parts if not unicodedata.combining(character))
