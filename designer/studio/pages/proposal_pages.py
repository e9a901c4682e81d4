"""Proposals: the list, opening one, and the page of one with its review and what can be done with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from designer.audit import note
from designer.documents.document_reader import LARGEST_DOCUMENT
from designer.documents.problems import DocumentError
from designer.history.broken_callers import QUESTIONS, CallersUnanswered
from designer.history.readable_versions import describe
from designer.history.refused_changes import ChangeRefused
from designer.imports.document_import import Source
from designer.imports.import_report import ImportReport
from designer.loading import latest
from designer.models import AuditEntry, Proposal
from designer.proposals.contents import Contents
from designer.proposals.new_proposals import (
    content_digest,
    leave_out,
    open_copy,
    open_source,
    rebase,
    replace_document,
    undo_edit,
)
from designer.proposals.publication import (
    approve,
    go_back,
    is_approved,
    may_be_approved_by,
    publish,
    reopen,
    withdraw,
    withdraw_approval,
)
from designer.proposals.reading_secret import give_secret
from designer.proposals.value_names import document_text
from designer.sentences import listed, said
from designer.studio.hidden_lists import document_for, hidden_from
from designer.studio.look import dress
from designer.studio.pages.base import Crumb, StudioPage, StudioView
from designer.studio.pages.later_changes import KEEP, LaterChanges, by_item, choices_of
from designer.studio.pages.proposal_review import review
from designer.studio.saving.authors import author_of
from designer.studio.saving.refused_as_proposal import tell_refused
from designer.studio.saving.undo_offers import offering_undo, say_done

_PER_PAGE = 30
# How many items a message names.
_FEW = 5
_CRUMB = Crumb(gettext_lazy("Proposals"), "")
_OPEN, _APPROVE, _PUBLISH = (
    "designer.add_proposal",
    "designer.approve_proposal",
    "designer.publish_proposal",
)


class ProposalForm(forms.Form):
    title = forms.CharField(
        max_length=200, label=gettext_lazy("Title"), help_text=gettext_lazy("What the proposal is about.")
    )
    description = forms.CharField(
        required=False,
        label=gettext_lazy("Description"),
        help_text=gettext_lazy("Why the change is needed, for those who read the proposal."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    module = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Module"),
        help_text=gettext_lazy(
            "The part of what is live that the proposal starts from, if you choose no document."
        ),
    )
    document = forms.FileField(
        required=False,
        label=gettext_lazy("Document"),
        help_text=gettext_lazy(
            "An exported JSON file that you have edited. Without a file, the proposal starts from what is "
            "live."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        modules = [(module.segment, module.title or module.segment) for module in latest().modules]
        self.fields["module"].choices = [("", _("Everything")), *modules]  # type: ignore[attr-defined]
        self.fields["document"].widget.attrs["accept"] = "application/json,.json"
        for field in self.fields.values():
            dress(field)
        self.fields["document"].widget.attrs["class"] = "studio-input"


class ProposalsPage(StudioPage):
    title = gettext_lazy("Proposals")
    permission_required = "designer.view_proposal"
    template_name = "designer/pages/proposals.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        proposals = Proposal.objects.defer("base", "document", "earlier")
        page = Paginator(proposals, _PER_PAGE).get_page(self.request.GET.get("page"))
        may_open = self.request.user.has_perm(_OPEN)
        return super().get_context_data(**kwargs, page=page, may_open=may_open)


class NewProposalPage(StudioPage):
    title = gettext_lazy("New proposal")
    permission_required = _OPEN
    template_name = "designer/pages/proposal_form.html"

    def crumbs(self) -> Sequence[Crumb]:
        return [_CRUMB._replace(link=reverse("studio:proposals"))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        if "form" not in kwargs:
            kwargs["form"] = ProposalForm(initial={"module": self.request.GET.get("module", "")})
        return super().get_context_data(**kwargs)

    def post(self, request: HttpRequest) -> HttpResponseBase:
        form = ProposalForm(request.POST, request.FILES)
        if not form.is_valid():
            return self.again(form=form)
        fields = form.cleaned_data
        texts = request.user.get_username(), fields["title"], fields["description"]
        try:
            if fields["document"]:
                proposal = open_source(Source.of_document(_uploaded(fields["document"])), *texts)
            else:
                proposal = open_copy(fields["module"], *texts)
        except DocumentError as error:
            return self.again(form=form, problems=error.problems)
        note(request, AuditEntry.Action.PROPOSAL, proposal, "opened")
        messages.success(request, _("The proposal is open. Nothing that is live has changed."))
        return _to(proposal)


class ProposalPage(StudioPage):
    permission_required = "designer.view_proposal"
    template_name = "designer/pages/proposal.html"

    def crumbs(self) -> Sequence[Crumb]:
        return [_CRUMB._replace(link=reverse("studio:proposals"))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        proposal = get_object_or_404(Proposal, pk=self.kwargs["pk"])
        may = self.request.user.has_perm
        account = self.request.user.get_username()
        is_open = proposal.is_open
        outcome = review(proposal, self.request, with_calls="calls" in self.request.GET)
        # What the page says of the step that was refused is said once.
        refused = [said(problem) for problem in kwargs.get("problems", ())]
        return super().get_context_data(
            **{
                "title": str(proposal),
                "proposal": proposal,
                "review": outcome.without(refused),
                "later": _later(outcome.report, self.request) if outcome.report is not None else (),
                # Whoever publishes has seen who is affected.
                "answered": QUESTIONS if outcome.report is not None and outcome.report.calls else (),
                "is_ready": outcome.is_ready,
                "approved": is_approved(proposal),
                "may_edit": is_open and may(_OPEN),
                "may_try": is_open and may("designer.change_endpoint"),
                "may_approve": is_open and may(_APPROVE) and not is_approved(proposal),
                "is_somebody_else": may_be_approved_by(proposal, account),
                "may_publish": is_open and may(_PUBLISH),
                "may_withdraw": is_open and _may_withdraw(self.request, proposal),
                "may_go_back": proposal.state == Proposal.State.PUBLISHED and may(_PUBLISH),
                **kwargs,
            }
        )

    def post(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        proposal = get_object_or_404(Proposal, pk=pk)
        if "secret" in request.POST:
            return self._with_secret(request, proposal)
        name = next((name for name in _STEPS if name in request.POST), None)
        if name is None:
            return _to(proposal)
        try:
            _STEPS[name](request, proposal)
        except CallersUnanswered as refused:
            tell_refused(request, refused)
        except (DocumentError, ChangeRefused) as error:
            return self.again(problems=error.problems)
        return _to(proposal)

    def _with_secret(self, request: HttpRequest, proposal: Proposal) -> HttpResponseBase:
        """The page that shows it. Neither a session nor a message holds it: both are kept."""
        _require(request, _OPEN)
        if not proposal.is_open:
            return self.again(problems=[_("The proposal is closed.")])
        secret = give_secret(proposal)
        note(request, AuditEntry.Action.PROPOSAL, proposal, "gave applications a new secret")
        answer = self.render_to_response(self.get_context_data(secret=secret))
        answer["Cache-Control"] = "no-store"
        return answer


class ProposalDocument(StudioView):
    """What is proposed, as a file."""

    permission_required = "designer.view_proposal"
    http_method_names = ["get"]

    def get(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        proposal = get_object_or_404(Proposal, pk=pk)
        try:
            document = document_for(document_text(proposal), request)
        except DocumentError as error:
            for problem in error.problems:
                messages.error(request, said(problem))
            return _to(proposal)
        note(request, AuditEntry.Action.EXPORT, proposal)
        headers = {"Content-Disposition": f'attachment; filename="proposal-{proposal.pk}.json"'}
        return HttpResponse(document, content_type="application/json", headers=headers)


def _publish(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _PUBLISH)
    publish(proposal, author_of(request))
    note(request, AuditEntry.Action.PROPOSAL, proposal, "published")
    # What is protected is not undone otherwise, and the proposal has to know of it.
    _say_done(request, proposal, _("Published: it is live now."), "go_back")


def _go_back(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _PUBLISH)
    restored = go_back(proposal, author_of(request))
    note(request, AuditEntry.Action.PROPOSAL, proposal, "taken back")
    say_done(request, _("Taken back: what was live before is live again."), restored.version)


def _approve(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _APPROVE)
    approve(proposal, request.user.get_username())
    note(request, AuditEntry.Action.PROPOSAL, proposal, "approved")
    _say_done(request, proposal, _("Approved."), "withdraw_approval")


def _withdraw_approval(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _APPROVE)
    withdraw_approval(proposal)
    note(request, AuditEntry.Action.PROPOSAL, proposal, "approval withdrawn")
    _say_done(request, proposal, _("The approval was withdrawn."), "approve")


def _withdraw(request: HttpRequest, proposal: Proposal) -> None:
    if not _may_withdraw(request, proposal):
        raise PermissionDenied
    withdraw(proposal, request.user.get_username())
    note(request, AuditEntry.Action.PROPOSAL, proposal, "withdrawn")
    _say_done(request, proposal, _("Withdrawn. Nothing that is live has changed."), "reopen")


def _reopen(request: HttpRequest, proposal: Proposal) -> None:
    if not _may_withdraw(request, proposal):
        raise PermissionDenied
    reopen(proposal)
    note(request, AuditEntry.Action.PROPOSAL, proposal, "opened again")
    text = _("The proposal is open again. Nothing that is live has changed.")
    _say_done(request, proposal, text, "withdraw")


def _rebase(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _OPEN)
    rebase(proposal, request.user.get_username())
    note(request, AuditEntry.Action.PROPOSAL, proposal, "took over what is live")
    _say_edited(request, proposal, _("What was changed live is part of the proposal now."))


def _replace(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _OPEN)
    if (document := request.FILES.get("document")) is None:
        raise DocumentError([_("Choose the file to upload.")])
    source = Source.of_document(_uploaded(document))
    replace_document(proposal, source, request.user.get_username(), hidden_from(request))
    note(request, AuditEntry.Action.PROPOSAL, proposal, "edited")
    text = _("The proposal now has the uploaded document.")
    hidden = hidden_from(request)
    removed = [item for item in Contents.of(proposal).removed if item[0] not in hidden]
    if removed:
        counted = ngettext(
            "It removes %(number)s item: %(items)s.", "It removes %(number)s items: %(items)s.", len(removed)
        )
        named = listed([describe(*item) for item in removed[:_FEW]], ", ")
        more = ", …" if len(removed) > _FEW else ""
        text = f"{text} {counted % {'number': len(removed), 'items': f'{named}{more}'}}"
    _say_edited(request, proposal, text)


def _leave_out(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _OPEN)
    items = [item for item, choice in choices_of(request).items() if choice == KEEP]
    if not items:
        raise DocumentError([_("Choose the items to leave out.")])
    leave_out(proposal, items, request.user.get_username())
    note(request, AuditEntry.Action.PROPOSAL, proposal, "left out what was changed before")
    _say_edited(request, proposal, _("The proposal leaves the chosen items as they are."))


def _undo_edit(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _OPEN)
    undo_edit(proposal, request.POST["undo_edit"])
    note(request, AuditEntry.Action.PROPOSAL, proposal, "undid the last edit")
    proposal.refresh_from_db()
    _say_edited(request, proposal, _("Undone. Nothing that is live has changed."))


_STEPS: Mapping[str, Any] = {
    "publish": _publish,
    "go_back": _go_back,
    "approve": _approve,
    "withdraw_approval": _withdraw_approval,
    "withdraw": _withdraw,
    "reopen": _reopen,
    "rebase": _rebase,
    "replace": _replace,
    "leave_out": _leave_out,
    "undo_edit": _undo_edit,
}


def _later(report: ImportReport, request: HttpRequest) -> list[LaterChanges]:
    """Return what the proposal takes back in items that the account may see."""
    hidden = hidden_from(request)
    return [later for later in by_item(report, {}) if later.item[0] not in hidden]


def _say_done(request: HttpRequest, proposal: Proposal, text: str, undoing: str) -> None:
    """Leave a message that a step was made, with a button for the step `undoing`, which takes it back."""
    address = reverse("studio:proposal", args=[proposal.pk])
    messages.success(request, offering_undo(request, text, address, undoing, proposal.pk))


def _say_edited(request: HttpRequest, proposal: Proposal, text: str) -> None:
    """Leave a message that what is proposed has changed, with a button that takes this edit back."""
    address = reverse("studio:proposal", args=[proposal.pk])
    edit = content_digest(proposal)
    messages.success(request, offering_undo(request, text, address, "undo_edit", edit))


def _require(request: HttpRequest, permission: str) -> None:
    if not request.user.has_perm(permission):
        raise PermissionDenied


def _may_withdraw(request: HttpRequest, proposal: Proposal) -> bool:
    """Whoever has opened it, and whoever could publish it."""
    is_own = request.user.has_perm(_OPEN) and proposal.account == request.user.get_username()
    return is_own or bool(request.user.has_perm(_PUBLISH))


def _uploaded(document: UploadedFile[Any]) -> bytes:
    if (document.size or 0) > LARGEST_DOCUMENT:
        raise DocumentError([_("A document has at most %(most)s bytes.") % {"most": f"{LARGEST_DOCUMENT:,}"}])
    raw: bytes = document.read()
    return raw


def _to(proposal: Proposal) -> HttpResponseBase:
    return HttpResponseRedirect(reverse("studio:proposal", args=[proposal.pk]))
