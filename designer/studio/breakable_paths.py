"""Paths of endpoints where there is little room for them."""

from __future__ import annotations

from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

_BREAK = mark_safe("<wbr>/")


def breakable(path: str) -> SafeString:
    """Return a path that narrow places break before a slash, and not in the middle of a word."""
    root, *segments = str(path).split("/")
    first = f"{root}/{segments[0]}" if segments else root
    return format_html_join(_BREAK, "{}", ((part,) for part in (first, *segments[1:])))
