"""The names that expressions see, and which of their fields one reads, as far as its text tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from designer.expressions.limits import tokens

# `record` is the record that the operation is about or, in a calculated column, the row that is answered.
ENDPOINT_NAMES = ("input", "user", "fetch", "record", "now")


def reads_of_name(text: str, name: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield each use of a name: the fields that are read as `name.field.inner`, and its position in the text.

    Without fields, the name is used as a whole. A function that is called on a field (`name.field.size()`) is
    no field.
    """
    parts = list(tokens(text))
    for position, token in enumerate(parts):
        if token["name"] == name:
            yield _path(text, parts[position:]), token.start()


def quoted_texts(text: str) -> Iterator[str]:
    """Yield what stands in quotes in an expression, as it is written there."""
    for token in tokens(text):
        quoted = token["text"]
        if quoted and not quoted.startswith("//"):
            inside = quoted.lstrip("rRbB")
            quotes = inside[:3] if inside[:3] in ('"""', "'''") else inside[:1]
            yield inside[len(quotes) : -len(quotes)]


def paths(text: str, name: str) -> frozenset[tuple[str, ...]] | None:
    """Return the paths of fields that an expression reads of a name; None when it uses the name as a
    whole.
    """
    read_paths = frozenset(path for path, _ in reads_of_name(text, name))
    return None if () in read_paths else read_paths


def _path(text: str, parts: list[re.Match[str]]) -> tuple[str, ...]:
    """Return the names of the path that begins with the first of `parts`, up to a call or an operator."""
    path: list[str] = []
    for before, token in pairwise(parts):
        if token["open"] == "(" and path and not _text_between(text, before, token):
            # What is called, as in `record.name.size()`, is no member.
            path.pop()
        if token["field"] is None or _text_between(text, before, token):
            break
        path.append(token["field"].removeprefix(".").strip())
    return tuple(path)


def _text_between(text: str, before: re.Match[str], after: re.Match[str]) -> str:
    """Return what stands between two tokens, without spaces: operators, numbers, or nothing."""
    return text[before.end() : after.start()].strip()
