"""Acknowledging, on an endpoint's page, that the endpoint reaches an entity past its row rules."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _

from designer.audit.audit_entries import note
from designer.history.recording import recording
from designer.history.refused_changes import ChangeRefused
from designer.history.write_access import PERMISSION
from designer.loading import latest
from designer.models import AuditEntry, Endpoint
from designer.overview import overview
from designer.readiness.rules.reach_rules import entity_of
from designer.studio.saving.authors import author_of
from designer.studio.saving.refusal_messages import tell_refused
from designer.studio.saving.refused_as_proposal import open_as_proposal
from designer.studio.saving.undo_offers import say_done

_LONGEST_REASON = 500


def change_acknowledgements(request: HttpRequest, row: Endpoint) -> None:
    """Acknowledge or withdraw, as a button of the page asks, and leave a message that says so, or why it was
    refused. Raises PermissionDenied and Http404.
    """
    try:
        _acknowledge_or_withdraw(request, row)
    except ChangeRefused as refused:
        if not open_as_proposal(request, refused):
            tell_refused(request, refused)


def _acknowledge_or_withdraw(request: HttpRequest, row: Endpoint) -> None:
    if entity := request.POST.get("withdraw", ""):
        _withdraw(request, row, entity)
    else:
        _acknowledge(request, row, request.POST.get("entity", ""))


def _acknowledge(request: HttpRequest, row: Endpoint, entity: str) -> None:
    """Store that the endpoint reaches `entity` past row rules on purpose, if it has such a finding and there
    is a reason.
    """
    if not request.user.has_perm(PERMISSION):
        raise PermissionDenied
    # The page may ask for the reason in several places: the one that was filled in counts.
    # Not every database can store a NUL character.
    reasons = (text.replace("\0", "").strip() for text in request.POST.getlist(f"reason-{entity}"))
    reason = next((text for text in reasons if text), "")[:_LONGEST_REASON]
    # Findings about something else have the entity "".
    if entity not in {entity_of(finding) for finding in overview().of(row.pk)} - {""}:
        messages.error(
            request, _("Nothing was acknowledged: the saved endpoint has no such finding. Save it first.")
        )
    elif not reason:
        messages.error(request, _("Write a reason, and acknowledge again."))
    else:
        with recording(author_of(request, note=reason)) as recorded:
            timestamp, account = timezone.now().isoformat(timespec="seconds"), request.user.get_username()
            acknowledgement = {"entity": entity, "reason": reason, "account": account, "at": timestamp}
            stored = _stored(row)
            is_late = any(kept["entity"] == entity for kept in stored.acknowledgements)
            if not is_late:
                _store(stored, [*stored.acknowledgements, acknowledgement])
        if is_late:
            text = _("Nothing was changed: somebody else has acknowledged this since you opened the page.")
            messages.error(request, text)
            return
        _note(request, row, f"acknowledged that it reaches {entity} past row rules")
        say_done(request, _("Acknowledged."), recorded.version)


def _withdraw(request: HttpRequest, row: Endpoint, entity: str) -> None:
    """Remove the acknowledgement for `entity`, if there is one."""
    with recording(author_of(request)) as recorded:
        stored = _stored(row)
        others = [kept for kept in stored.acknowledgements if kept["entity"] != entity]
        is_there = len(others) < len(stored.acknowledgements)
        if is_there:
            _store(stored, others)
    if not is_there:
        return
    _note(request, row, f"withdrew that it reaches {entity} past row rules")
    say_done(request, _("The acknowledgement was withdrawn."), recorded.version)


def _stored(row: Endpoint) -> Endpoint:
    """Return the row anew, while others who save wait. Raises Http404 when somebody else has deleted it."""
    return get_object_or_404(Endpoint, pk=row.pk)


def _store(row: Endpoint, acknowledgements: list[dict[str, str]]) -> None:
    row.acknowledgements = acknowledgements
    row.save(update_fields=["acknowledgements"])


def _note(request: HttpRequest, row: Endpoint, description: str) -> None:
    note(request, AuditEntry.Action.CHANGE, latest().endpoints[row.pk].definition.key, description)
