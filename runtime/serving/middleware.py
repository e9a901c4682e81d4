"""The way in: requests under the API's paths are answered before Django looks for a page."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from runtime.serving.dispatch import dispatch
from runtime.serving.paths import API_PATHS

_PATHS = re.compile(API_PATHS)


def is_of_the_api(path: str) -> bool:
    return _PATHS.match(path) is not None


class ApiMiddleware:
    """What lies under these paths is configuration, not URL patterns."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_of_the_api(request.path_info):
            return dispatch(request)
        return self.get_response(request)
