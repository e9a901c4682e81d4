"""Writing the audit log."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.utils.module_loading import import_string
from django.utils.translation import override

from designer.models import AuditEntry

_LONGEST_SUBJECT, _LONGEST_DETAIL, _LONGEST_ACCOUNT = 400, 20_000, 150


def note(request: HttpRequest, action: AuditEntry.Action, subject: object = "", detail: object = "") -> None:
    """Note what the account of `request` does. Nothing secret, and no typed values, belong into `detail`."""
    note_account(request.user.get_username(), action, subject, detail, address=address_of(request))


def note_account(
    account: str, action: AuditEntry.Action, subject: object = "", detail: object = "", *, address: str = ""
) -> None:
    """Note what an account does, by its name. Longer texts are cut. `address` is the network address."""
    # The log is in one language, whoever did it and whoever reads it.
    with override("en"):
        AuditEntry.objects.create(
            account=_text_for_column(account, _LONGEST_ACCOUNT),
            address=address,
            action=action,
            subject=_text_for_column(subject, _LONGEST_SUBJECT),
            detail=_text_for_column(detail, _LONGEST_DETAIL),
        )


def address_of(request: HttpRequest) -> str:
    """Return the network address of the caller, found in the same way as for the count of failed logins."""
    find_address = import_string(settings.AXES_CLIENT_IP_CALLABLE)
    # The longest form of an IPv6 address has 45 characters, as many as the column takes.
    return str(find_address(request) or "")[:45]


def _text_for_column(text: object, longest: int) -> str:
    """Return the text that a column of `longest` characters takes: without NUL, and cut with an ellipsis."""
    # A failed login may be tried with anything, and no database keeps a NUL.
    clean = str(text).replace("\0", "�")
    return clean if len(clean) <= longest else f"{clean[: longest - 1]}…"
