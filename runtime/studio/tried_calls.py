"""A call that somebody in the studio tries, as a caller of their choice."""

from __future__ import annotations

import io
import time
from contextlib import suppress
from dataclasses import astuple
from typing import Any
from urllib.parse import quote, urlencode

import jiter
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from crmclient import Platform
from designer.configuration import Configuration, Endpoint
from designer.names import USER_TYPE
from designer.platform import get_platform
from designer.ports import Attempt, Outcome
from runtime.caching.noted_writes import NotedWrites
from runtime.callers.caller import ANONYMOUS, Caller
from runtime.context import UserContext
from runtime.files import names
from runtime.files.sample_files import sample_content
from runtime.http.failures import error_response
from runtime.operations import OPERATIONS
from runtime.request_context import Exchange
from runtime.serving.routing import RoutingTable
from runtime.serving.viewsets import authorise
from runtime.studio.call_trace import Trace
from runtime.studio.dry_run import NotSent, RecordingPlatform
from runtime.studio.json_text import readable

# Bytes of an answer that are shown.
_MOST_SHOWN = 64 * 1024
ISSUER = "studio"


def attempt(endpoint: Endpoint, configuration: Configuration, attempted: Attempt) -> Outcome:
    """Do what a request would do once its token has been read: roles, inputs, steps, platform, answer.

    A dry run does not write. Otherwise the call is real.
    """
    # Tried for real, a write ends cached answers like any other.
    changes = endpoint.definition.settings.changed_entities
    live_platform = NotedWrites(get_platform(), always=True, changes=changes)
    platform = RecordingPlatform.dry(live_platform) if attempted.dry else RecordingPlatform(live_platform)
    request = request_of(endpoint, attempted)
    trace = Trace(endpoint, attempted)
    began = time.perf_counter()
    response: HttpResponseBase | None = None
    exchange: Exchange | None = None
    try:
        exchange = exchange_of(request, configuration, attempted)
        authorise(exchange.caller, endpoint.definition.access)
        trace.may_call = True
        operation = OPERATIONS[endpoint.definition.kind](endpoint, platform)
        if attempted.dry:
            operation.hold_back(platform.silent(), exchange)
        response = operation.run(exchange)
    except NotSent:
        # The dry run has come to its end: there is no response.
        pass
    except Exception as error:
        trace.error = error
        response = error_response(error, request)
    milliseconds = (time.perf_counter() - began) * 1000
    if exchange is not None and exchange.received is not None:
        exchange.received.close()
    return Outcome(
        # 0 stands for no answer.
        status=0 if response is None else response.status_code,
        headers={} if response is None else dict(response.headers),
        body="" if response is None else _body_text(response, attempted.dry),
        milliseconds=milliseconds,
        steps=tuple(trace.steps(exchange, response)),
        calls=tuple(platform.calls),
    )


def request_of(endpoint: Endpoint, attempted: Attempt) -> WSGIRequest:
    """Return the HTTP request that the caller would send."""
    path = endpoint.path
    path = path.replace("{id}", quote(attempted.record, safe=""))
    path = path.replace("{relatedId}", quote(attempted.related, safe=""))
    # PATH_INFO is the decoded path, so the value of a key stands there as it is.
    path = path.replace("{value}", attempted.record)
    if attempted.file and endpoint.item_path is not None:
        path = f"{path}/{quote(attempted.file, safe='')}"
    content, content_type, sent_headers = attempted.content, attempted.content_type, attempted.headers
    if (sample := attempted.sample) is not None:
        content, content_type = sample_content(*astuple(sample)), sample.content_type
        sent_headers = {**sent_headers, "Content-Disposition": names.attachment(sample.name)}
    headers = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in sent_headers.items()}
    environ: dict[str, Any] = {
        **headers,
        "REQUEST_METHOD": attempted.method or endpoint.methods[0],
        "PATH_INFO": path,
        "QUERY_STRING": urlencode(attempted.query),
        "SERVER_NAME": "studio",
        "SERVER_PORT": "80",
        "wsgi.input": io.BytesIO(content),
        "wsgi.url_scheme": "http",
    }
    if content or sample is not None:
        environ |= {"CONTENT_TYPE": content_type, "CONTENT_LENGTH": str(len(content))}
    return WSGIRequest(environ)


def exchange_of(request: WSGIRequest, configuration: Configuration, attempted: Attempt) -> Exchange:
    """Return the context of the request, with the caller that `attempted` describes. Raises PlatformError."""
    # A platform of its own, which writes nothing: what is read of the caller is not one of the calls that are
    # shown.
    platform = RecordingPlatform.dry(get_platform())
    context = UserContext(configuration.user_properties, platform, caller_types=configuration.caller_types)
    exchange = Exchange(
        request=request,
        user_context=context,
        is_readable=RoutingTable.of(configuration).is_readable,
        record=attempted.record,
        file=attempted.file,
        related=attempted.related,
    )
    exchange.caller = _caller(attempted, platform)
    return exchange


def _caller(attempted: Attempt, platform: Platform) -> Caller:
    """Return the caller that the attempt describes. Raises PlatformError when the platform user cannot be
    read.
    """
    if attempted.anonymous:
        return ANONYMOUS
    record = attempted.caller_record
    return Caller(
        issuer=ISSUER,
        subject=record or "",
        roles=frozenset(attempted.roles),
        type=attempted.caller_type,
        record=record,
        profile=platform.user(record) if record and attempted.caller_type == USER_TYPE else None,
        claims=attempted.claims,
    )


def _body_text(response: HttpResponseBase, dry: bool) -> str:
    """Return the body as text, cut for people. A dry run shows refusals only, because answers have data."""
    if not isinstance(response, HttpResponse):
        response.close()
        return _("(a file)")
    content = response.content
    if dry and response.status_code < 400:
        return _("(%(count)d bytes, which a dry run does not show)") % {"count": len(content)}
    if len(content) <= _MOST_SHOWN:
        # What is no JSON is shown as it is.
        with suppress(ValueError):
            return readable(jiter.from_json(content, float_mode="decimal"))
    return content[:_MOST_SHOWN].decode("utf-8", "replace")
