"""Which page of a result a request asks for, and the link to the next one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from lxml import etree

from crmbox.webapi.errors import WebApiError
from crmbox.webapi.odata.options import Options
from crmbox.webapi.request import Request
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Page
from crmclient.query.fetchxml import document
from crmclient.values import Guid


@dataclass(frozen=True, slots=True)
class Cookie:
    """`page` is the number of the page that `token` leads to."""

    page: int
    token: str


TRACKING: Final = 'istracking="True"'
"""What a cookie says whose pages lead to a delta link."""


def outer(cookie: Cookie, key: str, first: Guid, last: Guid, *, is_tracking: bool = False) -> str:
    """The cookie after a page, from the records `first` to `last`, whose keys are in the attribute `key`."""
    inner = etree.Element("cookie", {"page": str(cookie.page - 1), "token": cookie.token})
    etree.SubElement(inner, key, {"last": f"{{{last.upper()}}}", "first": f"{{{first.upper()}}}"})
    encoded = quote(quote(etree.tostring(inner, encoding="unicode"), safe=""), safe="")
    tracking = TRACKING if is_tracking else 'istracking="False"'
    return f'<cookie pagenumber="{cookie.page}" pagingcookie="{encoded}" {tracking} />'


def read_outer(text: str) -> Cookie:
    """Raises WebApiError."""
    # Some clients add a slash to every address, also to the link that they were given.
    root = _parsed(text.rstrip("/"))
    return read_inner(root.get("pagingcookie", ""), _number(root.get("pagenumber")))


def read_inner(text: str, page: int) -> Cookie:
    """Read the paging cookie of the page before `page`, which stands on its own, decoded or still encoded."""
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


LARGEST_PAGE: Final = 5000
NO_RECORD: Final = "00000000-0000-0000-0000-000000000000"
"""Stands for the key of rows that are no records, such as groups."""

_LEGIBLE: Final = "/()',=$@:"
_WRITTEN: Final = _LEGIBLE + "%+;*!?~"
"""What stays as the caller wrote it. Inside a batch a URL may hold blanks, which no link can."""


def page_size(request: Request) -> int:
    """Return the rows of a page: as many as the caller prefers, up to the largest page."""
    return min(request.prefer.page_size or LARGEST_PAGE, LARGEST_PAGE)


class Paging:
    """`page` is what to ask for; of its rows, `size` are shown: none for `$top=0`.

    A page size makes the platform forget `$top`, and what `$top` cuts off has no next page.
    """

    def __init__(self, request: Request, options: Options) -> None:
        self._request = request
        self._cookie = None if options.skiptoken is None else read_outer(options.skiptoken)
        cut = None if request.prefer.page_size is not None else options.top
        self._continues = cut is None
        self.size = page_size(request) if cut is None else min(cut, page_size(request))
        token = self._cookie.token if self._cookie else None
        self.page = Page(max(self.size, 1), token, options.count)

    def next_link(self, token: str | None, key: str, first: Guid, last: Guid) -> dict[str, str]:
        """Return `@odata.nextLink` with the cookie after the records `first` to `last`; nothing on the last
        page.
        """
        if token is None or not self._continues:
            return {}
        number = (self._cookie.page if self._cookie else 1) + 1
        return {"@odata.nextLink": self._link(outer(Cookie(number, token), key, first, last))}

    def _link(self, cookie: str) -> str:
        return link_with(self._request, "$skiptoken", cookie)


def link_with(request: Request, option: str, value: str, *, without: str = "") -> str:
    """The URL of the request itself, as the caller wrote it, with another value of an option."""
    replaced = tuple(f"{mark}{name[1:]}=" for name in (option, without) if name for mark in ("$", "%24"))
    options = [
        quote(part, safe=_WRITTEN)
        for part in request.raw_query.split("&")
        if part and not part.lower().startswith(replaced)
    ]
    options.append(f"{option}={quote(value, safe='')}")
    return f"{request.base}{quote(request.raw_path, safe=_LEGIBLE)}?{'&'.join(options)}"
