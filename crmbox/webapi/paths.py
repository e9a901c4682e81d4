"""The path of a request below `{base}/api/data/v9.2/`, in segments with their parentheses taken apart.

accounts(00000000-0000-4000-8000-000000000001)/primarycontactid/$ref
accounts(accountnumber='A/1')              a slash inside quotes separates nothing
GrantAccess(Target=@p1,Note='it''s')       arguments of a function
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from crmbox.webapi.errors import WebApiError, no_resource

ROOT_VARIABLE = "PORTICO_CRM_SERVER_ROOT"
"""The environment variable with the root of all URLs, which `manage.py crmserver` sets for its processes."""


def with_root_split_off(environ: dict[str, Any]) -> dict[str, Any]:
    """Return a WSGI environment with the root as SCRIPT_NAME and the rest of the path as PATH_INFO.

    Raises WebApiError (404) for a path outside the root.
    """
    root, path = os.environ.get(ROOT_VARIABLE, ""), environ.get("PATH_INFO", "/")
    if path != root and not path.startswith(f"{root}/"):
        raise no_resource(path)
    return {**environ, "SCRIPT_NAME": root, "PATH_INFO": path.removeprefix(root) or "/"}


API: Final = r"/api/data/v(8\.[0-2]|9\.[0-2])"
"""A regular expression of where the API is: every version is answered as v9.2."""

_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Argument:
    """`name=value`, or a value alone; `value` is the literal as written: `'it''s'`, `5`, `@p1`."""

    name: str | None
    value: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a path. `arguments` is None without parentheses, and empty for `WhoAmI()`."""

    name: str
    arguments: tuple[Argument, ...] | None = None


def parse_path(text: str) -> tuple[Segment, ...]:
    """Return the segments of a path that is percent-decoded already.

    Raises WebApiError for parentheses or quotes that are not closed.
    """
    return tuple(_segment(part) for part in _split(text, "/") if part)


def unquoted(literal: str) -> str:
    """Return the text of a string literal. Any other literal is returned as it is."""
    if len(literal) >= 2 and literal[0] == literal[-1] == "'":
        return literal[1:-1].replace("''", "'")
    return literal


def _segment(text: str) -> Segment:
    """Return a segment with the arguments in its parentheses. Raises WebApiError."""
    name, bracket, rest = text.partition("(")
    if not bracket:
        return Segment(name)
    if not rest.endswith(")"):
        raise _malformed(text)
    return Segment(name, tuple(_argument(item) for item in _split(rest[:-1], ",") if item.strip()))


def _argument(text: str) -> Argument:
    """Return an argument: a literal alone, or one with a name before `=`."""
    item = text.strip()
    if item.startswith("'") or "=" not in item:
        return Argument(None, item)
    name, _, value = item.partition("=")
    return Argument(name.strip(), value.strip())


def _split(text: str, separator: str) -> Iterator[str]:
    """Yield the parts of `text` between separators outside brackets and quotes.

    Quotes count within brackets, and wherever `separator` is a comma. Raises WebApiError for brackets or
    quotes that are not closed.
    """
    depth, quoted, start = 0, False, 0
    for position, character in enumerate(text):
        if character == "'" and (depth or separator == ","):
            quoted = not quoted
        elif quoted:
            continue
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif character == separator and not depth:
            yield text[start:position]
            start = position + 1
    if quoted or depth:
        raise _malformed(text)
    yield text[start:]


def _malformed(text: str) -> WebApiError:
    return WebApiError(400, "0x80060888", f"Bad Request - Error in query syntax: '{text}'.")
