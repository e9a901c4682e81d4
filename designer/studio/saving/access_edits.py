"""Changing who may call one endpoint from the permission matrix: a click on a cell, or its undo."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404
from django.shortcuts import get_object_or_404

from designer.access_control.access_matrix import (
    ANONYMOUS,
    AUTHENTICATED,
    access_after_click,
    callers_in_words,
    digest_of_access,
    is_same_access,
)
from designer.configuration import Configuration
from designer.configuration import Endpoint as Configured
from designer.definitions import AccessDefinition
from designer.history.access_changes import change_of_access_alone, last_access_change, last_change
from designer.models import Endpoint, ItemChange, Role
from designer.sentences import Sentence
from designer.studio.saving.opened_access import OpenedAccess
from designer.studio.sent_numbers import sent_number


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
        """The callers as the configuration has them."""
        return self.endpoint.definition.access

    @property
    def method_and_path(self) -> str:
        """The method and path, as callers know the endpoint."""
        return self.endpoint.methods_and_path

    @property
    def callers_before(self) -> Sentence:
        return callers_in_words(self.before, beside=self.after)

    @property
    def callers_after(self) -> Sentence:
        return callers_in_words(self.after, beside=self.before)

    @property
    def needs_confirmation(self) -> bool:
        """Whether somebody has to confirm the edit first: more callers may write, or anybody may call."""
        return bool(self.opened.warnings)

    @property
    def opened(self) -> OpenedAccess:
        """What the edit opens."""
        return OpenedAccess(
            self.id,
            self.before,
            self.after,
            writes=self.endpoint.kind.writes,
            is_draft=not self.endpoint.definition.enabled,
        )

    @property
    def digest(self) -> str:
        """The digest of the question whether the edit is meant. An answer counts for this question only."""
        return self.opened.digest

    @property
    def message(self) -> Sentence:
        """What the page says once the edit is made."""
        return Sentence(
            "Callers of %(endpoint)s changed from “%(before)s” to “%(after)s”.",
            endpoint=self.method_and_path,
            before=self.callers_before,
            after=self.callers_after,
        )

    def make(self) -> None:
        """Store the callers of the endpoint."""
        row = Endpoint.objects.get(pk=self.id)
        row.authentication_required = self.after.authentication_required
        row.caller_types = list(self.after.caller_types)
        row.save(update_fields=["authentication_required", "caller_types"])
        row.roles.set(Role.objects.filter(name__in=self.after.roles))


def edit_by_click(configuration: Configuration, cell: str) -> AccessEdit:
    """Return the edit for a click on `cell`, such as `12:sales-rep#0a1b2c3d4e5f`. It is not made yet.

    Before `:` stands the row id of the endpoint, and after it the column: a role, `ANONYMOUS` or
    `AUTHENTICATED`. After `#` comes the digest of the access that the page showed, if any. Raises Http404 for
    an unknown cell, and NotPossible.
    """
    number, _colon, column_and_digest = cell.partition(":")
    column, _hash, shown_digest = column_and_digest.partition("#")
    id, roles = sent_number(number), {role.name for role in configuration.roles}
    if id is None or column not in {ANONYMOUS, AUTHENTICATED, *roles}:
        raise Http404
    endpoint = configuration.endpoints.get(id)
    if endpoint is None or endpoint.problem is not None:
        raise Http404
    access = endpoint.definition.access
    if shown_digest and shown_digest != digest_of_access(access):
        # A click switches the column. Whoever saw it the other way would switch it the wrong way.
        raise NotPossible(
            Sentence(
                "Somebody changed who may call %(key)s since you opened this page: %(callers)s. Nothing was "
                "changed. Look at the endpoint, then click again.",
                key=endpoint.definition.key,
                callers=callers_in_words(access),
            )
        )
    last = last_access_change(endpoint.definition.key)
    if last is not None and not roles.issuperset(last.before.roles):
        last = None  # the access before it cannot be restored: one of its roles is gone
    edit = AccessEdit(id, endpoint, access_after_click(access, column, last))
    if is_same_access(access, edit.after):
        raise NotPossible(_why_nothing(edit, column))
    return edit


def edit_by_undo(configuration: Configuration, number: str) -> AccessEdit:
    """Return the edit that reverts the recorded change with the id `number`. It is not made yet.

    Raises Http404 for an unknown change, and for one that changed more than access. Raises NotPossible if the
    endpoint has been changed since.
    """
    change = get_object_or_404(ItemChange, pk=sent_number(number))
    access = change_of_access_alone(change)
    if access is None:
        raise Http404
    endpoints = configuration.endpoints.items()
    # By key, as the change knows the endpoint: the row of an endpoint that was restored has another id.
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
            endpoint=edit.method_and_path,
        )
    return Sentence(
        "“%(role)s” is the last role of %(endpoint)s: without it, every caller with a token may call. "
        "Choose “Authenticated” if you want that.",
        role=column,
        endpoint=edit.method_and_path,
    )
