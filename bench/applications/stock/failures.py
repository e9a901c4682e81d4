"""DRF's exceptions as problems."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as stock_handler

from bench.applications.problems import CONTENT_TYPE, field_error, problem


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    response = stock_handler(error, context)
    if response is None:
        return None
    if isinstance(error, ValidationError):
        errors = [
            field_error("" if name == "non_field_errors" else name, detail.code, str(detail))
            for name, details in error.detail.items()
            for detail in details
        ]
        response.data = problem(400, "invalid", "The inputs are not valid.", errors)
    else:
        response.data = problem(response.status_code, getattr(error, "default_code", "not_found"), str(error))
    response.content_type = CONTENT_TYPE
    return response
