"""`GET /api/context`: what the configuration says of the caller."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from designer.definitions import AccessDefinition
from runtime.context.plan import UserContext
from runtime.describe.documentation import Documentation
from runtime.http.query_string import read_parameters
from runtime.http.rendering import json_response
from runtime.operations.base import Description
from runtime.serving.viewsets import GuardedViewSet


class ContextViewSet(GuardedViewSet):
    """For any authenticated caller. `user_context` is only what the document describes."""

    user_context: UserContext = None  # type: ignore[assignment]

    def read(self, request: Request, **kwargs: Any) -> HttpResponse:
        read_parameters(self.exchange.request, ())
        return json_response(self.exchange.user_context.answer(self.exchange.caller, self.exchange.call))

    def document(self) -> Documentation:
        return Documentation(
            operation_id="context",
            summary="User context",
            description="What the configuration says of the caller, under the names it gives.",
            tag="Context",
            access=AccessDefinition(),
        )

    def describe(self) -> Description:
        return Description(
            success=(200, self.user_context.schema(), "The caller's properties."),
            problems={400: ("invalid_parameter",), 422: ("too_many_rows",)},
        )
