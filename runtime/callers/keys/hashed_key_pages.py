"""The studio's pages of keys. The key itself is on the page that answers *Save*, and nowhere later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from designer.audit import note
from designer.models import AuditEntry
from designer.studio.audited_pages import State
from designer.studio.look import ModelAdmin
from designer.studio.pages.base import Crumb
from runtime.callers.keys.hashed_key import HashedKey


class HashedKeyAdmin(ModelAdmin):
    """The pages of one model of keys.

    A subclass sets `fieldsets`, `made_template`, the page that shows a new key, and `seen`, the fieldsets for
    people who may look but not change.
    """

    seen: Any = ()
    made_template = ""
    list_display: Any = ("name", "prefix", "state", "expires_at", "last_used_at")
    list_filter: Any = ("active",)
    search_fields = ("name", "prefix")
    actions = ("revoke",)

    def get_readonly_fields(self, request: HttpRequest, obj: HashedKey | None = None) -> tuple[str, ...]:
        return () if obj is None else ("prefix", "made_at", "last_used_at")

    def get_fieldsets(self, request: HttpRequest, obj: HashedKey | None = None) -> Any:
        """Return the fieldsets of the page: fewer for a new key, and others for people who may not change
        keys.
        """
        if obj is None:
            return self.fieldsets
        fieldsets = self.fieldsets if self.has_change_permission(request, obj) else self.seen
        return (*fieldsets, (_("The key"), {"fields": ("prefix", "made_at", "last_used_at")}))

    def get_form(
        self, request: HttpRequest, obj: HashedKey | None = None, change: bool = False, **kwargs: Any
    ) -> type[forms.ModelForm]:  # type: ignore[type-arg]  # no generic at run time
        """Return the form of the page; a plain one for people who may not change keys."""
        if change and not self.has_change_permission(request, obj):
            # Django then leaves all fields out of the form, and the model's own form would look for them.
            kwargs["form"] = forms.ModelForm
        form: type[forms.ModelForm] = super().get_form(request, obj, change, **kwargs)  # type: ignore[type-arg]
        return form

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], add: bool = False, **kwargs: Any
    ) -> Any:
        # After *Save* comes the page with the key, whichever button it was.
        context |= {"show_save_and_add_another": False, "show_save_and_continue": not add}
        return super().render_change_form(request, context, add=add, **kwargs)

    def save_model(self, request: HttpRequest, obj: HashedKey, form: Any, change: bool) -> None:
        """Save the key. A new key gets its prefix and hash, and the key itself goes to `response_add` with
        the request.
        """
        if not change:
            # Neither a session nor a message holds it: both are kept in the database.
            request.made_key = obj.make()  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)

    def response_add(
        self, request: HttpRequest, obj: HashedKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the new key, which nobody can see again."""
        place = f"admin:{self.opts.app_label}_{self.opts.model_name}"
        context = {
            **self.admin_site.each_context(request),
            "title": f"{capfirst(str(self.opts.verbose_name))} {obj.name}",
            "crumbs": [Crumb(capfirst(str(self.opts.verbose_name_plural)), reverse(f"{place}_changelist"))],
            "key": request.made_key,  # type: ignore[attr-defined]
            "made": obj,
            "list": reverse(f"{place}_changelist"),
            "edit": reverse(f"{place}_change", args=[obj.pk]),
        }
        return TemplateResponse(request, self.made_template, context, headers={"Cache-Control": "no-store"})

    @admin.display(description=_("State"), ordering="active")
    def state(self, key: HashedKey) -> Any:
        if not key.active:
            return _("revoked")
        return _("expired") if key.has_expired else _("valid")

    @admin.action(description=_("Revoke keys"), permissions=["change"])
    def revoke(self, request: HttpRequest, keys: QuerySet[Any]) -> None:
        """Revoke the selected keys, and note each in the audit log."""
        # Those that are revoked already get no second entry in the audit log.
        revoked = list(keys.filter(active=True))
        for key in revoked:
            note(
                request,
                AuditEntry.Action.CHANGE,
                f"{self.opts.verbose_name_raw}: {key}",
                "active: yes → no",
            )
        keys.model.objects.filter(pk__in=[key.pk for key in revoked]).update(active=False)
        sentence = ngettext(
            "%(count)s key revoked. It loses access within a minute.",
            "%(count)s keys revoked. They lose access within a minute.",
            len(revoked),
        )
        self.message_user(request, sentence % {"count": len(revoked)}, messages.SUCCESS)

    def unlogged_state(self, key: Any) -> Mapping[str, State]:
        return {"name": key.name}

    def audited_state(self, key: Any) -> Mapping[str, State]:
        """Return what the audit log compares before and after a change. The key itself is not part of it."""
        return {
            "active": key.active,
            "addresses": frozenset(key.allowed_networks),
            "expires": "never" if key.expires_at is None else f"{key.expires_at:%Y-%m-%d %H:%M} UTC",
        }
