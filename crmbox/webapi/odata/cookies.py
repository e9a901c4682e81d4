"""Paging cookies in the platform's form; what they hold besides is where the last page ended.

    <cookie pagenumber="2" pagingcookie="%253ccookie%2520page%253d%25221%2522…" istracking="False" />

The inner value is URL-encoded twice. Decoded it is
`<cookie page="1" token="…"><accountid last="{…}" first="{…}" /></cookie>`.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from lxml import etree

from crmbox.webapi.errors import WebApiError
from crmclient.errors import InvalidQuery
from crmclient.query.fetchxml import document
from crmclient.values import Guid


@dataclass(frozen=True, slots=True)
class Cookie:
    """`page` is the number of the page that `token` leads to."""

    page: int
    token: str


def outer(cookie: Cookie, key: str, first: Guid, last: Guid) -> str:
    """The cookie after a page, from the records `first` to `last`, whose keys are in the attribute `key`."""
    inner = etree.Element("cookie", {"page": str(cookie.page - 1), "token": cookie.token})
    etree.SubElement(inner, key, {"last": f"{{{last.upper()}}}", "first": f"{{{first.upper()}}}"})
    encoded = quote(quote(etree.tostring(inner, encoding="unicode"), safe=""), safe="")
    return f'<cookie pagenumber="{cookie.page}" pagingcookie="{encoded}" istracking="False" />'


def read_outer(text: str) -> Cookie:
    """Raises WebApiError."""
    # Some clients add a slash to every address, also to the link that they were given.
    root = _parsed(text.rstrip("/"))
    return read_inner(root.get("pagingcookie", ""), _number(root.get("pagenumber")))


def read_inner(text: str, page: int) -> Cookie:
    """A paging cookie on its own, decoded or still encoded, of the page before `page`."""
    for _ in range(2):
        if text.lstrip().startswith("<"):
            break
        text = unquote(text)
    root = _parsed(text)
    if root.get("pagingcookie"):
        return read_outer(text)
    return Cookie(page, root.get("token", ""))


def _parsed(text: str) -> document.Element:
    try:
        root = document.tree(text)
    except InvalidQuery:
        raise _bad() from None
    if root.tag != "cookie":
        raise _bad()
    return root


def _number(text: str | None) -> int:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 9:
        raise _bad()
    return int(text)


def _bad() -> WebApiError:
    return WebApiError(400, "0x80041103", "The paging cookie is malformed.")
