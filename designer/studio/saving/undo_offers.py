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

# The models that have the rights for the items of a collection. Endpoints have one by their kind.
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
    """Leave a message that something was changed, with a button that undoes `version`, if there is one."""
    if version is not None:
        text = offering_undo(request, text, reverse("studio:undo"), "version", version)
    messages.success(request, text)


def may_undo(request: HttpRequest, changes: Iterable[ItemChange]) -> bool:
    """Return whether the account may revert these changes, by its rights on the pages of the items."""
    hidden = hidden_from(request)
    may_restore = request.user.has_perm("designer.restore")
    return all(
        change.collection not in hidden and (may_restore or request.user.has_perm(_permission(change)))
        for change in changes
    )


def undoable(version: Version) -> bool:
    """Return whether a version can be undone.

    The first one, the state before versions were recorded, cannot.
    """
    return version.origin != Version.Origin.START


def _permission(change: ItemChange) -> str:
    """Return the permission of the admin that undoing the change takes: to undo an addition is to delete."""
    verb = "delete" if change.before is None else "add" if change.after is None else "change"
    return f"designer.{verb}_{_MODELS.get(change.collection) or _endpoint_model(change)}"


def _endpoint_model(change: ItemChange) -> str:
    """Return the model whose rights count for an endpoint: global option sets have a model of their own."""
    kind = KINDS.get((change.after or change.before or {}).get("kind", ""))
    return "optionset" if kind is not None and kind.scope is Scope.GLOBAL else "endpoint"


def offering_undo(request: HttpRequest, text: Any, address: str, name: str, value: int | str) -> SafeString:
    """Return `text` with a button that sends `name` and `value` to `address`.

    The button has a form of its own, as messages are outside the form of the page.
    """
    return format_html(
        '{} <form class="studio-undo" method="post" action="{}"><input type="hidden" '
        'name="csrfmiddlewaretoken" value="{}"><button class="studio-button studio-button-small" '
        'name="{}" value="{}">{}</button></form>',
        *(text, address, get_token(request), name, value, _("Undo")),
    )
