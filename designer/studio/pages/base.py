"""What the studio's own pages share: the sidebar, a title, breadcrumbs, a permission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import admin
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.functional import Promise
from django.views.generic import TemplateView
from django.views.generic.base import View

from designer.studio.pages.failures import form_only


class Crumb(NamedTuple):
    """A link above the title of a page, to one of the pages that lead there."""

    title: str | Promise
    link: str


class StudioView(PermissionRequiredMixin, View):
    """A view for accounts with `permission_required`. Others are sent to the login, or get 403."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # PostgreSQL cannot search for a NUL character. Nobody types one: the address is broken.
        if any("\0" in text for texts in request.GET.lists() for text in (texts[0], *texts[1])):
            raise Http404
        return super().dispatch(request, *args, **kwargs)

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Return 405: to a GET with a page, because choosing a language or logging in leads here, too."""
        refused: HttpResponse = super().http_method_not_allowed(request, *args, **kwargs)
        if request.method != "GET":
            return refused
        page = form_only(request)
        page.headers["Allow"] = refused.headers["Allow"]
        return page

    def handle_no_permission(self) -> HttpResponseRedirect:
        # `as_page` sends whoever is not logged in to the login. Who comes here is logged in and lacks a
        # right: Django then answers 403 instead of showing the login again.
        self.raise_exception = True
        return super().handle_no_permission()

    @classmethod
    def as_page(cls, **initkwargs: Any) -> Any:
        """Return the view for the URL conf. It sends whoever is not logged in to the studio's login."""
        return admin.site.admin_view(cls.as_view(**initkwargs))


class StudioPage(StudioView, TemplateView):
    """A page with `title`, and with links to the pages above it (`crumbs`)."""

    title: str | Promise = ""

    def crumbs(self) -> Sequence[Crumb]:
        return ()

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the context of the template. `kwargs` replace what is in it for every page."""
        request: HttpRequest = self.request
        return super().get_context_data(
            **{
                **admin.site.each_context(request),
                "title": self.title,
                "crumbs": self.crumbs(),
                **kwargs,
            }
        )

    def show_again(self, status: int = 422, **context: Any) -> HttpResponseBase:
        """Return the same page for a form that was refused. `context` has what was typed, and problems."""
        return self.render_to_response(self.get_context_data(**context), status=status)
