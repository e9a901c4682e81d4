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
from designer.history.items import ItemKey
from designer.history.readable_versions import describe
from designer.history.refused_changes import ChangeRefused
from designer.history.widenings import Unconfirmed
from designer.imports.document_import import Source
from designer.imports.import_report import ImportReport
from designer.kinds.file_sizes import size_in_words
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
from designer.studio.hidden_lists import hidden_from, text_without_hidden
from designer.studio.look import dress
from designer.studio.pages.base import Crumb, StudioPage, StudioView
from designer.studio.pages.later_changes import (
    KEEP,
    LaterChanges,
    keep_or_take_choices,
    later_changes_by_item,
)
from designer.studio.pages.proposal_review import review
from designer.studio.pages.ways_back import CONFIRMED, ask
from designer.studio.saving.authors import author_of
from designer.studio.saving.refusal_messages import tell_refused
from designer.studio.saving.undo_offers import offering_undo, say_done

_PER_PAGE = 30
# How many items a message names.
_MOST_NAMED = 5
# Without its link: addresses are not known yet while modules are imported.
_CRUMB = Crumb(gettext_lazy("Proposals"), "")
_MAY_OPEN, _MAY_APPROVE, _MAY_PUBLISH = (
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
        # `dress` knows no style for files: browsers draw a button of their own.
        self.fields["document"].widget.attrs["class"] = "studio-input"


class ProposalsPage(StudioPage):
    title = gettext_lazy("Proposals")
    permission_required = "designer.view_proposal"
    template_name = "designer/pages/proposals.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        proposals = Proposal.objects.defer("base", "document", "earlier")
        page = Paginator(proposals, _PER_PAGE).get_page(self.request.GET.get("page"))
        may_open = self.request.user.has_perm(_MAY_OPEN)
        return super().get_context_data(**kwargs, page=page, may_open=may_open)


class NewProposalPage(StudioPage):
    title = gettext_lazy("New proposal")
    permission_required = _MAY_OPEN
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
            return self.show_again(form=form)
        fields = form.cleaned_data
        texts = request.user.get_username(), fields["title"], fields["description"]
        try:
            if fields["document"]:
                proposal = open_source(Source.of_document(_uploaded_bytes(fields["document"])), *texts)
            else:
                proposal = open_copy(fields["module"], *texts)
        except DocumentError as error:
            return self.show_again(form=form, problems=error.problems)
        note(request, AuditEntry.Action.PROPOSAL, proposal, "opened")
        messages.success(request, _("The proposal is open. Nothing that is live has changed."))
        return _redirect_to(proposal)


class ProposalPage(StudioPage):
    permission_required = "designer.view_proposal"
    template_name = "designer/pages/proposal.html"

    def crumbs(self) -> Sequence[Crumb]:
        return [_CRUMB._replace(link=reverse("studio:proposals"))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        proposal = get_object_or_404(Proposal, pk=self.kwargs["pk"])
        outcome = review(proposal, self.request, with_calls="calls" in self.request.GET)
        report = outcome.report
        # A step that was refused names its problems above the review, which would repeat them.
        problems = [said(problem) for problem in kwargs.get("problems", ())]
        return super().get_context_data(
            **{
                "title": str(proposal),
                "proposal": proposal,
                "review": outcome.without(problems),
                "later": () if report is None else _visible_later_changes(report, self.request),
                # The page shows the callers that are affected: publishing from it does not ask about them.
                "answered": QUESTIONS if report is not None and report.calls else (),
                "is_ready": outcome.is_ready,
                **_possible_steps(self.request, proposal),
                **kwargs,
            }
        )

    def post(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        proposal = get_object_or_404(Proposal, pk=pk)
        if "secret" in request.POST:
            return self._show_new_secret(request, proposal)
        name = next((name for name in _STEPS if name in request.POST), None)
        if name is None:
            return _redirect_to(proposal)
        try:
            _STEPS[name](request, proposal)
        except CallersUnanswered as refused:
            tell_refused(request, refused)
        except Unconfirmed as question:
            what = _("Take back what “%(proposal)s” made live") % {"proposal": proposal}
            return ask(request, question, what=what, back=reverse("studio:proposal", args=[pk]))
        except (DocumentError, ChangeRefused) as error:
            return self.show_again(problems=error.problems)
        return _redirect_to(proposal)

    def _show_new_secret(self, request: HttpRequest, proposal: Proposal) -> HttpResponseBase:
        """Give the applications that read the proposal a new secret, and return the page that shows it.

        The answer shows it at once, without a redirect: a message or a session would store it.
        """
        _require(request, _MAY_OPEN)
        if not proposal.is_open:
            return self.show_again(problems=[_("The proposal is closed.")])
        secret = give_secret(proposal)
        note(request, AuditEntry.Action.PROPOSAL, proposal, "gave applications a new secret")
        answer = self.render_to_response(self.get_context_data(secret=secret))
        answer["Cache-Control"] = "no-store"
        return answer


class ProposalDocument(StudioView):
    """What is proposed, as a file without the lists that the account may not see."""

    permission_required = "designer.view_proposal"
    http_method_names = ["get"]

    def get(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        proposal = get_object_or_404(Proposal, pk=pk)
        try:
            document = text_without_hidden(document_text(proposal), request)
        except DocumentError as error:
            for problem in error.problems:
                messages.error(request, said(problem))
            return _redirect_to(proposal)
        note(request, AuditEntry.Action.EXPORT, proposal)
        headers = {"Content-Disposition": f'attachment; filename="proposal-{proposal.pk}.json"'}
        return HttpResponse(document, content_type="application/json", headers=headers)


def _possible_steps(request: HttpRequest, proposal: Proposal) -> dict[str, bool]:
    """Return what the template asks about the buttons: what the account may do with the proposal now."""
    may, is_open = request.user.has_perm, proposal.is_open
    approved = is_approved(proposal)
    return {
        "approved": approved,
        "may_edit": is_open and may(_MAY_OPEN),
        "may_try": is_open and may("designer.change_endpoint"),
        "may_approve": is_open and may(_MAY_APPROVE) and not approved,
        "is_somebody_else": may_be_approved_by(proposal, request.user.get_username()),
        "may_publish": is_open and may(_MAY_PUBLISH),
        "may_withdraw": is_open and _may_withdraw(request, proposal),
        "may_go_back": proposal.state == Proposal.State.PUBLISHED and may(_MAY_PUBLISH),
    }


def _publish(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _MAY_PUBLISH)
    publish(proposal, author_of(request))
    note(request, AuditEntry.Action.PROPOSAL, proposal, "published")
    # What is protected is not undone otherwise, and the proposal has to know of it.
    _say_done(request, proposal, _("Published: it is live now."), "go_back")


def _go_back(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _MAY_PUBLISH)
    restored = go_back(proposal, author_of(request), request.POST.get(CONFIRMED, ""))
    note(request, AuditEntry.Action.PROPOSAL, proposal, "taken back")
    say_done(request, _("Taken back: what was live before is live again."), restored.version)


def _approve(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _MAY_APPROVE)
    approve(proposal, request.user.get_username())
    note(request, AuditEntry.Action.PROPOSAL, proposal, "approved")
    _say_done(request, proposal, _("Approved."), "withdraw_approval")


def _withdraw_approval(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _MAY_APPROVE)
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
    _require(request, _MAY_OPEN)
    rebase(proposal, request.user.get_username())
    note(request, AuditEntry.Action.PROPOSAL, proposal, "took over what is live")
    _say_edited(request, proposal, _("What was changed live is part of the proposal now."))


def _replace(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _MAY_OPEN)
    if (document := request.FILES.get("document")) is None:
        raise DocumentError([_("Choose the file to upload.")])
    source, hidden = Source.of_document(_uploaded_bytes(document)), hidden_from(request)
    replace_document(proposal, source, request.user.get_username(), hidden)
    note(request, AuditEntry.Action.PROPOSAL, proposal, "edited")
    text = _("The proposal now has the uploaded document.")
    # What a document lacks is removed: somebody who exported a part may not mean that.
    removed = [item for item in Contents.of(proposal).removed if item[0] not in hidden]
    _say_edited(request, proposal, f"{text} {_removal_in_words(removed)}" if removed else text)


def _removal_in_words(removed: Sequence[ItemKey]) -> str:
    text = ngettext(
        "It removes %(number)s item: %(items)s.", "It removes %(number)s items: %(items)s.", len(removed)
    )
    named = listed([describe(*item) for item in removed[:_MOST_NAMED]], ", ")
    more = ", …" if len(removed) > _MOST_NAMED else ""
    return text % {"number": len(removed), "items": f"{named}{more}"}


def _leave_out(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _MAY_OPEN)
    items = [item for item, choice in keep_or_take_choices(request).items() if choice == KEEP]
    if not items:
        raise DocumentError([_("Choose the items to leave out.")])
    leave_out(proposal, items, request.user.get_username())
    note(request, AuditEntry.Action.PROPOSAL, proposal, "left out what was changed before")
    _say_edited(request, proposal, _("The proposal leaves the chosen items as they are."))


def _undo_edit(request: HttpRequest, proposal: Proposal) -> None:
    _require(request, _MAY_OPEN)
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


def _visible_later_changes(report: ImportReport, request: HttpRequest) -> list[LaterChanges]:
    """Return what the proposal takes back in items that the account may see."""
    hidden = hidden_from(request)
    return [later for later in later_changes_by_item(report, {}) if later.item[0] not in hidden]


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
    """Return whether the account has opened the proposal, or could publish it."""
    is_own = request.user.has_perm(_MAY_OPEN) and proposal.account == request.user.get_username()
    return is_own or bool(request.user.has_perm(_MAY_PUBLISH))


def _uploaded_bytes(document: UploadedFile[Any]) -> bytes:
    if (document.size or 0) > LARGEST_DOCUMENT:
        most = size_in_words(LARGEST_DOCUMENT)
        raise DocumentError([_("The document is larger than %(most)s.") % {"most": most}])
    raw: bytes = document.read()
    return raw


def _redirect_to(proposal: Proposal) -> HttpResponseBase:
    return HttpResponseRedirect(reverse("studio:proposal", args=[proposal.pk]))
