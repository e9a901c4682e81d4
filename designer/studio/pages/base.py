"""What the studio's own pages share: the sidebar, a title, breadcrumbs, a permission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import admin
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.functional import Promise
from django.views.generic import TemplateView
from django.views.generic.base import View


class Crumb(NamedTuple):
    """A link above the title of a page, to one of the pages that lead there."""

    title: str | Promise
    link: str


class StudioView(PermissionRequiredMixin, View):
    """For accounts of the studio with `permission_required`; others log in, or get 403."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # PostgreSQL cannot look for a NUL. Nobody has typed one: it comes with a broken address.
        if any("\0" in text for texts in request.GET.lists() for text in (texts[0], *texts[1])):
            raise Http404
        return super().dispatch(request, *args, **kwargs)

    def handle_no_permission(self) -> HttpResponseRedirect:
        # Only those who are in already come here: whoever is not is sent to the login before.
        self.raise_exception = True
        return super().handle_no_permission()

    @classmethod
    def as_page(cls, **initkwargs: Any) -> Any:
        """The view behind the studio's login."""
        return admin.site.admin_view(cls.as_view(**initkwargs))


class StudioPage(StudioView, TemplateView):
    """A page with `title`, under `crumbs`."""

    title: str | Promise = ""

    def crumbs(self) -> Sequence[Crumb]:
        return ()

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        request: HttpRequest = self.request
        return super().get_context_data(
            **{
                **admin.site.each_context(request),
                "title": self.title,
                "crumbs": self.crumbs(),
                **kwargs,
            }
        )

    def again(self, status: int = 422, **context: Any) -> HttpResponseBase:
        """The same page, with what was typed and what is wrong with it."""
        return self.render_to_response(self.get_context_data(**context), status=status)
