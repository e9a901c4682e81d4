"""The API's own routes, as the document describes them."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.describe.fragment_digests import OPEN_ROUTES
from runtime.describe.generator import Route
from runtime.describe.own_pages import PAGES
from runtime.describe.page_views import PageViewSet
from runtime.serving.context_viewset import ContextViewSet
from runtime.serving.served import Served
from runtime.serving.token_views import RefreshView, TokenView


def own_routes(served: Served, which: int) -> list[Route]:
    """OPEN_ROUTES or GUARDED_ROUTES: what is served whatever is configured, but the page of Swagger UI."""
    return list(_open() if which == OPEN_ROUTES else _guarded(served))


def _open() -> Iterable[Route]:
    yield "/api/token", "POST", TokenView.as_view()
    yield "/api/token/refresh", "POST", RefreshView.as_view()
    for page in PAGES:
        yield page.path, "GET", PageViewSet.as_view({"get": "read"}, page=page)


def _guarded(served: Served) -> Iterable[Route]:
    context = ContextViewSet.as_view({"get": "read"}, user_context=served.user_context)
    yield "/api/context", "GET", context
