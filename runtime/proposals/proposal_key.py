"""Proposal keys: what pipelines open and read proposals with. They call nothing that is configured."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from runtime.callers.keys.hashed_key import HashedKey


class ProposalKey(HashedKey):
    BEGINNING = "porticoproposal"

    # No dashboard announces it: a pipeline that fails is seen at once.
    expires_at = models.DateTimeField(
        _("expires at"),
        null=True,
        blank=True,
        help_text=_("In UTC. Leave it empty for a key without an end."),
    )

    @property
    def account(self) -> str:
        """The name of the key as an author of proposals and in the audit log.

        No studio account can have this name: names of accounts have no blanks.
        """
        return f"proposal key {self.name}"
