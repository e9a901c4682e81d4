"""The studio's pages of API keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from designer.studio.audited_pages import State
from runtime.callers.keys.api_key import ApiKey
from runtime.callers.keys.hashed_key_pages import HashedKeyAdmin
from runtime.callers.keys.key_form import KeyForm
from runtime.callers.recordless_callers import finding_of


@admin.register(ApiKey)
class ApiKeyAdmin(HashedKeyAdmin):
    form = KeyForm
    change_form_template = "runtime/caller.html"
    made_template = "runtime/api_key_made.html"
    when_empty = _(
        "No API key yet. Machines call with API keys. "
        "Each key has roles, allowed addresses and an expiry date."
    )
    fieldsets = (
        (None, {"fields": ("name", "active")}),
        (_("Access"), {"fields": ("roles", "caller_type", "platform_user", "record")}),
        (_("Where and how long"), {"fields": ("networks", "expires_at", "rate")}),
    )
    seen = (
        (None, {"fields": ("name", "active")}),
        (_("Access"), {"fields": ("roles", "caller_type", "record")}),
        (_("Where and how long"), {"fields": ("networks", "expires_at", "rate")}),
    )
    list_display = ("name", "prefix", "role_names", "state", "expires_at", "last_used_at")
    list_filter = ("active", "roles")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        keys: QuerySet[ApiKey] = super().get_queryset(request)
        return keys.prefetch_related("roles")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], add: bool = False, **kwargs: Any
    ) -> Any:
        """Show the page with the finding about the key, and with a link to try what it may do."""
        row = kwargs.get("obj")
        if row is not None:
            context |= {"finding": finding_of(row), "caller_source": "key", "caller_name": row.name}
        return super().render_change_form(request, context, add=add, **kwargs)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:  # type: ignore[override]
        super().save_model(request, obj, form, change)
        if finding := finding_of(obj):
            self.message_user(request, finding, messages.WARNING)

    @admin.display(description=_("Roles"))
    def role_names(self, key: ApiKey) -> str:
        return ", ".join(role.name for role in key.roles.all()) or "–"

    def audited_state(self, key: ApiKey) -> Mapping[str, State]:
        """Return what the audit log compares before and after a change. The key itself is not part of it."""
        return {
            "roles": frozenset(role.name for role in key.roles.all()),
            "caller type": str(key.caller_type_id),
            "record": str(key.record or "none"),
            "rate": str(key.rate or "default"),
            **super().audited_state(key),
        }
