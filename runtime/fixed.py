"""The API's own routes, which no configuration changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from runtime.addresses import client_address
from runtime.callers.views import RefreshView, TokenView
from runtime.context.viewset import ContextViewSet
from runtime.exchange import Exchange
from runtime.limits import count_address
from runtime.openapi.views import docs, openapi_json, openapi_yaml
from runtime.serving import current

FixedView: TypeAlias = Callable[[HttpRequest], HttpResponseBase]

_token = TokenView.as_view()
_refresh = RefreshView.as_view()
_context = ContextViewSet.as_view({"get": "read"})


def _anonymous(view: FixedView) -> FixedView:
    """Counted by address, whatever `Authorization` says."""

    def counted(request: HttpRequest) -> HttpResponseBase:
        count_address(client_address(request))
        return view(request)

    return counted


def _user_context(request: HttpRequest) -> HttpResponseBase:
    return _context(request, exchange=Exchange(request, current().user_context))


FIXED: Mapping[str, Mapping[str, FixedView]] = {
    "/api/token": {"POST": _anonymous(_token)},
    "/api/token/refresh": {"POST": _anonymous(_refresh)},
    "/api/context": {"GET": _user_context},
    "/api/openapi.json": {"GET": _anonymous(openapi_json)},
    "/api/openapi.yaml": {"GET": _anonymous(openapi_yaml)},
    "/api/docs": {"GET": _anonymous(docs)},
}
