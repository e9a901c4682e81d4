"""The API's own routes, which no configuration changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from runtime.describe.own_pages import PAGES, Page
from runtime.describe.page_views import PageViewSet
from runtime.describe.swagger_ui import docs
from runtime.http.limits import count_address, count_login
from runtime.request_context import Exchange
from runtime.serving.context_viewset import ContextViewSet
from runtime.serving.served import current
from runtime.serving.token_views import RefreshView, TokenView

FixedView: TypeAlias = Callable[[HttpRequest], HttpResponseBase]

_token = TokenView.as_view()
_refresh = RefreshView.as_view()
_context = ContextViewSet.as_view({"get": "read"})


def _counted(count: Callable[[HttpRequest], None], view: FixedView) -> FixedView:
    """Counted by address, whatever `Authorization` says."""

    def counted(request: HttpRequest) -> HttpResponseBase:
        count(request)
        return view(request)

    return counted


def _user_context(request: HttpRequest) -> HttpResponseBase:
    return _context(request, exchange=_exchange(request))


def _described(page: Page) -> FixedView:
    view = PageViewSet.as_view({"get": "read"}, page=page)

    def answer(request: HttpRequest) -> HttpResponseBase:
        path = request.path_info.removesuffix("/")
        name = path.rpartition("/")[2] if page.is_named else ""
        return view(request, exchange=_exchange(request, name))

    return answer


def _exchange(request: HttpRequest, name: str = "") -> Exchange:
    served = current()
    return Exchange(request, served.user_context, record=name, roles=served.roles)


FIXED: Mapping[str, Mapping[str, FixedView]] = {
    "/api/token": {"POST": _counted(count_login, _token)},
    "/api/token/refresh": {"POST": _counted(count_login, _refresh)},
    "/api/context": {"GET": _user_context},
    "/api/docs": {"GET": _counted(count_address, docs)},
    **{page.path: {"GET": _described(page)} for page in PAGES if not page.is_named},
}
# By the path of what a name stands under.
_NAMED: Mapping[str, Mapping[str, FixedView]] = {
    page.path.rpartition("/")[0]: {"GET": _described(page)} for page in PAGES if page.is_named
}


def fixed_at(path: str) -> Mapping[str, FixedView] | None:
    """The views at `path` by method; a trailing slash makes no difference."""
    if path.endswith("/"):
        path = path[:-1]
    return FIXED.get(path) or _NAMED.get(path.rpartition("/")[0])
