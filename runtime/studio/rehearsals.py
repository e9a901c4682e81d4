"""Makes calls to see their answers, and leaves every record as it was."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jiter
from django.core.handlers.wsgi import WSGIRequest
from django.db import transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase

from crmclient import Platform
from designer.configuration import Configuration, Endpoint
from designer.platform import get_platform
from designer.ports import Attempt, Rehearsal
from runtime.http.failures import error_response
from runtime.http.problems import CONTENT_TYPE
from runtime.http.rendering import JSON
from runtime.operations import OPERATIONS
from runtime.request_context import Exchange
from runtime.serving.viewsets import authorise
from runtime.studio.dry_run import NotSent, RecordingPlatform
from runtime.studio.tried_calls import exchange_of, request_of


def rehearse(endpoint: Endpoint, configuration: Configuration, attempted: Attempt) -> Rehearsal:
    """Return the answer that `attempted` would get. An Idempotency-Key has no effect: nothing is written."""
    request = request_of(endpoint, attempted)
    began = time.perf_counter()
    status, body = 0, b""
    with _platform_without_writes(endpoint) as platform:
        try:
            response = _response(request, endpoint, configuration, attempted, platform)
            status, body = response.status_code, _json_of(response)
        except NotSent:
            # The status 0 says that there is no answer.
            pass
    milliseconds = (time.perf_counter() - began) * 1000
    content = jiter.from_json(body, float_mode="decimal") if body else None
    return Rehearsal(status, content, _problem_in_one_line(content) if status >= 400 else "", milliseconds)


@contextmanager
def _platform_without_writes(endpoint: Endpoint) -> Iterator[Platform]:
    """Yield a platform on which no write stays: writes are rolled back or, where that is impossible, not
    sent.
    """
    platform = get_platform()
    conventions = platform.conventions
    can_take_back = (
        conventions.takes_files_back if endpoint.kind.takes_files else conventions.takes_writes_back
    )
    # What only reads needs no transaction: reads pass through a dry platform.
    if not (endpoint.kind.writes and can_take_back):
        yield RecordingPlatform.dry(platform)
        return
    # Such a platform keeps its records in this database, whose rollback takes its writes back. Not through
    # NotedWrites: a write that is taken back must not make cached answers useless.
    with transaction.atomic():
        yield platform
        transaction.set_rollback(True)


def _response(
    request: WSGIRequest,
    endpoint: Endpoint,
    configuration: Configuration,
    attempted: Attempt,
    platform: Platform,
) -> HttpResponseBase:
    """Return the endpoint's response, also for a refusal. Raises NotSent when a call to the platform is held
    back.
    """
    exchange: Exchange | None = None
    try:
        exchange = exchange_of(request, configuration, attempted)
        authorise(exchange.caller, endpoint.definition.access)
        return OPERATIONS[endpoint.definition.kind](endpoint, platform).run(exchange)
    except NotSent:
        raise
    except Exception as error:
        return error_response(error, request)
    finally:
        if exchange is not None and exchange.received is not None:
            exchange.received.close()


def _json_of(response: HttpResponseBase) -> bytes:
    """Return the JSON of the response; empty for a file and for a response without JSON."""
    if not isinstance(response, HttpResponse):
        # Files are not read: they may be large, and are no JSON.
        response.close()
        return b""
    # Never closed: that would end the request within which calls are made, and its database connection.
    is_json = response.headers.get("Content-Type", "").partition(";")[0] in (JSON, CONTENT_TYPE)
    return response.content if is_json else b""


def _problem_in_one_line(content: Any) -> str:
    """Return the detail and the errors of a problem document in one line."""
    if not isinstance(content, dict):
        return ""
    errors = [
        f"{error.get('pointer') or error.get('parameter') or ''}: {error.get('message', '')}".removeprefix(
            ": "
        )
        for error in content.get("errors", ())
    ]
    return " ".join(filter(None, (str(content.get("detail") or content.get("title") or ""), *errors)))
