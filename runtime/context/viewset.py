"""`GET /api/context`: what the configuration says of the caller."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from runtime.parameters import read_parameters
from runtime.rendering import json_response
from runtime.viewsets import GuardedViewSet


class ContextViewSet(GuardedViewSet):
    """For any authenticated caller."""

    def read(self, request: Request, **kwargs: Any) -> HttpResponse:
        read_parameters(self.exchange.request, ())
        return json_response(self.exchange.user_context.answer(self.exchange.caller, self.exchange.call))
