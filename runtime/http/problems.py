"""Errors as `application/problem+json` (RFC 9457): one shape for everything the API refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

import orjson
from django.http import HttpRequest, HttpResponse
from rest_framework.exceptions import APIException

from runtime.http.request_ids import request_id

CONTENT_TYPE = "application/problem+json"

# Python says these in RFC 9110's words from 3.13 on. An answer must not depend on it, and least of all the
# names in an OpenAPI document, of which clients are made.
_PHRASES = {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
}


class FieldError(NamedTuple):
    """One wrong value: its place is the JSON Pointer `pointer` (RFC 6901) into the body, or the name of a
    query-string `parameter`.
    """

    code: str
    message: str
    pointer: str | None = None
    parameter: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the error as a member of the problem document."""
        place = {"pointer": self.pointer or ""} if self.parameter is None else {"parameter": self.parameter}
        return {**place, "code": self.code, "message": self.message}


class Problem(APIException):
    """A refusal: a status, a stable `code`, a sentence for developers, and the errors of single fields."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: Iterable[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail, code)
        self.status_code = status
        self.code = code
        # Django REST framework makes a plain text of `detail`. A Sentence can still be translated, and be
        # logged without the values in it.
        self.sentence = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})

    @property
    def logged(self) -> Mapping[str, str]:
        """The fields that the log has of this refusal. Empty for most problems, which concern the caller
        alone.
        """
        return {}


def unknown_route() -> Problem:
    """Return the problem 404. It is the same for a path that does not exist, is disabled or may not
    be seen.
    """
    return Problem(404, "not_found", "There is nothing here for you.")


def phrase(status: int) -> str:
    """Return the words of RFC 9110 for a status."""
    return _PHRASES.get(status) or HTTPStatus(status).phrase


def respond(problem: Problem, request: HttpRequest) -> HttpResponse:
    """Return the problem as an answer to `request`."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": phrase(problem.status_code),
        "status": problem.status_code,
        "detail": problem.sentence,
        # A path may hold lone surrogates, which JSON cannot.
        "instance": request.path.encode("utf-8", "replace").decode("utf-8"),
        "code": problem.code,
        "requestId": request_id(request),
    }
    if problem.errors:
        body["errors"] = [error.to_json() for error in problem.errors]
    return HttpResponse(
        orjson.dumps(body),
        status=problem.status_code,
        content_type=CONTENT_TYPE,
        headers=problem.headers,
    )
