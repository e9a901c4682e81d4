"""Who may change the metadata: the service's own account, and users with a role that customizes."""

from __future__ import annotations

from typing import Final

from crmbox.webapi.errors import WebApiError
from crmbox.webapi.request import Request

ROLES: Final = frozenset({"System Administrator", "System Customizer"})


def check_customizer(request: Request) -> None:
    """Raises WebApiError (403)."""
    if request.user == request.platform.who():
        return
    if not ROLES & set(request.platform.user(request.user).security_roles):
        raise WebApiError(
            403, "0x80040220", f"The user {request.user} is missing the privilege prvWriteEntity."
        )
