"""Logins and logouts of the studio. Those of the API are no part of its audit log."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest
from django.urls import reverse

from designer.audit.audit_entries import address_of, note_account
from designer.models import AuditEntry


@receiver(user_logged_in)
def logged_in(sender: Any, request: HttpRequest | None, user: Any, **signal: Any) -> None:
    _note_login_in_studio(request, user.get_username(), AuditEntry.Action.LOGIN)


@receiver(user_logged_out)
def logged_out(sender: Any, request: HttpRequest | None, user: Any, **signal: Any) -> None:
    # A session that has ended belongs to nobody.
    if user is not None:
        _note_login_in_studio(request, user.get_username(), AuditEntry.Action.LOGOUT)


@receiver(user_login_failed)
def login_failed(sender: Any, request: HttpRequest | None, credentials: Any, **signal: Any) -> None:
    _note_login_in_studio(request, str(credentials.get("username", "")), AuditEntry.Action.LOGIN_FAILED)


def _note_login_in_studio(request: HttpRequest | None, account: str, action: AuditEntry.Action) -> None:
    """Note what an account did, if it did so on a page of the studio."""
    path = getattr(request, "path", "")
    if request is not None and path.startswith(reverse("admin:index")):
        note_account(account, action, address=address_of(request))
