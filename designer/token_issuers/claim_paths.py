"""Paths into a token's claims, as people write them, and the texts of one.

roles                               the claim of that name
realm_access.roles                  the one inside it
resource_access."my.client".roles   a name with dots in it, in quotes
"https://contoso.example/roles"     so too; as the whole path a URL needs no quotes
emails[0]                           the first of a list
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile
from typing import Any, TypeAlias

from designer.sentences import Sentence

# Claims of an e-mail address, which anybody may have typed where nobody has verified it.
_MAIL = frozenset({"email", "emails", "mail", "upn", "preferred_username", "unique_name"})
_URL = re.compile(r"https?://[^\s\"]+")

Path: TypeAlias = tuple[str | int, ...]

# A name with the dot before it, in quotes (1) or plain (2), or a position in a list (3). The first name of a
# path has no dot before it.
_PART = re.compile(r'(?:^|(?<!^)\.)(?:"((?:[^"\\]|\\.)+)"|([^."\[\]]+))|\[(\d{1,3})\]')
_ESCAPED = re.compile(r"\\(.)")
# In characters.
_LONGEST = 500


class WrongPath(ValueError):
    """A text that is no path of a claim. The message says what to write."""


@lru_cache(maxsize=4096)
def path_parts(text: str) -> Path:
    """Return the parts of a path: names, and positions in lists. The first is a name. Raises WrongPath."""
    # A URL is one name, with all its dots.
    if _URL.fullmatch(text):
        return (text,)
    if not text or len(text) > _LONGEST:
        raise WrongPath(Sentence("Write the path of a claim, such as realm_access.roles."))
    parts: list[str | int] = []
    position = 0
    # _PART takes the dot before a name as well: two dots, and one at the end, match nothing.
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            raise _wrong_path(text)
        quoted, plain, list_position = match.groups()
        if quoted is not None:
            parts.append(_ESCAPED.sub(r"\1", quoted))
        elif plain is not None:
            parts.append(plain)
        elif not parts:
            # The claims of a token are an object, not a list.
            raise _wrong_path(text)
        else:
            parts.append(int(list_position))
        position = match.end()
    return tuple(parts)


def _wrong_path(text: str) -> WrongPath:
    """Return the error of a text that is no path of a claim."""
    return WrongPath(
        Sentence(
            "“%(path)s” is not a path of a claim. Separate names by dots, and put a name that has "
            "dots itself in double quotes.",
            path=text,
        )
    )


def leads_into(text: str, target: str) -> bool:
    """Return whether the claim at `text` is the one at `target`, or a part of it. A list counts as
    a whole.
    """
    try:
        path, outer = path_parts(text), path_parts(target)
    except WrongPath:
        return False
    # The target may be in a list, whose items cannot be read one by one: the list counts.
    names = tuple(takewhile(lambda part: isinstance(part, str), outer))
    return path[: len(names)] == names


def names_mail(text: str) -> bool:
    """Whether a path looks like that of an e-mail address."""
    try:
        names = [part for part in path_parts(text) if isinstance(part, str)]
    except WrongPath:
        return False
    # A claim may have a URL as its name, such as http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress.
    last = names[-1].rpartition("/")[2].lower()
    return last in _MAIL or "email" in last


def texts_of(claim: Any) -> tuple[str, ...]:
    """Return the texts of a claim: one text, or all texts of an array.

    A claim with anything else has none.
    """
    if isinstance(claim, str):
        return (claim,)
    if isinstance(claim, list) and all(isinstance(value, str) for value in claim):
        return tuple(claim)
    return ()
