"""What the studio shows instead of a page: not allowed, not there, not sent from here, locked out."""

from __future__ import annotations

import math
from typing import Any

from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

# What is sent without a login. To a browser that takes no cookies the login says so, instead of coming again.
_BEFORE_LOGIN = {"studio:login", "studio:logout", "studio:sign_in", "studio:set_language"}


def forbidden(request: HttpRequest) -> HttpResponse:
    words = _("This account may not do that. An administrator can put it into a group that may.")
    return _failed(request, 403, _("Not allowed"), words)


def missing(request: HttpRequest) -> HttpResponse:
    words = _("The address may be mistyped, or what was here has been removed since.")
    return _failed(request, 404, _("There is nothing here"), words)


def not_sent_from_here(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Instead of Django's own page, which explains itself to developers.

    Where the login has ended as well, it is what helps: it leads back to the form, which is offered again.
    """
    here = request.resolver_match
    if here and here.view_name not in _BEFORE_LOGIN and not admin.site.has_permission(request):
        return redirect_to_login(request.get_full_path(), reverse("admin:login"))
    words = _("Nothing was changed. The page was too old, or this browser takes no cookies: load it again.")
    return _failed(request, 403, _("This form could not be accepted"), words, not_accepted=True)


def locked_out(request: HttpRequest, response: HttpResponse | None, credentials: Any) -> HttpResponse:
    """Instead of a login that axes did not let pass."""
    wait = request.login_wait  # type: ignore[attr-defined]  # what holds logins puts it there
    if wait.reason == "slowed_down":
        return slowed_down(request, wait.seconds)
    words = _("Try again in %(minutes)s minutes, or ask an administrator to lift the lock-out.")
    minutes = math.ceil(wait.seconds / 60)
    page = _failed(request, 429, _("Too many failed logins"), words % {"minutes": minutes})
    page.headers["Retry-After"] = str(wait.seconds)
    return page


def slowed_down(request: HttpRequest, seconds: int) -> HttpResponse:
    """Instead of a login that came too soon."""
    words = _("Wait %(seconds)s seconds, then log in again.") % {"seconds": seconds}
    page = _failed(request, 429, _("Too many logins"), words)
    page.headers["Retry-After"] = str(seconds)
    return page


def _failed(
    request: HttpRequest, status: int, title: str, words: str, *, not_accepted: bool = False
) -> HttpResponse:
    """`not_accepted`: a form was refused before it was read, and may be sent once more as it was."""
    is_in = admin.site.has_permission(request)
    context = {
        **admin.site.each_context(request),
        "layout": "admin/base_site.html" if is_in else "unfold/layouts/unauthenticated.html",
        "title": title,
        "words": words,
        "not_accepted": not_accepted,
    }
    return render(request, "designer/pages/failed.html", context, status=status)
