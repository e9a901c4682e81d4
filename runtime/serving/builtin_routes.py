"""The API's own routes, which no configuration changes."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from runtime.http.conditions import digest, unless_held
from runtime.http.limits import count_login
from runtime.http.query_string import read_parameters
from runtime.http.rendering import json_response
from runtime.request_context import Exchange
from runtime.serving.routing import BuiltinView, add_builtin
from runtime.serving.served import current
from runtime.serving.viewsets import GuardedViewSet
from runtime.tokens.oauth_answers import in_words_of_oauth
from runtime.tokens.token_views import RefreshView, RevokeView, TokenView


class ContextViewSet(GuardedViewSet):
    """`GET /api/context`: what the configuration says of the caller, who may be anyone with a token."""

    def read(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the caller's context as JSON; 304 if the caller has it already."""
        read_parameters(self.exchange.request, ())
        context = self.exchange.user_context.answer(self.exchange.caller, self.exchange.call)
        response = json_response(context)
        response.headers["ETag"] = f'"{digest(response.content)}"'
        return unless_held(request, response)


_context = ContextViewSet.as_view({"get": "read"})


def counted(count: Callable[[HttpRequest], None], view: BuiltinView) -> BuiltinView:
    """Return `view` so that every request is first counted by `count`, whatever its `Authorization`."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        count(request)
        return view(request)

    return answer


def exchange_of(request: HttpRequest, name: str = "") -> Exchange:
    """Return the context of a request to a built-in route; `name` is the value of `{name}` in its path."""
    served = current()
    return Exchange(request, served.user_context, record=name, recognition=served.recognition)


def _user_context(request: HttpRequest) -> HttpResponseBase:
    return _context(request, exchange=exchange_of(request))


def serve() -> None:
    """Add the routes that issue, refresh and revoke tokens, and `/api/context`."""
    for path, view in (("", TokenView), ("/refresh", RefreshView), ("/revoke", RevokeView)):
        answer = counted(count_login, view.as_view())
        # Revoking is specified by OAuth alone (RFC 7009). The other routes have a form of their own, too.
        add_builtin(f"/api/token{path}", {"POST": in_words_of_oauth(answer, always=view is RevokeView)})
    add_builtin("/api/context", {"GET": _user_context})
