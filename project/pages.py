"""The landing page, and the answers to failed requests: a problem under the API, else a page."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from designer.studio.pages import failures
from project.middleware import STUDIO
from runtime.http.failures import problem_of
from runtime.http.problems import respond
from runtime.serving.dispatch import is_of_the_api


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    """Show the landing page."""
    return render(request, "portico/landing.html")


@require_safe
def mark(request: HttpRequest) -> HttpResponseRedirect:
    """Redirect to the icon that browsers ask for on pages that name none."""
    return HttpResponseRedirect(static("portico/mark.svg"))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that raised 400. Django calls this."""
    return _failure_response(request, exception, "portico/bad_request.html", 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that raised 403: with a page of the studio there. Django calls this."""
    if request.path_info.startswith(STUDIO):
        return failures.forbidden(request)
    return _failure_response(request, exception, "portico/bad_request.html", 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that raised 404: with a page of the studio there. Django calls this."""
    if request.path_info.startswith(STUDIO):
        return failures.missing(request)
    return _failure_response(request, exception, "portico/not_found.html", 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a request that raised an exception which nobody handled. Django calls this."""
    # Django calls this while it handles the error, and does not hand the error over.
    error = sys.exception()
    problem = problem_of(error) if isinstance(error, Exception) else None
    # 500 itself is a mistake of ours, which nothing mends by waiting: it has a page of its own.
    # The others are failures of the database, the platform or the disk: a proxy and a reader may try again.
    if problem is not None and problem.status_code > 500 and not is_of_the_api(request.path_info):
        shown = {"reason": problem.sentence}
        page = render(request, "portico/unavailable.html", shown, status=problem.status_code)
        for name, value in problem.headers.items():
            page.headers[name] = value
        return page
    return _failure_response(request, error, "portico/server_error.html", 500)


def _failure_response(
    request: HttpRequest, error: BaseException | None, template: str, status: int
) -> HttpResponse:
    """Return the page `template` or, under the API's paths, the problem of `error`."""
    if is_of_the_api(request.path_info) and isinstance(error, Exception):
        return respond(problem_of(error), request)
    return render(request, template, status=status)
