"""The DRF viewsets that definitions become. What is constant is done once; a request runs the rest:

route → address limit → token → caller limit → roles → (the operation:) body, inputs … → response
"""

from __future__ import annotations

from typing import Any, NoReturn

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from designer.definitions import AccessDefinition
from runtime.callers.caller import ANONYMOUS, Caller
from runtime.callers.refusals import authentication_required, forbidden
from runtime.callers.tokens import authenticate
from runtime.http.failures import misconfigured
from runtime.http.limits import count_address, count_caller
from runtime.http.problems import Problem
from runtime.http.rendering import refuse_unacceptable
from runtime.idempotency.guard import Idempotency
from runtime.operations.base import Operation
from runtime.request_context import Exchange

PRIVATE = {"Cache-Control": "private, no-cache", "Vary": "Authorization"}
_PUBLIC = {"Cache-Control": "public, no-cache"}


class GuardedViewSet(ViewSet):
    """Says who calls and whether they may, and dresses the answer."""

    access: AccessDefinition = AccessDefinition()
    # Answers are the same for everyone who may read them.
    is_public: bool = False
    # Other types are known only when the answer is found: the operation looks at `Accept` itself.
    answers_json: bool = True
    default_response_headers = {}

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        # Bodies are read by the operation, and callers found below: no parsers, no authenticators.
        return Request(request)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        plain = request._request
        self.exchange: Exchange = kwargs["exchange"]
        self.exchange.caller = _caller(plain, self.exchange.roles)
        authorise(self.exchange.caller, self.access)
        if self.answers_json:
            refuse_unacceptable(plain.META.get("HTTP_ACCEPT"))

    def finalize_response(  # type: ignore[override]
        self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        for name, value in (_PUBLIC if self.is_public else PRIVATE).items():
            response.headers.setdefault(name, value)
        return response


class OperationViewSet(GuardedViewSet):
    """An endpoint's operation, for every method of its kind."""

    operation: Operation = None  # type: ignore[assignment]

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.is_public = self.operation.public_cache and not self.access.authentication_required
        self.answers_json = self.operation.answers_json

    def run(self, request: Request, **kwargs: Any) -> HttpResponseBase:
        try:
            return self._run(request)
        finally:
            if self.exchange.received is not None:
                self.exchange.received.close()

    def _run(self, request: Request) -> HttpResponseBase:
        key = request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is None or request.method != "POST":
            return self.operation.run(self.exchange)
        endpoint = self.operation.endpoint.definition.key
        guard = Idempotency(self.exchange, endpoint, key, self.operation.body_digest)
        return guard.once(self.operation.run)


class BrokenViewSet(GuardedViewSet):
    """An endpoint that cannot be served as it is configured. Its access is guarded all the same."""

    def run(self, request: Request, **kwargs: Any) -> NoReturn:
        raise misconfigured()


def _caller(request: HttpRequest, roles: object) -> Caller:
    """The caller, counted. An invalid token counts against its address, as no token does."""
    authorization = request.META.get("HTTP_AUTHORIZATION")
    if authorization is None:
        count_address(request)
        return ANONYMOUS
    try:
        caller = authenticate(authorization, roles) or ANONYMOUS
    except Problem:
        count_address(request)
        raise
    count_caller(caller.issuer, caller.subject, request)
    return caller


def authorise(caller: Caller, access: AccessDefinition) -> None:
    if not access.authentication_required:
        return
    if caller.is_anonymous:
        raise authentication_required()
    if access.roles and caller.roles.isdisjoint(access.roles):
        raise forbidden(caller.issuer)
