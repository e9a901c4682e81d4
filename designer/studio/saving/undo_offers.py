"""Messages about a change offer to undo it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from designer.history.items import ORDER
from designer.kinds import KINDS, Scope
from designer.models import ItemChange, Version
from designer.studio.hidden_lists import hidden_from

_MODELS = {
    "roles": "role",
    "caller_types": "callertype",
    "user_properties": "userproperty",
    ORDER: "userproperty",
    "issuers": "issuer",
    "modules": "module",
    "entities": "exposedentity",
}


def say_done(request: HttpRequest, text: Any, version: int | None) -> None:
    """Say that something was changed, with a button that undoes `version`. None: nothing that has one."""
    messages.success(request, text if version is None else _with_undo(request, text, version))


def may_undo(request: HttpRequest, changes: Iterable[ItemChange]) -> bool:
    """Whether the account may make these changes the other way round on the pages of what they are about."""
    hidden = hidden_from(request)
    may_restore = request.user.has_perm("designer.restore")
    return all(
        change.collection not in hidden and (may_restore or request.user.has_perm(_permission(change)))
        for change in changes
    )


def undoable(version: Version) -> bool:
    """What was there before versions began was made by nobody, and is nobody's to undo."""
    return version.origin != Version.Origin.START


def _permission(change: ItemChange) -> str:
    verb = "delete" if change.before is None else "add" if change.after is None else "change"
    return f"designer.{verb}_{_MODELS.get(change.collection) or _endpoint_model(change)}"


def _endpoint_model(change: ItemChange) -> str:
    kind = KINDS.get((change.after or change.before or {}).get("kind", ""))
    return "optionset" if kind is not None and kind.scope is Scope.GLOBAL else "endpoint"


def _with_undo(request: HttpRequest, text: Any, version: int) -> SafeString:
    """A form of its own: messages stand outside of the page's."""
    return format_html(
        '{} <form class="studio-undo" method="post" action="{}"><input type="hidden" '
        'name="csrfmiddlewaretoken" value="{}"><button class="studio-button studio-button-small" '
        'name="version" value="{}">{}</button></form>',
        text,
        reverse("studio:undo"),
        get_token(request),
        version,
        _("Undo"),
    )
