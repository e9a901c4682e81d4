"""The API's own routes, which no configuration changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request

from runtime.http.limits import count_login
from runtime.http.query_string import read_parameters
from runtime.http.rendering import json_response
from runtime.request_context import Exchange
from runtime.serving.served import current
from runtime.serving.token_views import RefreshView, TokenView
from runtime.serving.viewsets import GuardedViewSet

BuiltinView: TypeAlias = Callable[[HttpRequest], HttpResponseBase]


class ContextViewSet(GuardedViewSet):
    """`GET /api/context`: what the configuration says of the caller, who may be anyone with a token."""

    def read(self, request: Request, **kwargs: Any) -> HttpResponse:
        read_parameters(self.exchange.request, ())
        return json_response(self.exchange.user_context.answer(self.exchange.caller, self.exchange.call))


_context = ContextViewSet.as_view({"get": "read"})


def counted(count: Callable[[HttpRequest], None], view: BuiltinView) -> BuiltinView:
    """Counted by address, whatever `Authorization` says."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        count(request)
        return view(request)

    return answer


def exchange_of(request: HttpRequest, name: str = "") -> Exchange:
    """The context of a request to a built-in route; `name` stood in its path."""
    served = current()
    return Exchange(request, served.user_context, record=name, roles=served.roles)


def _user_context(request: HttpRequest) -> HttpResponseBase:
    return _context(request, exchange=exchange_of(request))


_ROUTES: dict[str, Mapping[str, BuiltinView]] = {
    "/api/token": {"POST": counted(count_login, TokenView.as_view())},
    "/api/token/refresh": {"POST": counted(count_login, RefreshView.as_view())},
    "/api/context": {"GET": _user_context},
}
# By the path of what a name stands under.
_NAMED: dict[str, Mapping[str, BuiltinView]] = {}


def add(path: str, view: BuiltinView) -> None:
    """Answer GET at `path`, whose last segment may be `{name}`, with `view`.

    What describes the API adds its pages when the app is ready: no request to anything else may need them.
    """
    place, _, last = path.rpartition("/")
    if last == "{name}":
        _NAMED[place] = {"GET": view}
    else:
        _ROUTES[path] = {"GET": view}


def builtin_at(path: str) -> Mapping[str, BuiltinView] | None:
    """The views at `path` by method; a trailing slash makes no difference."""
    if path.endswith("/"):
        path = path[:-1]
    return _ROUTES.get(path) or _NAMED.get(path.rpartition("/")[0])
