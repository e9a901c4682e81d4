"""Which page of a result a request asks for, and the link to the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import quote, unquote

from lxml import etree

from crmbox.webapi.errors import WebApiError
from crmbox.webapi.odata.options import Options
from crmbox.webapi.request import Request
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Page
from crmclient.query.fetchxml import document
from crmclient.values import Guid

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Cookie:
    """Where the next page begins, as Dataverse hands it to clients: as XML with an element `cookie`.

    `page` is the number of the page that the platform's `token` leads to.
    """

    page: int
    token: str


TRACKING: Final = 'istracking="True"'
"""What a cookie says whose pages lead to a delta link."""


def cookie_text(cookie: Cookie, key: str, first: Guid, last: Guid, *, is_tracking: bool = False) -> str:
    """Return a cookie as Dataverse's links have it: an outer element with the inner one, encoded, in an
    attribute.

    The page before it has the records `first` to `last`, whose keys are in the attribute `key`.
    """
    inner = etree.Element("cookie", {"page": str(cookie.page - 1), "token": cookie.token})
    etree.SubElement(inner, key, {"last": f"{{{last.upper()}}}", "first": f"{{{first.upper()}}}"})
    encoded = quote(quote(etree.tostring(inner, encoding="unicode"), safe=""), safe="")
    tracking = TRACKING if is_tracking else 'istracking="False"'
    return f'<cookie pagenumber="{cookie.page}" pagingcookie="{encoded}" {tracking} />'


def read_cookie(text: str) -> Cookie:
    """Read a cookie that `cookie_text` has written: the outer element. Raises WebApiError."""
    # Some clients add a slash to every address, also to the link that they were given.
    root = _cookie_element(text.rstrip("/"))
    return read_inner_cookie(root.get("pagingcookie", ""), _page_number(root.get("pagenumber")))


def read_inner_cookie(text: str, page: int) -> Cookie:
    """Read the inner element. FetchXML has it on its own, beside the number of the `page` to read.

    A client may send the outer element in its place. Raises WebApiError.
    """
    # `cookie_text` has encoded it twice, and a client may have decoded it already.
    for _ in range(2):
        if text.lstrip().startswith("<"):
            break
        text = unquote(text)
    root = _cookie_element(text)
    if root.get("pagingcookie"):
        return read_cookie(text)
    return Cookie(page, root.get("token", ""))


def _cookie_element(text: str) -> document.Element:
    """Parse `text`, and return its root, an element `cookie`. Raises WebApiError for any other text."""
    try:
        root = document.tree(text)
    except InvalidQuery:
        raise _malformed_cookie() from None
    if root.tag != "cookie":
        raise _malformed_cookie()
    return root


def _page_number(text: str | None) -> int:
    """Return the number of a page in a cookie. Raises WebApiError for anything else."""
    # No page has ten digits, and Python refuses to read thousands of them.
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 9:
        raise _malformed_cookie()
    return int(text)


def _malformed_cookie() -> WebApiError:
    return WebApiError(400, "0x80041103", "The paging cookie is malformed.")


LARGEST_PAGE: Final = 5000
NO_RECORD: Final = "00000000-0000-0000-0000-000000000000"
"""Stands for the key of rows that are no records, such as groups."""

# The characters of a request's path and of its query that a link repeats as they are. Others are encoded:
# inside a batch a URL may hold blanks, which no link can.
_KEPT_IN_PATH: Final = "/()',=$@:"
_KEPT_IN_QUERY: Final = _KEPT_IN_PATH + "%+;*!?~"


def page_size(request: Request) -> int:
    """Return the rows of a page: as many as the caller prefers, up to the largest page."""
    return min(request.prefer.page_size or LARGEST_PAGE, LARGEST_PAGE)


class Paging:
    """Which page of a result a request asks for. `page` is what to ask the platform for.

    As in Dataverse, `$top` does not count beside a preferred page size. A page that `$top` has shortened is
    the last one.
    """

    def __init__(self, request: Request, options: Options) -> None:
        self._request = request
        self._cookie = None if options.skiptoken is None else read_cookie(options.skiptoken)
        top = None if request.prefer.page_size is not None else options.top
        self._has_next = top is None
        self._size = page_size(request) if top is None else min(top, page_size(request))
        token = self._cookie.token if self._cookie else None
        # The platform has no empty pages: for `$top=0`, one row is read and left out of the answer.
        self.page = Page(max(self._size, 1), token, options.count)

    def rows_to_answer(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return the rows of the platform's page, without the one that was read for `$top=0`."""
        return rows[: self._size]

    def next_link(self, token: str | None, key: str, first: Guid, last: Guid) -> dict[str, str]:
        """Return `@odata.nextLink` with the cookie after the records `first` to `last`; an empty dict on the
        last page.
        """
        if token is None or not self._has_next:
            return {}
        number = (self._cookie.page if self._cookie else 1) + 1
        cookie = cookie_text(Cookie(number, token), key, first, last)
        return {"@odata.nextLink": request_link(self._request, "$skiptoken", cookie)}


def request_link(request: Request, option: str, value: str, *, without: str = "") -> str:
    """Return the URL of the request as the caller wrote it, with `option` set to `value`.

    The option `without` is taken out.
    """
    # An option's `$` may be written encoded.
    left_out = tuple(f"{dollar}{name[1:]}=" for name in (option, without) if name for dollar in ("$", "%24"))
    options = [
        quote(part, safe=_KEPT_IN_QUERY)
        for part in request.raw_query.split("&")
        if part and not part.lower().startswith(left_out)
    ]
    options.append(f"{option}={quote(value, safe='')}")
    return f"{request.base}{quote(request.raw_path, safe=_KEPT_IN_PATH)}?{'&'.join(options)}"
