"""The studio's pages of proposal keys."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from runtime.callers.keys.hashed_key_pages import HashedKeyAdmin


class ProposalKeyAdmin(HashedKeyAdmin):
    made_template = "runtime/proposal_key_made.html"
    when_empty = _("No proposal key yet. Pipelines open and read proposals with proposal keys.")
    fieldsets = (
        (None, {"fields": ("name", "active")}),
        (_("Where and how long"), {"fields": ("networks", "expires_at")}),
    )
    seen = fieldsets
