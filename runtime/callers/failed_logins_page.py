"""The studio's list of failed logins: who is locked out, and since when. An administrator lifts it here."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from designer.studio.look import ModelAdmin
from runtime.callers.failed_logins import FailedLogins


@admin.register(FailedLogins)
class FailedLoginsAdmin(ModelAdmin):
    when_empty = _("No login has failed lately. Accounts and networks that are locked out are listed here.")
    list_display = ("whose", "where", "failures", "last_at", "state")
    list_display_links = None
    search_fields = ("account", "network")
    actions = ("lift",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: FailedLogins | None = None) -> bool:
        return False

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)
        # Lifting is what deleting a row does.
        actions.pop("delete_selected", None)
        return actions

    @admin.display(description=_("Account"), ordering="account")
    def whose(self, row: FailedLogins) -> Any:
        return row.account or _("every account")

    @admin.display(description=_("Network"), ordering="network")
    def where(self, row: FailedLogins) -> Any:
        return row.network or _("every network")

    @admin.display(description=_("State"), ordering="refused_until")
    def state(self, row: FailedLogins) -> Any:
        if row.slows_down:
            return _("slowed down")
        until = row.refused_until
        if until is None or until <= dt.datetime.now(dt.UTC):
            return _("counted")
        return _("locked out until %(time)s") % {"time": f"{until:%H:%M:%S} UTC"}

    @admin.action(description=_("Lift: allow logins again"), permissions=["delete"])
    def lift(self, request: HttpRequest, rows: QuerySet[FailedLogins]) -> None:
        self.log_deletions(request, rows)
        rows.delete()
        self.message_user(request, _("They may log in again at once."), messages.SUCCESS)
