"""Refused changes that can be sent again from the page that refused them: as a proposal where they are
protected, or with an answer where they break callers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from designer.audit import note
from designer.configuration import Configuration
from designer.documents.problems import DocumentError
from designer.documents.protection import EVERYTHING, RULE
from designer.history.broken_callers import CallersUnanswered
from designer.history.refused_changes import ChangeRefused, ProtectionRefused
from designer.models import AuditEntry, Endpoint, ExposedEntity, Module, Proposal
from designer.proposals.new_proposals import add_refused, content_digest, open_refused
from designer.readiness import Finding
from designer.sentences import said
from designer.studio.saving.authors import WHY
from designer.studio.saving.undo_offers import offering_undo

PERMISSION = "designer.add_proposal"
# The button, and the proposal that the change is added to; without one it is a new one.
PROPOSE, ADD_TO = "_propose", "_proposal"
# Fields that the repeated request does not send again.
_OWN = ("csrfmiddlewaretoken", PROPOSE, ADD_TO)


def is_protection(findings: Collection[Finding]) -> bool:
    """Return whether the change was refused only because rows are protected."""
    return bool(findings) and all(finding.rule == RULE for finding in findings)


def may_open(request: HttpRequest) -> bool:
    return bool(request.user.has_perm(PERMISSION))


def asks_for_proposal(request: HttpRequest) -> bool:
    return PROPOSE in request.POST and may_open(request)


def may_propose(request: HttpRequest, refused: ChangeRefused) -> bool:
    """Return whether the page may offer to open the refused change as a proposal."""
    return isinstance(refused, ProtectionRefused) and may_open(request)


def proposed(request: HttpRequest, refused: ChangeRefused, title: str = "") -> HttpResponseRedirect | None:
    """Open the refused change as a proposal, if the request asks for that. Return a redirect to its page.

    Return None, with a message where it helps, when no proposal was opened.
    """
    if not isinstance(refused, ProtectionRefused) or not asks_for_proposal(request):
        return None
    account = request.user.get_username()
    number = request.POST.get(ADD_TO, "")
    text: str
    try:
        if number.isdecimal():
            proposal = get_object_or_404(Proposal, pk=number)
            add_refused(proposal, refused, account)
            added = _("Added to the proposal. Nothing that is live has changed.")
            address, edit = reverse("studio:proposal", args=[proposal.pk]), content_digest(proposal)
            text = offering_undo(request, added, address, "undo_edit", edit)
        else:
            why = request.POST.get(WHY, "").strip()
            proposal = open_refused(refused, account, why or title or _changed(refused))
            text = _("Opened as a proposal. Nothing that is live has changed.")
    except DocumentError as error:
        for problem in error.problems:
            messages.error(request, said(problem))
        return None
    note(request, AuditEntry.Action.PROPOSAL, proposal, "edited" if number else "opened")
    messages.success(request, text)
    return HttpResponseRedirect(reverse("studio:proposal", args=[proposal.pk]))


def tell_refused(request: HttpRequest, refused: ChangeRefused) -> None:
    """Leave messages that say why the change was refused, with a button that sends it again: to open it as a
    proposal, or with the answer that callers are ready for it.
    """
    for finding in refused.findings:
        text = finding.said
        if finding is not refused.findings[-1]:
            messages.error(request, text)
        elif isinstance(refused, CallersUnanswered):
            messages.error(request, _with_offer(request, text, refused.asked, _("Change it anyway")))
        elif may_propose(request, refused):
            messages.error(request, _with_offer(request, text, [PROPOSE], _("Edit as a proposal")))
        else:
            messages.error(request, text)


def open_proposals() -> list[Proposal]:
    """Return up to 50 proposals that a change can be added to, newest first, without their documents."""
    states = (Proposal.State.OPEN, Proposal.State.APPROVED)
    return list(Proposal.objects.filter(state__in=states).defer("base", "document", "earlier")[:50])


def _with_offer(request: HttpRequest, text: str, answers: Iterable[str], label: str) -> SafeString:
    """Return a message with a button that sends the same form once more, with `answers`."""
    sent = [(name, value) for name, values in request.POST.lists() for value in values if name not in _OWN]
    sent += [(name, "1") for name in answers]
    fields = format_html_join("", '<input type="hidden" name="{}" value="{}">', sent)
    return format_html(
        '{} <form method="post" action="{}" class="studio-undo"><input type="hidden" '
        'name="csrfmiddlewaretoken" value="{}">{}'
        '<button class="studio-button studio-button-small">{}</button></form>',
        *(text, request.get_full_path(), get_token(request), fields, label),
    )


def is_protected(row: Model, configuration: Configuration) -> bool:
    """Return whether changes of the saved row take effect only through a proposal."""
    groups = {protection.group for protection in configuration.protections}
    if not groups:
        return False
    match row:
        case Endpoint():
            endpoint = configuration.endpoints.get(row.pk)
            module = endpoint.definition.module if endpoint is not None else ""
        case ExposedEntity():
            module = row.module.segment
        case Module():
            module = row.segment
        case _:
            module = EVERYTHING
    return EVERYTHING in groups or (module != EVERYTHING and module in groups)


def _changed(refused: ProtectionRefused) -> str:
    return refused.findings[0].subject or _("Change")
