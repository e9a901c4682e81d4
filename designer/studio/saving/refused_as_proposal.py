"""Changes of what is protected: a page that refused one can open it as a proposal."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _

from designer.audit import note
from designer.configuration import Configuration
from designer.documents.problems import DocumentError
from designer.documents.protection import EVERYTHING, RULE
from designer.history.refused_changes import ChangeRefused, ProtectionRefused
from designer.models import AuditEntry, Endpoint, ExposedEntity, Module, Proposal
from designer.proposals.new_proposals import add_refused, content_digest, open_refused
from designer.readiness import Finding
from designer.sentences import said
from designer.studio.hidden_lists import hidden_from
from designer.studio.saving.authors import WHY, typed_text
from designer.studio.saving.undo_offers import offering_undo
from designer.studio.sent_numbers import sent_number

PERMISSION = "designer.add_proposal"
# The name of the button, and of the field with the proposal that the change is added to. Without a proposal
# there, a new one is opened.
PROPOSE, ADD_TO = "_propose", "_proposal"


def is_only_protection(findings: Collection[Finding]) -> bool:
    """Return whether the change was refused only because rows are protected."""
    return bool(findings) and all(finding.rule == RULE for finding in findings)


def may_open(request: HttpRequest) -> bool:
    return bool(request.user.has_perm(PERMISSION))


def asks_for_proposal(request: HttpRequest) -> bool:
    return PROPOSE in request.POST and may_open(request)


def may_propose(request: HttpRequest, refused: ChangeRefused) -> bool:
    """Return whether the page may offer to open the refused change as a proposal."""
    return isinstance(refused, ProtectionRefused) and may_open(request)


def open_as_proposal(
    request: HttpRequest, refused: ChangeRefused, title: str = ""
) -> HttpResponseRedirect | None:
    """Open the refused change as a proposal, if the request asks for that. Return a redirect to its page.

    Return None when the request does not ask for that, or, with a message, when the change cannot be opened.
    `title` is that of a new proposal for which nobody has typed a reason.
    """
    if not isinstance(refused, ProtectionRefused) or not asks_for_proposal(request):
        return None
    account = request.user.get_username()
    add_to = sent_number(request.POST.get(ADD_TO, ""))
    text: str
    try:
        if add_to is not None:
            proposal = get_object_or_404(Proposal, pk=add_to)
            add_refused(proposal, refused, account, hidden_from(request))
            added = _("Added to the proposal. Nothing that is live has changed.")
            address, edit = reverse("studio:proposal", args=[proposal.pk]), content_digest(proposal)
            text = offering_undo(request, added, address, "undo_edit", edit)
        else:
            why = typed_text(request, WHY)
            proposal = open_refused(refused, account, why or title or _subject_of(refused))
            text = _("Opened as a proposal. Nothing that is live has changed.")
    except DocumentError as error:
        for problem in error.problems:
            messages.error(request, said(problem))
        return None
    note(request, AuditEntry.Action.PROPOSAL, proposal, "opened" if add_to is None else "edited")
    messages.success(request, text)
    return HttpResponseRedirect(reverse("studio:proposal", args=[proposal.pk]))


def open_proposals() -> list[Proposal]:
    """Return up to 50 proposals that a change can be added to, newest first, without their documents."""
    states = (Proposal.State.OPEN, Proposal.State.APPROVED)
    return list(Proposal.objects.filter(state__in=states).defer("base", "document", "earlier")[:50])


def is_protected(row: Model, configuration: Configuration) -> bool:
    """Return whether changes of the saved row take effect only through a proposal."""
    groups = {protection.group for protection in configuration.protections}
    if not groups:
        return False
    match row:
        case Endpoint():
            endpoint = configuration.endpoints.get(row.pk)
            module = endpoint.definition.module if endpoint is not None else EVERYTHING
        case ExposedEntity():
            module = row.module.segment
        case Module():
            module = row.segment
        case _:
            module = EVERYTHING
    return EVERYTHING in groups or module in groups


def _subject_of(refused: ProtectionRefused) -> str:
    """Return what the refused change is about, as the title of its proposal."""
    return refused.findings[0].subject or _("Change")
