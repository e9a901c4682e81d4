"""Saving with readiness: what would not work is refused at the form, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar, TypeAlias
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.forms import BaseFormSet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from crmclient import FetchesMetadata
from designer.configuration import Configuration
from designer.documents.protection import protection_refusals
from designer.history.broken_callers import open_questions
from designer.history.item_keys import item_key, state_of_row
from designer.history.readable_versions import describe_to_all
from designer.history.recording import recording
from designer.history.refused_changes import ChangeRefused
from designer.history.write_access import PERMISSION, refusals
from designer.loading import latest
from designer.overview import overview
from designer.platform import get_platform
from designer.readiness import Checker, Finding, Severity
from designer.readiness.metadata import MetadataUnavailable
from designer.sentences import Sentence
from designer.studio.look import ModelAdmin
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.navigation.request_overview import overview_for
from designer.studio.saving.authors import author_of
from designer.studio.saving.caller_questions import OPENED, ticks, with_instructions
from designer.studio.saving.deleted_meanwhile import deleted_meanwhile
from designer.studio.saving.edit_conflicts import (
    Conflict,
    merge_into_request,
    opened_with,
    unbound_request,
)
from designer.studio.saving.opened_access import OpenedAccess
from designer.studio.saving.refusal_messages import tell_refused
from designer.studio.saving.refused_as_proposal import (
    asks_for_proposal,
    is_only_protection,
    is_protected,
    may_open,
    open_as_proposal,
    open_proposals,
)
from designer.studio.saving.undo_offers import say_done
from designer.studio.used_places import where_used

# One of the admin's views, which only needs the context of its page yet.
_View: TypeAlias = Callable[[dict[str, Any]], HttpResponseBase]


class Refused(Exception):
    """A save that must be rolled back."""

    def __init__(self, findings: Collection[Finding]) -> None:
        super().__init__("; ".join(finding.said for finding in findings))
        self.findings = findings


def checker() -> Checker:
    """Return a checker of the configuration as this request sees it.

    Inside a save, that includes the rows being saved.
    """
    return Checker(latest(), known_metadata())


class CheckedAdmin(ModelAdmin):
    """Tries each save, checks what came of it in the same transaction, and takes back what is refused.

    What is saved or deleted becomes a version. A save over somebody else's is merged with it.
    """

    change_form_template = "designer/checked_form.html"
    delete_selected_confirmation_template = "designer/delete_selected.html"
    # What decides who may call or what callers reach: names of fields, of whole lists of rows, and of a
    # list's fields behind its name and a dot. Nothing of it is merged without a question.
    access_fields: ClassVar[frozenset[str]] = frozenset()

    def refusals(self, request: HttpRequest, row: Model) -> Collection[Finding]:
        """Return the blocking findings for which the save must be taken back."""
        raise NotImplementedError

    def opened_access(self, before: Configuration, now: Configuration, row: Model) -> OpenedAccess | None:
        """Return how the save changes who may call the endpoint in `row`; None where it has no callers."""
        return None

    def after_save(self, request: HttpRequest, row: Model) -> None:
        """Do what follows a save that was recorded and may take long, such as to ask other servers.

        Nobody waits for the database any more. A save that was taken back is not followed by anything.
        """

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponseBase:
        """Show the page of a row or, on a POST, save it: merged with the changes of others, recorded as a
        version, or taken back and shown again with what was refused.
        """
        row = self.get_object(request, object_id) if object_id else None
        if request.method == "POST":
            if row is None and object_id and self.has_change_permission(request):
                return deleted_meanwhile(request, self.model, object_id)
            self.note_before(request)
        row_state = "" if row is None else state_of_row(row, _configuration_at_start(request))
        context = {**(extra_context or {}), "seen": row_state}
        # The admin's own view, which shows the page or, on a POST with a valid form, saves.
        show_or_save: _View = partial(super().changeform_view, request, object_id, form_url)
        if request.method != "POST":
            return show_or_save(context)
        if isinstance(get_platform(), FetchesMetadata):
            # With a row of its own, because judging a form writes into the row.
            self.ask_platform(request, self.get_object(request, object_id) if object_id else None)
        try:
            response = self._saved_and_recorded(request, row, context, show_or_save)
        except (Refused, ChangeRefused) as refused:
            if isinstance(refused, ChangeRefused) and (
                redirect := open_as_proposal(request, refused, _proposal_title(row))
            ):
                return redirect
            _note_refused(request, refused)
            # This saves nothing, outside of `recording`: the form shows what was refused, so it is invalid.
            return show_or_save(context)
        _tell_merged(request, response, context.get("conflict"))
        return response

    def _saved_and_recorded(
        self,
        request: HttpRequest,
        row: Model | None,
        context: dict[str, Any],
        show_or_save: _View,
    ) -> HttpResponseBase:
        """Save what was sent, merged with the changes of others, and record it as a version.

        What the page is to say of the merge is added to `context`, for a save that is refused, too. Raises
        Refused or ChangeRefused; nothing is saved then.
        """
        with _held_messages(request):
            with recording(author_of(request)) as request.recorded:  # type: ignore[attr-defined]
                # From here on, others who save wait, so that what is merged is what is saved. What they have
                # saved while this waited for them is not this save's doing, so it is noted again.
                self.note_before(request)
                context |= self._merge_with_others(request, row)
                response = show_or_save(context)
            if (saved := getattr(request, "saved_row", None)) is not None:
                self.after_save(request, saved)
        return response

    def ask_platform(self, request: HttpRequest, row: Model | None) -> None:
        """Ask the platform for what the forms on the page need: nobody may have opened the page since the
        service has started.

        This comes before the save takes its turn, so that others who save do not wait for the platform.
        """
        is_change = row is not None
        may_save = self.has_change_permission(request, row) if is_change else self.has_add_permission(request)
        if not may_save:
            return
        form = self.get_form(request, row, change=is_change)(request.POST, request.FILES, instance=row)
        # Judging the fields asks the platform. The result does not matter here.
        form.is_valid()
        formsets = self._create_formsets(request, form.instance, change=is_change)[0]
        for formset in formsets:
            formset.is_valid()
        # Readiness judges what the page says now, which may name entities for the first time.
        with suppress(MetadataUnavailable):
            for entity in self.entities_named(form, formsets):
                known_metadata().attributes(entity)

    def entities_named(self, form: Any, formsets: Collection[Any]) -> Iterable[str]:
        """Return the entities that the page names, of which readiness may ask for the attributes.

        `form` and `formsets` have been judged, and may have errors.
        """
        return ()

    def note_before(self, request: HttpRequest) -> None:
        """Note what there is before the save, with which its result is compared."""
        request.configuration_before = latest()  # type: ignore[attr-defined]

    def _merge_with_others(self, request: HttpRequest, row: Model | None) -> dict[str, Any]:
        """Merge the sent page with the changes of others, in `request.POST`.

        Return the context for the page: the conflict (None if nobody else changed the row), and the state of
        the row that the page is now based on.
        """
        if row is None or not self.has_change_permission(request, row):
            return {}
        conflict = merge_into_request(
            request, row, lambda: self._saved_forms(request, row), self.access_fields
        )
        request.has_questions = conflict is not None and bool(conflict.questions)  # type: ignore[attr-defined]
        return {"conflict": conflict, "seen": state_of_row(row, latest())}

    def _saved_forms(self, request: HttpRequest, row: Model) -> tuple[Any, list[BaseFormSet[Any]]]:
        """Return the unbound form of the row and the formsets of its page, as saved, whatever was sent.

        Formsets that the account may not change are left out.
        """
        opened = unbound_request(request)
        # A form that was sent has written into the row.
        saved = self.get_object(opened, str(row.pk))
        fields = flatten_fieldsets(self.get_fieldsets(opened, saved))
        form = self.get_form(opened, saved, change=True, fields=fields)(instance=saved)
        formsets, inlines = self._create_formsets(opened, saved, change=True)
        changed = [
            formset
            for formset, inline in zip(formsets, inlines, strict=True)
            if inline.has_change_permission(opened, saved)
        ]
        return form, changed

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        """Show the page, with its questions, where the row is used, what the page was opened with, and the
        proposals that a refused change can be added to.
        """
        row = kwargs.get("obj")
        context["questions"] = ticks(_questions(request), request.POST, getattr(request, "opened", None))
        if row is not None:
            context["where_used"] = where_used(request, row)
        if row is not None and self.has_change_permission(request, row):
            form = context["adminform"].form
            inlines = [
                formset for formset in context["inline_admin_formsets"] if formset.has_change_permission
            ]
            shown = form, [inline.formset for inline in inlines]
            if form.is_bound and form.has_questions and len(context["errors"]) == 1:
                # The only error is that the questions are to be answered: no field below is wrong.
                context["errors"] = []
            context["opened"] = opened_with(*(self._saved_forms(request, row) if form.is_bound else shown))
            context["is_protected"] = is_protected(row, _configuration_at_start(request))
            if may_open(request) and is_only_protection(getattr(request, "refused", ())):
                context["proposals"] = open_proposals()
                context["proposes"] = [finding.said for finding in request.refused]  # type: ignore[attr-defined]
                # No field below is wrong.
                context["errors"] = []
        response: HttpResponse = super().render_change_form(request, context, **kwargs)
        return response

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        return self._recorded(request, super().changelist_view, extra_context)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        # Only the page that asks shows where the row is used.
        row = self.get_object(request, object_id) if request.method != "POST" else None
        context = {**(extra_context or {}), "where_used": where_used(request, row) if row else None}
        return self._recorded(request, super().delete_view, object_id, context)

    def _recorded(self, request: HttpRequest, view: Any, *args: Any) -> HttpResponseBase:
        """Return what the admin's view answers, and record a version of what a POST has changed."""
        if request.method != "POST":
            page: HttpResponseBase = view(request, *args)
            return page
        try:
            with _held_messages(request), recording(author_of(request)) as request.recorded:  # type: ignore[attr-defined]
                response: HttpResponseBase = view(request, *args)
        except ChangeRefused as refused:
            # What the view has said is not true any more. Reading messages removes them.
            list(messages.get_messages(request))
            if redirect := open_as_proposal(request, refused):
                return redirect
            tell_refused(request, refused)
            return HttpResponseRedirect(request.get_full_path())
        return response

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Redirect to the versions of the row."""
        row = self.get_object(request, object_id)
        if row is not None and not self.has_view_or_change_permission(request, row):
            # The address of the versions has the row's name in it.
            raise PermissionDenied
        key = item_key(row, latest()) if row is not None else None
        if key is None:
            response: HttpResponseBase = super().history_view(request, object_id, extra_context)
            return response
        return HttpResponseRedirect(versions_of(*key))

    def message_user(
        self, request: HttpRequest, message: Any, level: Any = messages.INFO, *args: Any, **kwargs: Any
    ) -> None:
        """Hold back the message of a success until the change is recorded, to show it with an offer to
        undo.
        """
        held: list[Any] | None = getattr(request, "held_messages", None)
        if held is None or level != messages.SUCCESS:
            super().message_user(request, message, level, *args, **kwargs)
        else:
            held.append(message)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form class, which knows what was refused or asked in this request."""
        form = super().get_form(request, obj, change=change, **kwargs)
        # A question stands above the form, with its tick.
        form.has_questions = getattr(request, "has_questions", False) or bool(_questions(request))
        form.refused = refused_findings(request)
        return form

    def save_related(
        self, request: HttpRequest, form: Any, formsets: Iterable[BaseFormSet[Any]], change: bool
    ) -> None:
        """Save the rows, and raise Refused for what the whole change may not do. The caller takes it back
        then.
        """
        super().save_related(request, form, formsets, change)
        protected = protection_refusals(request.configuration_before, latest())  # type: ignore[attr-defined]
        # A protected change can only become a proposal: who may do it is asked when that is published.
        refused = [*self.refusals(request, form.instance), *(protected or _access_refusals(request))]
        # Nobody is asked about a change that is refused anyway.
        refused = refused or self._unanswered_questions(request, form.instance)
        # A change that becomes a proposal goes on to `recording`, which refuses it with its document.
        becomes_proposal = is_only_protection(refused) and asks_for_proposal(request)
        if refused and not becomes_proposal:
            raise Refused(refused)
        request.saved_row = form.instance  # type: ignore[attr-defined]

    def _unanswered_questions(self, request: HttpRequest, row: Model) -> list[Finding]:
        """Return a blocking finding for each question about callers that the page has not answered.

        Recording would ask, too, but not on the page, with all that was typed. `request` gets the questions,
        and the access that they are about.
        """
        before: Configuration = request.configuration_before  # type: ignore[attr-defined]
        asked = dict(open_questions(before, latest(), request.POST))
        opened = self.opened_access(before, latest(), row)
        # The digest answers for this access only: if it has changed since, the question is a new one.
        if opened is not None and opened.warnings and request.POST.get(OPENED) != opened.digest:
            request.opened = opened  # type: ignore[attr-defined]
            asked[OPENED] = opened.question
        questions = with_instructions(asked)
        request.questions = questions  # type: ignore[attr-defined]
        return [Finding("", Severity.BLOCKING, question, "") for question in questions.values()]


