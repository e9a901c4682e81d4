"""Reads the objects in a large JSON file one by one: a whole organisation has hundreds of megabytes.

They are the members of `{"value": […]}` or `{"EntityMetadata": […]}`, or of a list; a file that is one
object of another kind is its only one. The file is looked at in place, and only one object is held at a time.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from crmbox.importing.source_entity import CannotRead
from crmclient import exact_json

LISTS: Final = frozenset({b"value", b"EntityMetadata"})

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_OPENING: Final = frozenset({b"{", b"["})
_SOMETHING: Final = re.compile(rb"\S")
_EMPTY: Final = "The file is empty."


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects in the file: those of its lists, or the file's only object where it has no list.

    Raises CannotRead and OSError.
    """
    if path.stat().st_size == 0:
        raise CannotRead(_EMPTY)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        if not _SOMETHING.search(text):
            raise CannotRead(_EMPTY)
        has_list = False
        for start, end in _members(text):
            has_list = True
            # (0, 0) only says that there is a list, which may be empty.
            if start < end:
                yield _object(text, start, end)
        if not has_list:
            yield _object(text, 0, len(text))


def _members(text: mmap.mmap) -> Iterator[tuple[int, int]]:
    """Yield where each object of the lists begins and ends. (0, 0) says that a list has begun.

    Raises CannotRead for a text whose brackets do not match, or that goes on behind its end.
    """
    # `depth` counts open brackets. `inside` is the depth of the list whose objects are yielded; 0 outside of
    # such a list.
    depth = inside = start = end = 0
    key = b""
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in _OPENING:
            depth += 1
            if mark == b"[" and not inside and (depth == 1 or (depth == 2 and key in LISTS)):
                inside = depth
                yield 0, 0
            elif inside and depth == inside + 1:
                start = token.start()
        # A closing bracket: any other token of one character was an opening one.
        elif len(mark) == 1:
            if inside and depth == inside + 1:
                yield start, token.end()
            elif depth == inside:
                inside = 0
            depth -= 1
            if depth <= 0:
                end = token.end()
                break
        # A string. In the outermost object, the last one before a list is the list's name.
        elif depth == 1:
            key = mark[1:-1]
    if depth != 0 or end == 0:
        raise CannotRead("The file ends in the middle, or is no JSON at all.")
    if _SOMETHING.search(text, end):
        raise CannotRead("There is something after the end of the JSON.")


def _object(text: mmap.mmap, start: int, end: int) -> dict[str, Any]:
    """Return the JSON object between two bytes of the file. Raises CannotRead."""
    try:
        value = exact_json.parse(text[start:end])
    except ValueError as error:
        raise CannotRead(f"What begins at byte {start:,} is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise CannotRead(f"What begins at byte {start:,} is no JSON object.")
    return value
