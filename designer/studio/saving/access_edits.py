"""Changing who may call one endpoint from the permission matrix: a click on a cell, or its undo."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from django.http import Http404
from django.shortcuts import get_object_or_404

from designer.access_control.access_matrix import (
    ANONYMOUS,
    AUTHENTICATED,
    callers,
    clicked,
    is_same,
    mark_of,
    widens,
)
from designer.configuration import Configuration
from designer.configuration import Endpoint as Configured
from designer.definitions import AccessDefinition
from designer.history.access_changes import last_access_change, last_change, of_access_alone
from designer.models import Endpoint, ItemChange, Role
from designer.sentences import Sentence


class NotPossible(Exception):
    """The edit would do nothing, or not what was meant. `why` is a sentence with the reason."""

    def __init__(self, why: Sentence) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class AccessEdit:
    """A change of the callers of the endpoint with row id `id`."""

    id: int
    endpoint: Configured
    after: AccessDefinition

    @property
    def before(self) -> AccessDefinition:
        return self.endpoint.definition.access

    @property
    def called(self) -> str:
        """Return the method and path as callers know them."""
        return f"{', '.join(self.endpoint.methods)} {self.endpoint.path}"

    @property
    def callers_before(self) -> Sentence:
        return callers(self.before)

    @property
    def callers_after(self) -> Sentence:
        return callers(self.after)

    @property
    def asks(self) -> bool:
        """Return whether the edit must be confirmed: more callers may write, or anybody may call."""
        return self.opens_to_anybody or (self.endpoint.kind.writes and widens(self.before, self.after))

    @property
    def opens_to_anybody(self) -> bool:
        return self.before.authentication_required and not self.after.authentication_required

    @property
    def digest(self) -> str:
        """Return the digest of the question, so that an answer counts for this question only."""
        question = [self.id, self.before.to_json(), self.after.to_json()]
        return hashlib.sha256(json.dumps(question).encode()).hexdigest()

    @property
    def message(self) -> Sentence:
        """Return what the page says once the edit is made."""
        return Sentence(
            "Callers of %(endpoint)s changed from “%(before)s” to “%(after)s”.",
            endpoint=self.called,
            before=self.callers_before,
            after=self.callers_after,
        )

    def make(self) -> None:
        row = Endpoint.objects.get(pk=self.id)
        row.authentication_required = self.after.authentication_required
        row.caller_types = list(self.after.caller_types)
        row.save(update_fields=["authentication_required", "caller_types"])
        row.roles.set(Role.objects.filter(name__in=self.after.roles))


def click(configuration: Configuration, cell: str) -> AccessEdit:
    """Return the edit for a click on `cell`, such as `12:sales-rep#`.

    After `#` comes the mark of the access that the page showed, if any. Raises Http404 for an unknown cell,
    and NotPossible.
    """
    number, _sep, clicked_on = cell.partition(":")
    column, _sep, shown = clicked_on.partition("#")
    endpoint = configuration.endpoints.get(int(number)) if number.isdecimal() else None
    roles = {role.name for role in configuration.roles}
    if endpoint is None or endpoint.problem is not None or column not in {ANONYMOUS, AUTHENTICATED, *roles}:
        raise Http404
    access = endpoint.definition.access
    if shown and shown != mark_of(access):
        # A click turns what is there into its opposite: of something else, that is not what was meant.
        raise NotPossible(
            Sentence(
                "Somebody changed who may call %(key)s since you opened this page: %(callers)s. Nothing was "
                "changed. Look at the endpoint, then click again.",
                key=endpoint.definition.key,
                callers=callers(access),
            )
        )
    last = last_access_change(endpoint.definition.key)
    if last is not None and not roles.issuperset(last.before.roles):
        last = None  # what was before cannot be restored: a role of it is gone
    edit = AccessEdit(int(number), endpoint, clicked(access, column, last))
    if is_same(access, edit.after):
        raise NotPossible(_why_nothing(edit, column))
    return edit


def undo(configuration: Configuration, number: str) -> AccessEdit:
    """Return the edit that reverts a change of access.

    Raises Http404 for an unknown change, and NotPossible if the endpoint has been changed since.
    """
    if not number.isdecimal():
        raise Http404
    change = get_object_or_404(ItemChange, pk=number)
    access = of_access_alone(change)
    if access is None:
        raise Http404
    endpoints = configuration.endpoints.items()
    entry = next(
        ((id, endpoint) for id, endpoint in endpoints if endpoint.definition.key == change.key), None
    )
    if entry is None or entry[1].problem is not None or last_change(change.key) != change:
        raise NotPossible(
            Sentence(
                "The endpoint %(key)s has been changed since. Nothing was undone; see its versions.",
                key=change.key,
            )
        )
    missing = set(access.before.roles) - {role.name for role in configuration.roles}
    if missing:
        raise NotPossible(
            Sentence("There is no role “%(name)s” any more. Nothing was undone.", name=min(missing))
        )
    return AccessEdit(*entry, access.before)


def _why_nothing(edit: AccessEdit, column: str) -> Sentence:
    """Return why a click on a column would change nothing."""
    if column == AUTHENTICATED:
        return Sentence(
            "Every caller with a token may call %(endpoint)s already. Choose a role to narrow that.",
            endpoint=edit.called,
        )
    return Sentence(
        "“%(role)s” is the last role of %(endpoint)s: without it, every caller with a token may call. "
        "Choose “Authenticated” if you want that.",
        role=column,
        endpoint=edit.called,
    )