class SharedAdmin(CheckedAdmin):
    """Admin pages of rows that endpoints depend on: a save must not break endpoints that work."""

    delete_confirmation_template = "designer/needed.html"

    def note_before(self, request: HttpRequest) -> None:
        super().note_before(request)
        request.blocked_before = set(_blocking_findings())  # type: ignore[attr-defined]

    def refusals(self, request: HttpRequest, row: Model) -> Collection[Finding]:
        """Return the blocking findings that there were not before the save."""
        before: set[Finding] = request.blocked_before  # type: ignore[attr-defined]
        return [finding for finding in _blocking_findings() if finding not in before]


def refused_findings(request: HttpRequest) -> Collection[Finding]:
    """Return the findings for which the save was taken back; none where it was only asked about."""
    return () if _questions(request) else getattr(request, "refused", ())


def _questions(request: HttpRequest) -> Mapping[str, Sentence]:
    """Return the questions about callers that the refused save has asked, by name."""
    return getattr(request, "questions", {})


def versions_of(collection: str, key: str) -> str:
    """Return the address of the page with the versions of one item."""
    return f"{reverse('studio:versions')}?{urlencode({'list': collection, 'key': key})}"


def warn(request: HttpRequest, findings: Iterable[Finding]) -> None:
    """Leave a message for each finding that does not block."""
    for finding in findings:
        if not finding.is_blocking:
            messages.warning(request, finding.said)


