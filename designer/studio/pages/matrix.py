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
from designer.studio.navigation.request_overview import overview_for
from designer.studio.pages.base import Crumb, StudioPage, StudioView
from designer.studio.pages.csv_cells import csv_file
from designer.studio.pages.matrix_rules import MatrixRules
from designer.studio.pages.restore_guard import ServedWouldBreak, keeping_what_is_served
from designer.studio.saving.access_edits import AccessEdit, NotPossible, edit_by_click, edit_by_undo
from designer.studio.saving.authors import author_of
from designer.studio.saving.refusal_messages import tell_refused
from designer.studio.saving.refused_as_proposal import open_as_proposal
from designer.studio.saving.undo_offers import offering_undo

_PER_PAGE = 100


class MatrixPage(StudioPage):
    """The matrix or, with `role` in the address, one column of it. A POST changes who may call one endpoint.

    A change that lets more callers in has to be confirmed first.
    """

    title = gettext_lazy("Permission matrix")
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/matrix.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shown_overview = overview_for(self.request)
        configuration = shown_overview.configuration
        module = self.request.GET.get("module", "")
        rows = [row for row in rows_of(configuration) if not module or row.module == module]
        page = Paginator(rows, _PER_PAGE).get_page(self.request.GET.get("page"))
        columns = matrix_columns(configuration)
        role = self._chosen_column(columns)
        if role:
            columns = [(name, label) for name, label in columns if name == role]
        may_change = self.request.user.has_perm("designer.change_exposedentity")
        rules = MatrixRules(shown_overview, columns, may_change=may_change)
        return super().get_context_data(
            **kwargs,
            page=page,
            groups=[
                (rules.row_of(rows_of_entity[0].exposure), rows_of_entity)
                for rows_of_entity in _grouped_by_exposure(page.object_list)
            ],
            records=rules.records_by_endpoint(page.object_list, role) if role else {},
            role=role,
            # Of use with `role` only: then there is one column.
            role_label=columns[0][1],
            columns=columns,
            # All columns, for the list in which one is chosen.
            offered=matrix_columns(configuration),
            modules=configuration.modules,
            module=module,
            query=self.request.GET.urlencode(),
            may_change=self.request.user.has_perm("designer.change_endpoint"),
        )

    def _chosen_column(self, columns: Sequence[tuple[str, str]]) -> str:
        """Return the column that the page shows; empty for all columns. Raises Http404 for another name."""
        if "role" not in self.request.GET:
            return ""
        names = [name for name, _label in columns]
        # The first two columns are of no role. `?role=` chooses the first role, if there is any.
        first_role = names[2] if len(names) > 2 else names[0]
        chosen = self.request.GET["role"] or first_role
        if chosen not in names:
            raise Http404
        return chosen

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Make the edit of the clicked cell and show the matrix. Ask first if it lets in more callers."""
        if not request.user.has_perm("designer.change_endpoint"):
            return self.handle_no_permission()
        try:
            edit = _make_edit(request)
        except NotPossible as reason:
            messages.info(request, said(reason.why))
        except ServedWouldBreak as error:
            for problem in error.problems:
                messages.error(request, problem)
        except ChangeRefused as refused:
            if redirect := open_as_proposal(request, refused):
                return redirect
            tell_refused(request, refused)
        except _Unconfirmed as question:
            return self._question_page(question.edit)
        else:
            detail = f"{edit.callers_before} → {edit.callers_after}"
            note(request, AuditEntry.Action.ACCESS, edit.method_and_path, detail)
            messages.success(request, _message_with_undo(request, edit))
        return HttpResponseRedirect(request.get_full_path())

    def _question_page(self, edit: AccessEdit) -> HttpResponseBase:
        """Return the page that asks whether the edit is meant. Its form sends the same button once more."""
        button = "undo" if "undo" in self.request.POST else "cell"
        # Not the matrix's own context: its rows are costly to make, and the question shows none of them.
        context = super().get_context_data(
            title=_("Let more callers in?"),
            crumbs=[Crumb(self.title, reverse("studio:matrix"))],
            edit=edit,
            warnings=[said(warning) for warning in edit.opened.warnings],
            asked=button,
            value=self.request.POST[button],
            callers_before=said(edit.callers_before),
            callers_after=said(edit.callers_after),
            answered=author_of(self.request).answered,
        )
        return TemplateResponse(self.request, "designer/pages/matrix_question.html", context)


def _grouped_by_exposure(rows: Iterable[Row]) -> list[list[Row]]:
    """Return the rows in groups: those of one exposed entity together, where the first of them stands.

    A row without an exposed entity, such as that of a query, is a group of its own.
    """
    # By the key of the exposed entity, else by the row's id: a text and a number never meet.
    groups: dict[str | int, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.exposure or row.id, []).append(row)
    return list(groups.values())


class _Unconfirmed(Exception):
    """The user has to confirm the edit first. It has been tried, and can be made."""

    def __init__(self, edit: AccessEdit) -> None:
        super().__init__(edit.method_and_path)
        self.edit = edit


def _make_edit(request: HttpRequest) -> AccessEdit:
    """Make the edit that the request asks for, and return it.

    Raises NotPossible, ServedWouldBreak, ChangeRefused or _Unconfirmed. None of them leaves a change.
    """
    author = author_of(request, note=_("In the permission matrix"))
    # `recording` needs the overview, which may ask the platform. Made here, it is remembered. Within the
    # transaction below, SQLite would stay locked while the platform takes its time.
    overview()
    with transaction.atomic():
        with recording(author), keeping_what_is_served():
            edit = _requested_edit(request)
            # Made before it is confirmed, so that nobody has to confirm an edit that is refused afterwards.
            edit.make()
        if edit.needs_confirmation and request.POST.get("confirmed") != edit.digest:
            # This exception rolls the transaction back, and the edit with it.
            raise _Unconfirmed(edit)
    return edit


def _requested_edit(request: HttpRequest) -> AccessEdit:
    """Return the edit behind the button of the page that was pressed. Raises NotPossible or Http404."""
    if "undo" in request.POST:
        return edit_by_undo(latest(), request.POST["undo"])
    return edit_by_click(latest(), request.POST.get("cell", ""))


def _message_with_undo(request: HttpRequest, edit: AccessEdit) -> SafeString | str:
    """Return the message about the edit, with a button that undoes it; plain text if nothing was recorded.

    The button sends `undo` to this page, which asks before it lets callers in, as it does for a cell.
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
        return csv_file("permissions.csv", _csv_lines(rows_of(configuration), roles))


def _csv_lines(rows: Sequence[Row], roles: Sequence[str]) -> Iterator[list[str]]:
    """Yield the header, then a line for each endpoint. A caller has “yes” in its column if it may call."""
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
