"""The audit log of the studio."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class AuditEntry(models.Model):
    """One thing that an account did in the studio.

    The database lets nobody change an entry, nor delete it before `AUDIT_DAYS` are over. `account` is a name
    and no reference, because accounts may be deleted. `detail` has what was before and what is after. Nothing
    secret is in it: no password, key or hash.
    """

    class Action(models.TextChoices):
        LOGIN = "login", _("Logged in")
        LOGIN_FAILED = "login-failed", _("Failed to log in")
        LOGOUT = "logout", _("Logged out")
        ADD = "add", _("Added")
        CHANGE = "change", _("Changed")
        DELETE = "delete", _("Deleted")
        EXPORT = "export", _("Exported")
        IMPORT = "import", _("Imported")
        RELEASE = "release", _("Released")
        RESTORE = "restore", _("Restored")
        ACCESS = "access", _("Changed who may call")
        CONFIGURATION = "configuration", _("Changed the configuration")
        ACCEPT = "accept", _("Accepted changed metadata")
        REFRESH = "refresh", _("Refreshed metadata")
        TRY = "try", _("Tried")
        RUN = "run", _("Ran")
        TWO_FACTOR = "two-factor", _("Changed two-factor login")
        REVOKE = "revoke", _("Revoked refresh tokens")
        LIFT = "lift", _("Lifted a lock-out")
        PROPOSAL = "proposal", _("Worked on a proposal")
        PROTECTION = "protection", _("Changed protection")

    at = models.DateTimeField(_("at"), auto_now_add=True, db_index=True)
    account = models.CharField(_("account"), max_length=150, blank=True)
    address = models.CharField(_("address"), max_length=45, blank=True)
    action = models.CharField(_("action"), max_length=20, choices=Action.choices)
    subject = models.CharField(_("of what"), max_length=400, blank=True)
    detail = models.TextField(_("detail"), blank=True)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit log")
        ordering = ("-id",)
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"{self.account}: {self.get_action_display()} {self.subject}".strip()