@contextmanager
def _held_messages(request: HttpRequest) -> Iterator[None]:
    """Hold back the messages of successes during the block, and show them at its end.

    The block has `recording` in it, which leaves the number of the version at `request.recorded` when it
    ends: *Undo* in the message names it. A change that was refused makes no version.
    """
    request.held_messages = []  # type: ignore[attr-defined]
    # Without `finally`: a change that was refused has no success to tell of.
    yield
    for message in request.held_messages:  # type: ignore[attr-defined]
        say_done(request, message, request.recorded.version)  # type: ignore[attr-defined]
    request.held_messages = None  # type: ignore[attr-defined]


def _note_refused(request: HttpRequest, refused: Refused | ChangeRefused) -> None:
    """Note why a save was refused, for the page that is shown again. Drop the messages of the save: what it
    has warned of stands on that page.
    """
    # Reading messages removes them.
    list(messages.get_messages(request))
    request.refused, request.held_messages = refused.findings, None  # type: ignore[attr-defined]


def _tell_merged(request: HttpRequest, response: HttpResponseBase, conflict: Conflict | None) -> None:
    """Leave a message that changes were merged. A page that is shown again tells it by itself."""
    if conflict is not None and conflict.taken and response.status_code == HTTPStatus.FOUND:
        text = _("Your change was merged with it. Taken over: %(what)s.") % {
            "what": "; ".join(conflict.taken)
        }
        messages.info(request, format_html("{} {}", conflict.by_whom, text))


def _blocking_findings() -> Iterable[Finding]:
    return [finding for finding in overview().findings if finding.is_blocking]


def _configuration_at_start(request: HttpRequest) -> Configuration:
    """Return the configuration at the start of the request, or of the save.

    A page that is only read shares it with its sidebar.
    """
    if request.method == "POST":
        before: Configuration = request.configuration_before  # type: ignore[attr-defined]
        return before
    return overview_for(request).configuration


def _proposal_title(row: Model | None) -> str:
    """Return the title of a proposal to change the row; empty for a new row."""
    key = item_key(row, latest()) if row is not None else None
    return describe_to_all(*key) if key else ""


def _access_refusals(request: HttpRequest) -> Collection[Finding]:
    """Return the refusals that recording would raise, to show them at the fields with all other problems."""
    if request.user.has_perm(PERMISSION):
        return ()
    return refusals(request.configuration_before, latest())  # type: ignore[attr-defined]
