"""Who changes the configuration in the studio, and why."""

from __future__ import annotations

from django.http import HttpRequest

from designer.audit.audit_entries import address_of
from designer.history.administration import PERMISSIONS
from designer.history.broken_callers import QUESTIONS
from designer.history.recording import Author, Origin
from designer.history.write_access import PERMISSION

# The field of every form that changes something, for those who want to say why.
WHY = "_why"


def typed_text(request: HttpRequest, name: str) -> str:
    """Return what was typed into a field that no form checks, without blanks at its ends."""
    # Not every database can store a NUL character.
    return request.POST.get(name, "").replace("\0", "").strip()


def author_of(request: HttpRequest, origin: Origin = Origin.STUDIO, note: str = "") -> Author:
    """Return the account of the request as the author of a change. `note` counts where nobody typed one."""
    return Author(
        request.user.get_username(),
        origin,
        typed_text(request, WHY) or note,
        may_change_write_access=request.user.has_perm(PERMISSION),
        may_administer=request.user.has_perms(PERMISSIONS),
        address=address_of(request),
        answered=[name for name in QUESTIONS if name in request.POST],
    )
