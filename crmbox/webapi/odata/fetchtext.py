"""A FetchXML text as clients send it, made ready for `crmclient.query.fetchxml`.

What says which page is wanted is taken out. On the wire there are no parameters: every value is a literal,
whatever sign it begins with.
"""

from __future__ import annotations

from dataclasses import dataclass

from lxml import etree

from crmbox.webapi.errors import bad_url
from crmclient.query.fetchxml import document

_LITERAL = "@="


@dataclass(frozen=True, slots=True)
class Paging:
    """`cookie` is the paging cookie as it stood in the text, '' without one."""

    page: int
    cookie: str


def taken_apart(text: str) -> tuple[str, Paging]:
    """The text without its paging, and the paging. Raises WebApiError, InvalidQuery."""
    root = document.tree(text)
    page = str(root.attrib.pop("page", "1"))
    cookie = str(root.attrib.pop("paging-cookie", ""))
    for condition in root.iter("condition"):
        if condition.get("value"):
            condition.set("value", _LITERAL + condition.get("value", ""))
        for value in condition.iter("value"):
            if value.text:
                value.text = _LITERAL + value.text
    return etree.tostring(root, encoding="unicode"), Paging(_number(page.strip()), cookie)


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not int(text):
        raise bad_url(f"page {text!r} is no whole number of at least 1.")
    return int(text)
