"""The DRF viewsets that definitions become. What is constant is done once; a request runs the rest:

route → address limit → token → caller limit → roles → (the operation:) body, inputs … → response
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.viewsets import ViewSet

from designer.definitions import AccessDefinition
from runtime.caching.cached_answers import CachedAnswers
from runtime.callers.caller import ANONYMOUS, Caller
from runtime.callers.recognition import Recognition
from runtime.callers.refusals import authentication_required, forbidden, type_not_admitted
from runtime.callers.tokens import authenticate
from runtime.http.addresses import client_address
from runtime.http.checked_headers import Prepared
from runtime.http.conditions import unless_held
from runtime.http.failures import error_response, misconfigured
from runtime.http.limits import count_address, count_caller, count_endpoint
from runtime.http.problems import Problem
from runtime.http.rendering import refuse_unacceptable
from runtime.http.request_record import record_of
from runtime.idempotency.guard import Idempotency
from runtime.operations.base import Operation
from runtime.request_context import Exchange

PRIVATE = Prepared({"Cache-Control": "private, no-cache", "Vary": "Authorization"})
# In logs and metrics: callers without a token are of no type.
ANONYMOUS_TYPE = "anonymous"
_PUBLIC = Prepared({"Cache-Control": "public, no-cache"})


class GuardedViewSet(ViewSet):
    """Finds out who calls and whether they may, and sets the headers of the answer."""

    access: AccessDefinition = AccessDefinition()
    # The API's own routes are for callers of every type.
    admits_every_type: bool = True
    # Answers are the same for everyone who may read them.
    is_public: bool = False
    # False: the type of an answer is known only once it is found, so the operation checks `Accept` itself.
    answers_json: bool = True

    @classmethod
    def as_view(cls, actions: Mapping[str, str], **initkwargs: Any) -> Callable[..., HttpResponseBase]:  # type: ignore[override]
        """Return a view that answers each request by a new viewset; `actions` has the method's name by HTTP
        verb.

        DRF makes each viewset anew, binds every method to it and wraps the request for parsers and
        authenticators, which are not used here. That took a twentieth of a read. So each viewset is a copy of
        one model, and its steps, which keep DRF's names, take Django's own request.
        """
        model = cls(**initkwargs)
        names = {"head": actions["get"], **actions} if "get" in actions else dict(actions)

        def view(request: HttpRequest, *, exchange: Exchange) -> HttpResponseBase:
            viewset = cls.__new__(cls)
            viewset.__dict__.update(model.__dict__)
            return viewset.dispatch(request, exchange, names[(request.method or "").lower()])

        # DRF's views have it, too. Descriptions read the operation from it.
        view.initkwargs = initkwargs  # type: ignore[attr-defined]
        return view

    def dispatch(self, request: HttpRequest, exchange: Exchange, action: str) -> HttpResponseBase:
        """Answer a request by the method `action`, after the checks of `initial`. Errors become problems."""
        self.exchange = exchange
        try:
            self.initial(request)
            response: HttpResponseBase = getattr(self, action)(request)
        except Exception as error:
            response = error_response(error, request)
        (_PUBLIC if self.is_public else PRIVATE).complete(response)
        return response

    def initial(self, request: HttpRequest) -> None:
        """Find out who calls, and count the request. Raises the Problem of a caller who may not call this
        endpoint.
        """
        caller = self.exchange.caller = _caller(request, self.exchange.recognition)
        record_of(request).caller_type = ANONYMOUS_TYPE if caller.is_anonymous else caller.type
        authorise(caller, self.access, of_every_type=self.admits_every_type)
        self.count(request)
        if self.answers_json:
            refuse_unacceptable(request.META.get("HTTP_ACCEPT"))

    def count(self, request: HttpRequest) -> None:
        """Count the request for limits that only this endpoint has. Raises Problem 429."""


class OperationViewSet(GuardedViewSet):
    """An endpoint's operation, for every method of its kind."""

    operation: Operation = None  # type: ignore[assignment]
    admits_every_type = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.is_public = self.operation.public_cache and not self.access.authentication_required
        self.answers_json = self.operation.answers_json

    def count(self, request: HttpRequest) -> None:
        """Count the request for the endpoint's own limits, if it has any. Raises Problem 429."""
        endpoint = self.operation.endpoint.definition
        limits = endpoint.settings.limits
        if limits.are_set:
            caller = self.exchange.caller
            caller_key = "" if caller.is_anonymous else f"{caller.issuer} {caller.subject}"
            count_endpoint(endpoint.key, limits.rate, limits.caller_rate, caller_key, request)

    def run(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a request, and close the file that was received, whatever happens."""
        try:
            return self._run(request)
        finally:
            if self.exchange.received is not None:
                self.exchange.received.close()

    def _run(self, request: HttpRequest) -> HttpResponseBase:
        """Run the operation, once for an Idempotency-Key."""
        key = request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is None or request.method != "POST":
            response = self.operation.run(self.exchange)
            return unless_held(request, response) if self.operation.is_tagged else response
        endpoint = self.operation.endpoint.definition.key
        guard = Idempotency(self.exchange, endpoint, key, self.operation.body_digest)
        return guard.once(self.operation.run)


class CachedViewSet(OperationViewSet):
    """An endpoint whose answers are cached."""

    answers: CachedAnswers = None  # type: ignore[assignment]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.is_public = self.answers.is_public

    def _run(self, request: HttpRequest) -> HttpResponseBase:
        # Such an endpoint only reads, so no Idempotency-Key applies.
        return self.answers.answer(self.exchange, self.operation.run)


class BrokenViewSet(GuardedViewSet):
    """An endpoint that cannot be served as it is configured. Its access is guarded all the same."""

    admits_every_type = False

    def run(self, request: HttpRequest) -> NoReturn:
        """Raise the Problem 503 of an endpoint that is not configured correctly."""
        raise misconfigured()


def _caller(request: HttpRequest, recognition: Recognition | None) -> Caller:
    """Return the caller of the request, and count the request. Raises Problem.

    A request with an invalid token counts for its address, as one without a token does.
    """
    authorization = request.META.get("HTTP_AUTHORIZATION")
    if authorization is None:
        count_address(request)
        return ANONYMOUS
    try:
        caller = authenticate(authorization, recognition, client_address(request)) or ANONYMOUS
    except Problem:
        count_address(request)
        raise
    rate = caller.rate if recognition is None else recognition.rate_of(caller)
    count_caller(caller.issuer, caller.subject, request, rate)
    return caller


def authorise(caller: Caller, access: AccessDefinition, *, of_every_type: bool = False) -> None:
    """Raise Problem 401 for an anonymous caller, and 403 for a caller of another type or without any of the
    roles.

    Do nothing when `access` requires no authentication. `of_every_type`: callers of any type are admitted.
    """
    if not access.authentication_required:
        return
    if caller.is_anonymous:
        raise authentication_required()
    if not of_every_type and caller.type not in access.caller_types:
        raise type_not_admitted(caller.issuer)
    if access.roles and caller.roles.isdisjoint(access.roles):
        raise forbidden(caller.issuer)
