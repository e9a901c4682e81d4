"""Middleware of which API requests pay nothing that only the studio needs.

Each Studio class is a middleware, mostly one of Django, behind a test of the path. They are subclasses, so
that the admin's system checks still find what they look for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from io import BytesIO
from typing import Any, cast

from axes.middleware import AxesMiddleware
from csp.constants import HEADER
from csp.utils import build_policy
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.handlers.wsgi import WSGIRequest
from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.http.response import HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils import translation
from django.utils.cache import patch_vary_headers

from crmclient.metadata_deadline import waiting_for_metadata_until
from crmclient.watchdog import Watch
from designer.studio.pages.failures import slowed_down
from runtime.http.checked_headers import Prepared
from runtime.http.limits import count_login
from runtime.http.problems import Problem
from runtime.serving.dispatch import is_of_the_api

STUDIO = "/admin/"
LOGIN = "/admin/login/"
METADATA_SECONDS = 3.0
"""So long a page waits for all the metadata that it needs, taken together."""


Handler = Callable[[HttpRequest], HttpResponseBase]


class StudioOnly:
    """A middleware that handles requests for the studio only, and passes others on."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Handle a request for the studio by the other base class; pass any other request on."""
        if request.path_info.startswith(STUDIO):
            return super().__call__(request)  # type: ignore[misc, no-any-return]
        return self.get_response(request)  # type: ignore[attr-defined, no-any-return]


class MetadataMiddleware:
    """Lets no page wait long for metadata that the platform is slow to give: pages say what they lack."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request; its metadata has to arrive within METADATA_SECONDS."""
        with waiting_for_metadata_until(time.monotonic() + METADATA_SECONDS):
            return self.get_response(request)


class StudioMetadata(StudioOnly, MetadataMiddleware):
    pass


class DeadlineMiddleware:
    """Ends what the database still does for a page, or for a login, when REQUEST_DEADLINE is over.

    A locked table would otherwise keep all threads: they would answer nobody. What is saved or imported may
    take its time.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request. What reads, and a login, has a deadline in the database."""
        if request.method not in ("GET", "HEAD") and request.path_info != LOGIN:
            return self.get_response(request)
        deadline = time.monotonic() + settings.PORTICO["REQUEST_DEADLINE"]
        with Watch(connections[DEFAULT_DB_ALIAS], deadline):
            return self.get_response(request)


class StudioDeadline(StudioOnly, DeadlineMiddleware):
    pass


class StudioSessions(StudioOnly, SessionMiddleware):
    pass


class LanguageMiddleware:
    """Answers in the language that is chosen in the studio, or else in the browser's.

    The language is reset after the answer: the thread's next request may be one of the API, which is in
    English.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request in the reader's language, and say so in the headers."""
        language = translation.get_language_from_request(request)
        with translation.override(language):
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        patch_vary_headers(response, ("Accept-Language",))
        return response


class StudioLanguage(StudioOnly, LanguageMiddleware):
    pass


class StudioCommon(StudioOnly, CommonMiddleware):
    pass


class StudioCsrf(StudioOnly, CsrfViewMiddleware):
    def process_view(
        self, request: HttpRequest, callback: Any, callback_args: Any, callback_kwargs: Any
    ) -> HttpResponseForbidden | None:
        """Check the request's CSRF token, for the studio only. Return the refusal; None to go on."""
        if request.path_info.startswith(STUDIO):
            return super().process_view(request, callback, callback_args, callback_kwargs)
        return None


class StudioAuthentication(StudioOnly, AuthenticationMiddleware):
    pass


class StudioMessages(StudioOnly, MessageMiddleware):
    pass


class StudioFrames(StudioOnly, XFrameOptionsMiddleware):
    """No page of the studio can be framed."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        # A newer release of the studio's look allows frames of its own origin on every list and form.
        response.headers["X-Frame-Options"] = "DENY"
        return response


class StudioLockout(StudioOnly, AxesMiddleware):  # type: ignore[misc]
    """Counts logins to the studio together with those to the API: they are made with the same people's
    passwords.
    """

    counted = frozenset({settings.LOGIN_URL, f"{STUDIO}sign-in/"})

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Count a login. Answer with the page that asks to wait when there were too many."""
        if request.method == "POST" and request.path_info in self.counted:
            try:
                count_login(request)
            except Problem as refusal:
                return slowed_down(request, int(refusal.headers["Retry-After"]))
        return super().__call__(request)


class ApiHeaders:
    """Sets the headers of SecurityMiddleware and ContentPolicy on answers of the API, in one step.

    Requests of the API do not reach these two, which stand further in. Letting each of them set the same
    headers on every answer took a twentieth of a read. Both are asked for them once, over http and https.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self._over_http, self._over_https = (_headers_over(scheme) for scheme in ("http", "https"))
        # Only this header depends on the scheme.
        self._has_hsts = bool(settings.SECURE_HSTS_SECONDS)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request. An answer of the API gets the headers that it lacks."""
        response = self.get_response(request)
        if is_of_the_api(request.path_info):
            headers = self._over_https if self._has_hsts and request.is_secure() else self._over_http
            headers.complete(response)
        return response


def _headers_over(scheme: str) -> Prepared:
    """Return the headers that every answer over a scheme has, found once by a request that nobody sent."""
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": "/api",
        "wsgi.url_scheme": scheme,
        "wsgi.input": BytesIO(),
    }
    middlewares = SecurityMiddleware(ContentPolicy(lambda request: HttpResponse()))
    response = cast(HttpResponseBase, middlewares(WSGIRequest(environ)))
    del response.headers["Content-Type"]
    return Prepared(response.headers)


class ContentPolicy:
    """One content security policy for the studio and a stricter one for everything else, each built once."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self.strict = build_policy()
        self.studio = build_policy(replace={"script-src": settings.STUDIO_SCRIPT_SOURCES})

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request with the policy of its path, unless the answer has a policy of its own."""
        response = self.get_response(request)
        policy = self.studio if request.path_info.startswith(STUDIO) else self.strict
        response.headers.setdefault(HEADER, policy)
        return response
