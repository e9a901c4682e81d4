"""The permission matrix: endpoints by who may call them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.access_matrix import ANONYMOUS, AUTHENTICATED, Row, rows_of, toggled
from designer.audit import note
from designer.history.recording import recording
from designer.loading import latest
from designer.models import AuditEntry, Endpoint, Role
from designer.studio.navigation.seen import seen_by
from designer.studio.pages.base import StudioPage, StudioView
from designer.studio.pages.csv_cells import harmless
from designer.studio.pages.restoring import ServedWouldBreak, keeping_what_is_served
from designer.studio.saving.authors import author_of
from designer.studio.saving.write_access import access_refusals

_PER_PAGE = 100


class MatrixPage(StudioPage):
    title = gettext_lazy("Permission matrix")
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/matrix.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        configuration = seen_by(self.request).configuration
        module = self.request.GET.get("module", "")
        rows = [row for row in rows_of(configuration) if not module or row.module == module]
        return super().get_context_data(
            **kwargs,
            page=Paginator(rows, _PER_PAGE).get_page(self.request.GET.get("page")),
            columns=_columns([role.name for role in configuration.roles]),
            modules=configuration.modules,
            module=module,
            may_change=self.request.user.has_perm("designer.change_endpoint"),
        )

    def post(self, request: HttpRequest) -> HttpResponseBase:
        if not request.user.has_perm("designer.change_endpoint"):
            return self.handle_no_permission()
        endpoint, _sep, column = request.POST.get("cell", "").partition(":")
        back = HttpResponseRedirect(request.get_full_path())
        if not endpoint.isdigit():
            raise Http404
        row = get_object_or_404(Endpoint, pk=endpoint)
        known = latest().endpoints.get(row.pk)
        if known is None or known.problem is not None or column not in _names():
            raise Http404
        if toggled(known.definition.access, column) == known.definition.access:
            messages.info(
                request,
                _("That would open it to every caller with a token: choose “Authenticated” for that."),
            )
            return back
        try:
            with keeping_what_is_served(), recording(author_of(request, note=_("In the permission matrix"))):
                _change(request, row, column)
        except ServedWouldBreak as error:
            for problem in error.problems:
                messages.error(request, problem)
            return back
        note(request, AuditEntry.Action.ACCESS, row, column)
        said = _("%(endpoint)s changed. It can be undone under Versions.")
        messages.success(request, said % {"endpoint": row.path})
        return back


def _names() -> list[str]:
    return [name for name, _label in _columns([role.name for role in latest().roles])]


def _change(request: HttpRequest, row: Endpoint, column: str) -> None:
    before = latest().endpoints[row.pk].definition
    access = toggled(before.access, column)
    row.authentication_required = access.authentication_required
    row.save(update_fields=["authentication_required"])
    row.roles.set(Role.objects.filter(name__in=access.roles))
    refused = list(access_refusals(request.user, before, latest().endpoints[row.pk]))
    if refused:
        raise ServedWouldBreak(refused)


class MatrixFile(StudioView):
    """The matrix as CSV, for spreadsheets and auditors."""

    permission_required = "designer.view_endpoint"
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        configuration = latest()
        roles = [role.name for role in configuration.roles]
        headers = {"Content-Disposition": 'attachment; filename="permissions.csv"'}
        response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
        # Spreadsheets take a file without it for one of their own country's encoding.
        response.write("\ufeff")
        writer = csv.writer(response)
        for line in _lines(rows_of(configuration), roles):
            writer.writerow([harmless(cell) for cell in line])
        return response


def _lines(rows: Sequence[Row], roles: Sequence[str]) -> Iterator[list[str]]:
    yield ["method", "path", "state", "writes", "anonymous", "authenticated", *roles]
    for row in rows:
        allowed = ["yes" if row.allows(column) else "" for column in (ANONYMOUS, AUTHENTICATED, *roles)]
        yield [row.methods, row.path, row.state, "yes" if row.writes else "", *allowed]


def _columns(roles: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (ANONYMOUS, _("Anonymous")),
        (AUTHENTICATED, _("Authenticated")),
        *((role, role) for role in roles),
    ]
