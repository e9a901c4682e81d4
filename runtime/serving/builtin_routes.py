"""The API's own routes, which no configuration changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request

from runtime.http.limits import count_login
from runtime.http.query_string import read_parameters
from runtime.http.rendering import json_response
from runtime.request_context import Exchange
from runtime.serving.routing import BuiltinView, add_builtin
from runtime.serving.served import current
from runtime.serving.token_views import RefreshView, TokenView
from runtime.serving.viewsets import GuardedViewSet


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


def serve() -> None:
    """Answer where tokens are given, and where callers are told what the configuration says of them."""
    add_builtin("/api/token", {"POST": counted(count_login, TokenView.as_view())})
    add_builtin("/api/token/refresh", {"POST": counted(count_login, RefreshView.as_view())})
    add_builtin("/api/context", {"GET": _user_context})
