"""The studio's pages for failures: not allowed, not found, only forms, a form from elsewhere, many logins."""

from __future__ import annotations

import math
from typing import Any

from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

# Views whose forms are sent before the login. A browser without cookies fails at them, and is told so: sent
# to the login, it would see the same form again and again.
_BEFORE_LOGIN = {"studio:login", "studio:logout", "studio:sign_in", "studio:set_language"}


def forbidden(request: HttpRequest) -> HttpResponse:
    """Return the page for an account that lacks a right. Status 403."""
    words = _("This account may not do that. An administrator can put it into a group that may.")
    return _failure_page(request, 403, _("Not allowed"), words)


def missing(request: HttpRequest) -> HttpResponse:
    """Return the page for an address with nothing behind it. Status 404."""
    words = _("The address may be mistyped, or what was here has been removed since.")
    return _failure_page(request, 404, _("There is nothing here"), words)


def form_only(request: HttpRequest) -> HttpResponse:
    """Return the page for whoever opens an address that takes only forms. Status 405."""
    words = _("This address only takes what a form sends. Go back to the page with the form.")
    return _failure_page(request, 405, _("There is no page here"), words)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return the page for a form without a valid CSRF token. Django's own page speaks to developers.

    Where the session has ended as well, the login is shown instead. It leads back to the form. Django calls
    this with a `reason` for its log.
    """
    current = request.resolver_match
    if current and current.view_name not in _BEFORE_LOGIN and not admin.site.has_permission(request):
        return redirect_to_login(request.get_full_path(), reverse("admin:login"))
    words = _("Nothing was changed. The page was too old, or this browser takes no cookies: load it again.")
    return _failure_page(request, 403, _("This form could not be accepted"), words, not_accepted=True)


def locked_out(request: HttpRequest, response: HttpResponse | None, credentials: Any) -> HttpResponse:
    """Return the page for a login that is refused after too many failures. Status 429, with Retry-After.

    django-axes calls this with a `response` and `credentials`, which the page does not need.
    """
    wait = request.login_wait  # type: ignore[attr-defined]  # what holds logins puts it there
    if wait.reason == "slowed_down":
        return slowed_down(request, wait.seconds)
    minutes = math.ceil(wait.seconds / 60)
    words = ngettext(
        "Try again in %(minutes)s minute, or ask an administrator to lift the lock-out.",
        "Try again in %(minutes)s minutes, or ask an administrator to lift the lock-out.",
        minutes,
    )
    page = _failure_page(request, 429, _("Too many failed logins"), words % {"minutes": minutes})
    page.headers["Retry-After"] = str(wait.seconds)
    return page


def slowed_down(request: HttpRequest, seconds: int) -> HttpResponse:
    """Return the page for a login that came too soon. Status 429, with Retry-After."""
    words = ngettext(
        "Wait %(seconds)s second, then log in again.", "Wait %(seconds)s seconds, then log in again.", seconds
    )
    page = _failure_page(request, 429, _("Too many logins"), words % {"seconds": seconds})
    page.headers["Retry-After"] = str(seconds)
    return page


def _failure_page(
    request: HttpRequest, status: int, title: str, words: str, *, not_accepted: bool = False
) -> HttpResponse:
    """Return a page with a title and a text.

    `not_accepted`: the form was refused before it was read. `kept_form.js` then offers what was typed again.
    """
    signed_in = admin.site.has_permission(request)
    context = {
        **admin.site.each_context(request),
        "layout": "admin/base_site.html" if signed_in else "unfold/layouts/unauthenticated.html",
        "title": title,
        "words": words,
        "not_accepted": not_accepted,
    }
    return render(request, "designer/pages/failed.html", context, status=status)
