"""Answers, and the one exception that is an answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from bench.applications.problems import CHALLENGE, CONTENT_TYPE, problem

View = Callable[..., HttpResponseBase]


class Refusal(Exception):
    def __init__(
        self, status: int, code: str, detail: str, errors: list[dict[str, str]] | None = None
    ) -> None:
        self.status = status
        self.body = problem(status, code, detail, errors)


def json_answer(value: Any) -> HttpResponse:
    body = orjson.dumps(value)
    return HttpResponse(body, content_type="application/json", headers={"Content-Length": len(body)})


def endpoint(*methods: str) -> Callable[[View], View]:
    """A view of these methods that answers refusals as problems."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        def answer(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
            if request.method not in methods:
                return _refuse(Refusal(405, "method_not_allowed", f"Only {' or '.join(methods)}."))
            try:
                return view(request, **arguments)
            except Refusal as refusal:
                return _refuse(refusal)

        return answer

    return decorate


def _refuse(refusal: Refusal) -> HttpResponse:
    return HttpResponse(
        orjson.dumps(refusal.body),
        status=refusal.status,
        content_type=CONTENT_TYPE,
        headers=CHALLENGE if refusal.status == 401 else None,
    )
