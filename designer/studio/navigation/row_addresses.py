"""Addresses of the studio's pages of rows."""

from __future__ import annotations

from collections.abc import Callable

from django.urls import reverse


def row_addresses(page: str) -> Callable[[int], str]:
    """Return a function that makes the address of the page of a row from the row's id.

    `page` is the page's name in the URL conf, such as `admin:designer_endpoint_change`.
    """
    # `reverse` is slow, and there may be a thousand rows: it is called once, with 0 in place of an id.
    before, _, after = reverse(page, args=[0]).rpartition("/0/")
    return lambda id: f"{before}/{id}/{after}"
