"""The studio's pages of API keys. The key itself is on the page that answers *Save*, and nowhere later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from designer.audit import note
from designer.models import AuditEntry
from designer.studio.audited import State
from designer.studio.look import ModelAdmin
from designer.studio.pages.base import Crumb
from runtime.callers.keys.api_key import ApiKey
from runtime.callers.keys.key_form import KeyForm
from runtime.callers.recordless_callers import finding_of

# What those read who may look but not change.
_SEEN = (
    (None, {"fields": ("name", "active")}),
    (_("What it may do"), {"fields": ("roles", "caller_type", "record")}),
    (_("Where and how long"), {"fields": ("networks", "expires_at", "rate")}),
)
_LIST = "admin:runtime_apikey_changelist"


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):
    form = KeyForm
    change_form_template = "runtime/caller.html"
    when_empty = _(
        "No API key yet. Machines call with API keys. "
        "Each key has roles, allowed addresses and an expiry date."
    )
    fieldsets = (
        (None, {"fields": ("name", "active")}),
        (_("What it may do"), {"fields": ("roles", "caller_type", "platform_user", "record")}),
        (_("Where and how long"), {"fields": ("networks", "expires_at", "rate")}),
    )
    list_display = ("name", "prefix", "role_names", "state", "expires_at", "last_used_at")
    list_filter = ("active", "roles")
    search_fields = ("name", "prefix")
    actions = ("revoke",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        keys: QuerySet[ApiKey] = super().get_queryset(request)
        return keys.prefetch_related("roles")

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        return () if obj is None else ("prefix", "made_at", "last_used_at")

    def get_fieldsets(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        if obj is None:
            return self.fieldsets
        known = self.fieldsets if self.has_change_permission(request, obj) else _SEEN
        return (*known, (_("The key"), {"fields": ("prefix", "made_at", "last_used_at")}))

    def get_form(
        self, request: HttpRequest, obj: ApiKey | None = None, change: bool = False, **kwargs: Any
    ) -> type[forms.ModelForm]:  # type: ignore[type-arg]  # no generic at run time
        if change and not self.has_change_permission(request, obj):
            kwargs["form"] = forms.ModelForm
        form: type[forms.ModelForm] = super().get_form(request, obj, change, **kwargs)  # type: ignore[type-arg]
        return form

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], add: bool = False, **kwargs: Any
    ) -> Any:
        # After *Save* comes the page with the key, whichever button it was.
        context |= {"show_save_and_add_another": False, "show_save_and_continue": not add}
        row = kwargs.get("obj")
        context["finding"] = "" if row is None else finding_of(row)
        return super().render_change_form(request, context, add=add, **kwargs)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        if not change:
            # Neither a session nor a message holds it: both are kept in the database.
            request.made_key = obj.make()  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)
        if found := finding_of(obj):
            self.message_user(request, found, messages.WARNING)

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("API key %(name)s") % {"name": obj.name},
            "crumbs": [Crumb(_("API keys"), reverse(_LIST))],
            "key": request.made_key,  # type: ignore[attr-defined]
            "made": obj,
        }
        return TemplateResponse(
            request, "runtime/key_made.html", context, headers={"Cache-Control": "no-store"}
        )

    @admin.display(description=_("Roles"))
    def role_names(self, key: ApiKey) -> str:
        return ", ".join(role.name for role in key.roles.all()) or "–"

    @admin.display(description=_("State"), ordering="active")
    def state(self, key: ApiKey) -> Any:
        if not key.active:
            return _("revoked")
        return _("expired") if key.has_expired else _("good")

    @admin.action(description=_("Revoke API keys"), permissions=["change"])
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        revoked = list(keys.filter(active=True))
        for key in revoked:
            note(request, AuditEntry.Action.CHANGE, f"API key: {key}", "active: yes → no")
        ApiKey.objects.filter(pk__in=[key.pk for key in revoked]).update(active=False)
        said = ngettext(
            "%(count)s API key revoked. It loses access within a minute.",
            "%(count)s API keys revoked. They lose access within a minute.",
            len(revoked),
        )
        self.message_user(request, said % {"count": len(revoked)}, messages.SUCCESS)

    def audited_state(self, key: ApiKey) -> Mapping[str, State]:
        return {
            "active": key.active,
            "roles": frozenset(key.roles.values_list("name", flat=True)),
            "caller type": str(key.caller_type_id),
            "record": str(key.record or "none"),
            "addresses": frozenset(key.allowed_networks),
            "expires": "never" if key.expires_at is None else f"{key.expires_at:%Y-%m-%d %H:%M} UTC",
        }
