"""Proposals: the list, opening one, and the page of one with its review."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.audit import note
from designer.documents.problems import DocumentError
from designer.history.broken_callers import QUESTIONS, CallersUnanswered
from designer.history.refused_changes import ChangeRefused
from designer.history.widenings import Unconfirmed
from designer.imports.document_import import Source
from designer.imports.import_report import ImportReport
from designer.loading import latest
from designer.models import AuditEntry, Proposal
from designer.proposals.new_proposals import content_digest, open_copy, open_source
from designer.proposals.reading_secret import give_secret
from designer.proposals.value_names import document_text
from designer.sentences import said
from designer.studio.hidden_lists import hidden_from, text_without_hidden, visible_problems
from designer.studio.look import dress
from designer.studio.pages.base import Crumb, StudioPage, StudioView
from designer.studio.pages.later_changes import (
    LaterChanges,
    later_changes_by_item,
)
from designer.studio.pages.proposal_review import review
from designer.studio.pages.proposal_steps import MAY_OPEN, STEPS, possible_steps, require
from designer.studio.pages.uploaded_documents import uploaded_bytes
from designer.studio.pages.ways_back import ask
from designer.studio.saving.refusal_messages import tell_refused

_PER_PAGE = 30
# Without its link: addresses are not known yet while modules are imported.
_CRUMB = Crumb(gettext_lazy("Proposals"), "")


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
        may_open = self.request.user.has_perm(MAY_OPEN)
        return super().get_context_data(**kwargs, page=page, may_open=may_open)


class NewProposalPage(StudioPage):
    title = gettext_lazy("New proposal")
    permission_required = MAY_OPEN
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
                proposal = open_source(Source.of_document(uploaded_bytes(fields["document"])), *texts)
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
                # What the buttons send: a step counts for what the page has shown.
                "contents": content_digest(proposal),
                **possible_steps(self.request, proposal),
                **kwargs,
            }
        )

    def post(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Take the step whose button was pressed, and show the proposal again: with why it was refused, or
        with a question to answer first.
        """
        proposal = get_object_or_404(Proposal, pk=pk)
        if "secret" in request.POST:
            return self._show_new_secret(request, proposal)
        name = next((name for name in STEPS if name in request.POST), None)
        if name is None:
            return _redirect_to(proposal)
        try:
            STEPS[name](request, proposal)
        except CallersUnanswered as refused:
            tell_refused(request, refused)
        except Unconfirmed as question:
            what = _("Take back what “%(proposal)s” made live") % {"proposal": proposal}
            return ask(request, question, what=what, back=reverse("studio:proposal", args=[pk]))
        except (DocumentError, ChangeRefused) as error:
            return self.show_again(problems=visible_problems(error, request))
        return _redirect_to(proposal)

    def _show_new_secret(self, request: HttpRequest, proposal: Proposal) -> HttpResponseBase:
        """Give the applications that read the proposal a new secret, and return the page that shows it.

        The answer shows it at once, without a redirect: a message or a session would store it.
        """
        require(request, MAY_OPEN)
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


def _visible_later_changes(report: ImportReport, request: HttpRequest) -> list[LaterChanges]:
    """Return what the proposal takes back in items that the account may see."""
    hidden = hidden_from(request)
    return [later for later in later_changes_by_item(report, {}) if later.item[0] not in hidden]


def _redirect_to(proposal: Proposal) -> HttpResponseBase:
    return HttpResponseRedirect(reverse("studio:proposal", args=[proposal.pk]))
