"""What can be done with a proposal on its page, such as to approve it. Each step ends with a message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from designer.audit import note
from designer.documents.problems import DocumentError
from designer.history.items import ItemKey
from designer.history.readable_versions import describe
from designer.imports.document_import import Source
from designer.models import AuditEntry, ItemChange, Proposal
from designer.proposals.contents import Contents
from designer.proposals.new_proposals import content_digest, leave_out, rebase, replace_document, undo_edit
from designer.proposals.publication import (
    approve,
    go_back,
    is_approved,
    may_be_approved_by,
    publish,
    reopen,
    require_contents,
    withdraw,
    withdraw_approval,
)
from designer.sentences import listed
from designer.studio.hidden_lists import hidden_from, words_on_hidden
from designer.studio.pages.later_changes import KEEP, keep_or_take_choices
from designer.studio.pages.uploaded_documents import uploaded_bytes
from designer.studio.pages.ways_back import CONFIRMED
from designer.studio.saving.authors import author_of
from designer.studio.saving.undo_offers import offering_undo, say_done

# How many items a message names.
_MOST_NAMED = 5
MAY_OPEN, _MAY_APPROVE, _MAY_PUBLISH = (
    "designer.add_proposal",
    "designer.approve_proposal",
    "designer.publish_proposal",
)


def possible_steps(request: HttpRequest, proposal: Proposal) -> dict[str, bool]:
    """Return what the template asks about the buttons: what the account may do with the proposal now."""
    may, is_open = request.user.has_perm, proposal.is_open
    approved = is_approved(proposal)
    return {
        "approved": approved,
        "may_edit": is_open and may(MAY_OPEN),
        "may_try": is_open and may("designer.change_endpoint"),
        "may_approve": is_open and may(_MAY_APPROVE) and not approved,
        "is_somebody_else": may_be_approved_by(proposal, request.user.get_username()),
        "may_publish": is_open and may(_MAY_PUBLISH),
        "may_withdraw": is_open and _may_withdraw(request, proposal),
        "may_go_back": proposal.state == Proposal.State.PUBLISHED and may(_MAY_PUBLISH),
    }


def _publish(request: HttpRequest, proposal: Proposal) -> None:
    require(request, _MAY_PUBLISH)
    _require_visible(request, _changed_lists(proposal))
    require_contents(proposal, request.POST["publish"])
    publish(proposal, author_of(request))
    note(request, AuditEntry.Action.PROPOSAL, proposal, "published")
    # What is protected is not undone otherwise, and the proposal has to know of it.
    _say_done(request, proposal, _("Published: it is live now."), "go_back")


def _go_back(request: HttpRequest, proposal: Proposal) -> None:
    require(request, _MAY_PUBLISH)
    # Contents that an earlier release wrote may be unreadable by now, and the version is not.
    changes = ItemChange.objects.filter(version=proposal.version)
    _require_visible(request, changes.values_list("collection", flat=True))
    restored = go_back(proposal, author_of(request), request.POST.get(CONFIRMED, ""))
    note(request, AuditEntry.Action.PROPOSAL, proposal, "taken back")
    say_done(request, _("Taken back: what was live before is live again."), restored.version)


def _approve(request: HttpRequest, proposal: Proposal) -> None:
    require(request, _MAY_APPROVE)
    _require_visible(request, _changed_lists(proposal))
    require_contents(proposal, request.POST["approve"])
    approve(proposal, request.user.get_username())
    note(request, AuditEntry.Action.PROPOSAL, proposal, "approved")
    _say_done(request, proposal, _("Approved."), "withdraw_approval")


def _withdraw_approval(request: HttpRequest, proposal: Proposal) -> None:
    require(request, _MAY_APPROVE)
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
    require(request, MAY_OPEN)
    _require_visible(request, _changed_lists(proposal))
    rebase(proposal, request.user.get_username())
    note(request, AuditEntry.Action.PROPOSAL, proposal, "took over what is live")
    _say_edited(request, proposal, _("What was changed live is part of the proposal now."))


def _replace(request: HttpRequest, proposal: Proposal) -> None:
    require(request, MAY_OPEN)
    if (document := request.FILES.get("document")) is None:
        raise DocumentError([_("Choose the file to upload.")])
    source, hidden = Source.of_document(uploaded_bytes(document)), hidden_from(request)
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
    require(request, MAY_OPEN)
    items = [item for item, choice in keep_or_take_choices(request).items() if choice == KEEP]
    if not items:
        raise DocumentError([_("Choose the items to leave out.")])
    _require_visible(request, (field for field, _key in items))
    leave_out(proposal, items, request.user.get_username())
    note(request, AuditEntry.Action.PROPOSAL, proposal, "left out what was changed before")
    _say_edited(request, proposal, _("The proposal leaves the chosen items as they are."))


def _undo_edit(request: HttpRequest, proposal: Proposal) -> None:
    require(request, MAY_OPEN)
    _require_visible(request, _hidden_lists_of_edit(request, proposal))
    undo_edit(proposal, request.POST["undo_edit"])
    # Undoing twice brings the edit back: both are the same step.
    note(request, AuditEntry.Action.PROPOSAL, proposal, "undid the last change of what it proposes")
    # `undo_edit` has changed the row only, and the message's button is for the contents of now.
    proposal.refresh_from_db()
    _say_edited(request, proposal, _("Undone. Nothing that is live has changed."))


STEPS: Mapping[str, Any] = {
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


def _say_done(request: HttpRequest, proposal: Proposal, text: str, undoing: str) -> None:
    """Leave a message that a step was made, with a button for the step `undoing`, which takes it back."""
    address = reverse("studio:proposal", args=[proposal.pk])
    # Some steps count only for these contents.
    messages.success(request, offering_undo(request, text, address, undoing, content_digest(proposal)))


def _say_edited(request: HttpRequest, proposal: Proposal, text: str) -> None:
    """Leave a message that what is proposed has changed, with a button that takes this edit back."""
    _say_done(request, proposal, text, "undo_edit")


def require(request: HttpRequest, permission: str) -> None:
    if not request.user.has_perm(permission):
        raise PermissionDenied


def _changed_lists(proposal: Proposal) -> Iterator[str]:
    """Yield the name of the document's list for each change of the proposal. Raises DocumentError."""
    return (change.collection.field for change in Contents.of(proposal).changes)


def _hidden_lists_of_edit(request: HttpRequest, proposal: Proposal) -> Iterator[str]:
    """Yield the lists that the account may not see, and of which the last edit has changed what the proposal
    does to them. Raises DocumentError.
    """
    for field in hidden_from(request):
        edited, before = (
            [change for change in contents.changes if change.collection.field == field]
            for contents in (Contents.of(proposal), Contents.before_edit(proposal))
        )
        if edited != before:
            yield field


def _require_visible(request: HttpRequest, changed: Iterable[str]) -> None:
    """Check that the account may see all of the lists in `changed`: nobody decides about what their page does
    not show. Raises DocumentError.
    """
    if unseen := words_on_hidden(changed, request):
        raise DocumentError([unseen])


def _may_withdraw(request: HttpRequest, proposal: Proposal) -> bool:
    """Return whether the account has opened the proposal, or could publish it."""
    is_own = request.user.has_perm(MAY_OPEN) and proposal.account == request.user.get_username()
    return is_own or bool(request.user.has_perm(_MAY_PUBLISH))
