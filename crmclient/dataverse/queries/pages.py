"""Page tokens: where a page ended, by the platform's own cookie, bound to the shape of its query.

Nothing in a token widens what a query gives: one that was tampered with leads to other rows of the same
query, or to none.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from crmclient import exact_json
from crmclient.errors import InvalidQuery, UnexpectedAnswer
from crmclient.query.fetchxml import document
from crmclient.query.problems import QueryProblems
from crmclient.sentences import Sentence

_LONGEST_TOKEN: Final = 20_000
# More pages than anybody reads: such a number is not from us.
_LAST_PAGE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Position:
    """A page by its number, counted from 1, after the `cookie` of the page before it, if it has one."""

    number: int = 1
    cookie: str | None = None


def seal(position: Position, digest: str) -> str:
    """Return the token of a position in the results of the query whose shape has `digest`. Not signed."""
    raw = exact_json.render([digest, position.number, position.cookie])
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def unseal(token: str, digest: str) -> Position:
    """Return the position in a page token.

    Raises InvalidQuery for a token of another query, and for a wrong token.
    """
    try:
        # `seal` leaves out the padding. A token that is too long is cut, and is wrong then.
        raw = base64.b64decode(
            token[:_LONGEST_TOKEN] + "=" * (-len(token) % 4), altchars=b"-_", validate=True
        )
        token_digest, number, cookie = exact_json.parse(raw)
    except (ValueError, TypeError, binascii.Error):
        raise InvalidQuery("The page token is not valid.") from None
    if token_digest != digest:
        raise InvalidQuery("The page token belongs to another query.")
    if type(number) is not int or not 1 <= number <= _LAST_PAGE or not isinstance(cookie, str | None):
        raise InvalidQuery("The page token is not valid.")
    return Position(number, cookie)


def position_after(position: Position, annotation: object) -> Position:
    """Return the position of the page after the one at `position`.

    `annotation` is the platform's `<cookie pagenumber="2" pagingcookie="%253ccookie…" />`, in which the
    cookie is encoded twice; None when the platform gives no cookie.
    """
    if annotation is None:
        return Position(position.number + 1)
    try:
        element = document.tree(str(annotation))
    except QueryProblems:
        raise UnexpectedAnswer(Sentence("The platform's paging cookie cannot be read.")) from None
    cookie = element.get("pagingcookie")
    return Position(position.number + 1, unquote(unquote(cookie)) if cookie else None)
