"""Every page of the studio, out of the URL conf: a new page is among them without a word here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

from designer.kinds import KINDS

# What the studio asks a page for: the answer's status, type and text.
Ask = Callable[[str], tuple[int, str, str]]
ARGUMENT = re.compile(r"<(?:\w+:)?\w+>")
# Where nobody is logged in; and what ends a login.
OUTSIDE = {
    *("admin:login", "admin:logout"),
    *("studio:login", "studio:logout", "studio:sign_in", "studio:signed_in"),
}
WHOLE = re.compile(r"^\s*<!DOCTYPE html>", re.IGNORECASE)


class Route(NamedTuple):
    """A page's name, and its path with a place for what it is about."""

    name: str
    path: str


def routes() -> list[Route]:
    """All named ones under /admin/."""
    admin_routes = [route for route in _routes(get_resolver(), "/", "") if route.path.startswith("/admin/")]
    assert len(admin_routes) > 60
    return admin_routes


def pages(ask: Ask) -> dict[str, str]:
    """Addresses by name, of all that are answered with a page; of endpoints, one of each kind beside that."""
    addresses: dict[str, str] = {}
    # Many pages are found on one list.
    ask = cache(ask)
    for route in routes():
        path = _filled(route, ask) if route.name not in OUTSIDE else None
        if path is not None and _is_page(ask(path)):
            addresses[route.name] = path
    for kind in KINDS:
        listed = f"/admin/designer/endpoint/?kind={kind}"
        # With the list's filter: the sidebar's links are without.
        if link := _first_link(ask, listed, r"/admin/designer/endpoint/\d+/change/", behind=r"\?"):
            addresses[f"an endpoint: {kind}"] = link
    return addresses


def _routes(resolver: URLResolver, prefix: str, namespace: str) -> Iterator[Route]:
    for pattern in resolver.url_patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            if pattern.name:
                yield Route(f"{namespace}{pattern.name}", path)
        else:
            inner = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from _routes(pattern, path, namespace + inner)


def _filled(route: Route, ask: Ask) -> str | None:
    """The path about something that there is: the first that the list above it links to; None without one."""
    if "?P<" in route.path:
        return None
    place = ARGUMENT.search(route.path)
    if place is None:
        return route.path
    above = route.path[: place.start()]
    return _first_link(ask, above, re.escape(above) + r"\d+/", route.path[place.end() + 1 :])


def _first_link(ask: Ask, listed: str, link: str, then: str = "", behind: str = "") -> str | None:
    status, _, text = ask(listed)
    match = re.search(rf'href="({link}){behind}', text) if status == 200 else None
    return match[1] + then if match else None


def _is_page(answer: tuple[int, str, str]) -> bool:
    status, kind, text = answer
    return status == 200 and kind.startswith("text/html") and WHOLE.match(text) is not None
