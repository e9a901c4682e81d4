"""The permission matrix: endpoints by who may call them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.access_control.access_matrix import ANONYMOUS, AUTHENTICATED, Row, rows_of
from designer.audit import note
from designer.configuration import Configuration
from designer.history.access_changes import last_change
from designer.history.recording import recording
from designer.history.refused_changes import ChangeRefused
from designer.loading import latest
from designer.models import AuditEntry
from designer.overview import overview
from designer.sentences import said
from designer.studio.navigation.request_overview import seen_by
from designer.studio.pages.base import Crumb, StudioPage, StudioView
from designer.studio.pages.csv_cells import csv_file
from designer.studio.pages.matrix_rules import MatrixRules
from designer.studio.pages.restore_guard import ServedWouldBreak, keeping_what_is_served
from designer.studio.saving.access_edits import AccessEdit, NotPossible, click, undo
from designer.studio.saving.authors import author_of
from designer.studio.saving.refused_as_proposal import proposed, tell_refused
from designer.studio.saving.undo_offers import offering_undo

_PER_PAGE = 100


class MatrixPage(StudioPage):
    """The matrix, or one column of it with `role`. A POST changes who may call one endpoint.

    A change that lets more callers in is asked for first.
    """

    title = gettext_lazy("Permission matrix")
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/matrix.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        current = seen_by(self.request)
        configuration = current.configuration
        module = self.request.GET.get("module", "")
        rows = [row for row in rows_of(configuration) if not module or row.module == module]
        page = Paginator(rows, _PER_PAGE).get_page(self.request.GET.get("page"))
        columns = matrix_columns(configuration)
        role = self._role(columns)
        if role:
            columns = [(name, label) for name, label in columns if name == role]
        may_change = self.request.user.has_perm("designer.change_exposedentity")
        rules = MatrixRules(current, columns, may_change=may_change)
        return super().get_context_data(
            **kwargs,
            page=page,
            groups=[
                (rules.of(rows_of_entity[0].exposure), rows_of_entity)
                for rows_of_entity in _by_exposure(page.object_list)
            ],
            records=rules.by_endpoint(page.object_list, role) if role else {},
            role=role,
            role_label=columns[0][1],
            columns=columns,
            offered=matrix_columns(configuration),
            modules=configuration.modules,
            module=module,
            query=self.request.GET.urlencode(),
            may_change=self.request.user.has_perm("designer.change_endpoint"),
        )

    def _role(self, columns: Sequence[tuple[str, str]]) -> str:
        """Return the column that the page shows; empty for all columns. Raises Http404 for another name."""
        if "role" not in self.request.GET:
            return ""
        names = [name for name, _label in columns]
        # Roles stand behind callers without a token and those without a role.
        chosen = self.request.GET["role"] or (names[2:] or names)[0]
        if chosen not in names:
            raise Http404
        return chosen

    def post(self, request: HttpRequest) -> HttpResponseBase:
        if not request.user.has_perm("designer.change_endpoint"):
            return self.handle_no_permission()
        try:
            edit = _edit(request)
        except NotPossible as reason:
            messages.info(request, said(reason.why))
        except ServedWouldBreak as error:
            for problem in error.problems:
                messages.error(request, problem)
        except ChangeRefused as refused:
            if opened := proposed(request, refused):
                return opened
            tell_refused(request, refused)
        except _Unconfirmed as question:
            return self._ask(question.edit)
        else:
            detail = f"{edit.callers_before} → {edit.callers_after}"
            note(request, AuditEntry.Action.ACCESS, edit.called, detail)
            messages.success(request, _with_undo(request, edit))
        return HttpResponseRedirect(request.get_full_path())

    def _ask(self, edit: AccessEdit) -> HttpResponseBase:
        """Return the page that asks whether the edit is meant."""
        button = "undo" if "undo" in self.request.POST else "cell"
        context = StudioPage.get_context_data(
            self,
            title=_("Let more callers in?"),
            crumbs=[Crumb(self.title, reverse("studio:matrix"))],
            edit=edit,
            asked=button,
            value=self.request.POST[button],
            callers_before=said(edit.callers_before),
            callers_after=said(edit.callers_after),
            answered=author_of(self.request).answered,
        )
        return TemplateResponse(self.request, "designer/pages/matrix_question.html", context)


def _by_exposure(rows: Iterable[Row]) -> list[list[Row]]:
    """Return the rows in groups: those of one exposed entity together, where the first of them stands, and
    every other row by itself.
    """
    groups: dict[str | int, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.exposure or row.id, []).append(row)
    return list(groups.values())


class _Unconfirmed(Exception):
    """An edit that the user has to confirm first. That it can be made has been tried."""

    def __init__(self, edit: AccessEdit) -> None:
        super().__init__(edit.called)
        self.edit = edit


def _edit(request: HttpRequest) -> AccessEdit:
    """Make the edit that the request asks for, and return it.

    Raises NotPossible, ServedWouldBreak, ChangeRefused or _Unconfirmed. Nothing has changed then.
    """
    author = author_of(request, note=_("In the permission matrix"))
    # `recording` asks the platform before its own transaction. This one begins earlier, and locks the
    # database on SQLite.
    overview()
    with transaction.atomic():
        with recording(author), keeping_what_is_served():
            if "undo" in request.POST:
                edit = undo(latest(), request.POST["undo"])
            else:
                edit = click(latest(), request.POST.get("cell", ""))
            confirmed = not edit.asks or request.POST.get("confirmed") == edit.digest
            edit.make()
        if not confirmed:
            raise _Unconfirmed(edit)
    return edit


def _with_undo(request: HttpRequest, edit: AccessEdit) -> SafeString | str:
    """Return the message of a made edit, with a button that undoes it on this page, which asks as a click
    does.
    """
    text = said(edit.message)
    change = last_change(edit.endpoint.definition.key)
    if change is None:
        return text
    return offering_undo(request, text, request.get_full_path(), "undo", change.pk)


class MatrixFile(StudioView):
    """The matrix as CSV, for spreadsheets and auditors."""

    permission_required = "designer.view_endpoint"
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        configuration = latest()
        roles = [role.name for role in configuration.roles]
        return csv_file("permissions.csv", _lines(rows_of(configuration), roles))


def _lines(rows: Sequence[Row], roles: Sequence[str]) -> Iterator[list[str]]:
    yield ["method", "path", "state", "writes", "caller types", "anonymous", "authenticated", *roles]
    for row in rows:
        allowed = ["yes" if row.allows(column) else "" for column in (ANONYMOUS, AUTHENTICATED, *roles)]
        yield [row.methods, row.path, row.state, "yes" if row.writes else "", row.caller_types, *allowed]


def matrix_columns(configuration: Configuration) -> list[tuple[str, str]]:
    """Return the name and label of each column: two for callers without roles, then one for each role."""
    return [
        (ANONYMOUS, _("Anonymous")),
        (AUTHENTICATED, _("Authenticated")),
        *((role.name, role.name) for role in configuration.roles),
    ]
