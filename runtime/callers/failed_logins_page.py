"""The studio's list of failed logins: who is locked out, and since when. Deleting a row lifts it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from designer.studio.look import ModelAdmin
from runtime.callers.failed_logins import FailedLogins


@admin.register(FailedLogins)
class FailedLoginsAdmin(ModelAdmin):
    when_empty = _("No login has failed lately. Delete a row to allow those logins again.")
    list_display = ("whose", "where", "failures", "last_at", "state")
    list_display_links = None
    search_fields = ("account", "network")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: FailedLogins | None = None) -> bool:
        return False

    @admin.display(description=_("Account"), ordering="account")
    def whose(self, row: FailedLogins) -> Any:
        """Return the account for the list."""
        return row.account or _("every account")

    @admin.display(description=_("Network"), ordering="network")
    def where(self, row: FailedLogins) -> Any:
        """Return the network for the list."""
        return row.network or _("every network")

    @admin.display(description=_("State"), ordering="refused_until")
    def state(self, row: FailedLogins) -> Any:
        """Return what a row means now: slowed down, locked out, or only counted."""
        if row.slows_down:
            return _("slowed down")
        until = row.refused_until
        if until is None or until <= dt.datetime.now(dt.UTC):
            return _("counted")
        return _("locked out until %(time)s") % {"time": f"{until:%H:%M:%S} UTC"}
