"""The CRM server as a WSGI application: requests in, answers out, and no error without its shape.

Below the URL root (`root`) there are `/` (a line for people), `/{tenant}/oauth2/v2.0/token` with what clients
of Entra ID discover it by (`openid_discovery.py`), and the API at `/api/data/v9.2/`.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import Any, TypeAlias

from django.conf import settings
from django.core import signals

from crmbox.platform import EmbeddedPlatform
from crmbox.webapi.body import body_of
from crmbox.webapi.callers import call_of
from crmbox.webapi.error_answers import guarded
from crmbox.webapi.errors import WebApiError, no_resource, unsupported
from crmbox.webapi.fault_injection import CONTROL, control, fault_for
from crmbox.webapi.openid_discovery import discovery_response
from crmbox.webapi.paths import API, parse_path, with_root_split_off
from crmbox.webapi.request import Headers, Request, Response, parse_query
from crmbox.webapi.routing import dispatch
from crmbox.webapi.service_protection import protected
from crmbox.webapi.token_endpoint import token_response

Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[[str, list[tuple[str, str]]], object]

# A key in the path may hold the end of a line.
_API = re.compile(rf"{API}(/.*)?", re.DOTALL)
# APIs of Dataverse beside this one. They are refused as not supported (501), not as unknown (404).
_OTHER_API = re.compile(r"/api/(?:search|backgroundoperation|discovery)\b.*|/XRMServices/.*", re.IGNORECASE)
_TOKEN = re.compile(r"/[^/]+/oauth2/(?:v2\.0/)?token")
_LONGEST_URL = 32_768


def application(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Answer a WSGI request. Django's signals of a request are sent, so that its connections are closed."""
    signals.request_started.send(sender=application, environ=environ)
    try:
        response = guarded(lambda: _answer_unless_fault(with_root_split_off(environ)))
    except BaseException:
        signals.request_finished.send(sender=application)
        raise
    headers = {"OData-Version": "4.0", "x-ms-service-request-id": str(uuid.uuid4()), **response.headers}
    if isinstance(response.body, bytes):
        headers["Content-Length"] = str(len(response.body))
        if response.status in (204, 304):  # They have no body.
            del headers["Content-Length"]
    start_response(f"{response.status} {HTTPStatus(response.status).phrase}", list(headers.items()))
    if isinstance(response.body, bytes):
        signals.request_finished.send(sender=application)
        return [response.body]
    return _stream_until_finished(response.body)


def _answer_unless_fault(environ: Environ) -> Response:
    """Answer as `respond` does, unless a fault strikes."""
    fault = fault_for(environ["REQUEST_METHOD"], environ.get("PATH_INFO", "/"))
    if fault is None:
        return respond(environ)
    if fault.stands_instead:
        # The server would end a connection on which a body is left over, and the next request with it.
        body_of(environ).read()
    return fault.answer(lambda: respond(environ))


def respond(environ: Environ) -> Response:
    """Return the answer to a request, which may be that for an error."""
    return guarded(lambda: _route(environ))


def _route(environ: Environ) -> Response:
    """Answer a request by its path. Raises WebApiError, also for a path that leads nowhere."""
    path = _decoded_path(environ.get("PATH_INFO", "/"))
    if path == "/" and environ["REQUEST_METHOD"] in ("GET", "HEAD"):
        return Response(200, {"Content-Type": "text/plain"}, b"Dataverse Web API at api/data/v9.2/\n")
    headers = _headers(environ)
    stream = body_of(environ)
    if path == CONTROL:
        return control(environ["REQUEST_METHOD"], stream.read)
    root, query = _root(environ), environ.get("QUERY_STRING", "")
    if _TOKEN.fullmatch(path):
        return token_response(environ["REQUEST_METHOD"], headers, stream, root=root, path=path)
    if document := discovery_response(environ["REQUEST_METHOD"], path, query, root):
        return document
    match = _API.fullmatch(path)
    if match is None:
        raise unsupported(path) if _OTHER_API.fullmatch(path) else no_resource(path)
    if len(path) + len(query) > _LONGEST_URL:
        raise WebApiError(414, "0x80060888", f"The URL is longer than {_LONGEST_URL} characters.")
    platform = EmbeddedPlatform()
    call = call_of(headers, platform, root=root)
    rest = (match[2] or "/")[1:]
    request = Request(
        method=environ["REQUEST_METHOD"],
        base=f"{root}/api/data/v{match[1]}/",
        path=parse_path(rest),
        query=parse_query(query),
        headers=headers,
        stream=stream,
        raw_path=rest,
        raw_query=query,
        call=call,
        platform=platform,
    )
    with protected(request.user) as remaining_headers:
        response = guarded(lambda: dispatch(request))
    response.headers.update(remaining_headers)
    return response


def _root(environ: Environ) -> str:
    """Return `{scheme}://{host}{root}` as the caller wrote it."""
    host = environ.get("HTTP_HOST") or f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    return f"{_scheme(environ)}://{host}{environ.get('SCRIPT_NAME', '')}"


def _scheme(environ: Environ) -> str:
    """Return the scheme of the request. A trusted proxy may say that the caller used HTTPS."""
    forwarded = settings.PORTICO["TRUSTED_PROXIES"] and environ.get("HTTP_X_FORWARDED_PROTO") == "https"
    return "https" if forwarded else str(environ["wsgi.url_scheme"])


def _headers(environ: Environ) -> Headers:
    """Return the request's headers. WSGI keeps two of them without the prefix of the others."""
    headers = {
        name[len("HTTP_") :].replace("_", "-"): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if environ.get(name):
            headers[name.replace("_", "-")] = environ[name]
    return Headers(headers.items())


def _decoded_path(path: str) -> str:
    """Return a path, which WSGI hands over as Latin-1, as the UTF-8 that it is. Raises WebApiError."""
    try:
        return path.encode("latin-1").decode("utf-8")
    except UnicodeError:
        raise WebApiError(400, "0x80060888", "The URL is not UTF-8.") from None


def _stream_until_finished(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces of an answer. Only after the last one Django may close the connections."""
    try:
        yield from pieces
    finally:
        signals.request_finished.send(sender=application)
