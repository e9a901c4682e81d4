"""Changes of who may call an endpoint, out of its versions."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db.models import QuerySet

from designer.definitions import AccessDefinition
from designer.models import ItemChange

_ENDPOINTS = "endpoints"


class AccessChange(NamedTuple):
    """A change of who may call an endpoint."""

    before: AccessDefinition
    after: AccessDefinition


def last_access_change(key: str) -> AccessChange | None:
    """Return the last change of access since the endpoint with `key` was created; None without one.

    A change and the one that directly reverts it do not count: after Anonymous was switched on and off, the
    last change is the one before both.
    """
    lasting_changes: list[AccessChange] = []
    for change in _changes_of_endpoint(key).reverse().iterator():
        if change.before is None or change.after is None:
            # The endpoint was created or removed: its access starts anew.
            lasting_changes.clear()
            continue
        before, after = _access(change.before), _access(change.after)
        # The change takes back the one before it.
        if lasting_changes and after == lasting_changes[-1].before:
            lasting_changes.pop()
        elif before != after:
            lasting_changes.append(AccessChange(before, after))
    return lasting_changes[-1] if lasting_changes else None


def last_change(key: str) -> ItemChange | None:
    """Return the last recorded change of the endpoint with `key`; None without one."""
    return _changes_of_endpoint(key).first()


def change_of_access_alone(change: ItemChange) -> AccessChange | None:
    """Return the change of access that `change` is; None when it changes anything else, or no access."""
    if change.collection != _ENDPOINTS or change.before is None or change.after is None:
        return None
    if _without_access(change.before) != _without_access(change.after):
        return None
    return AccessChange(_access(change.before), _access(change.after))


def _changes_of_endpoint(key: str) -> QuerySet[ItemChange]:
    """Return the recorded changes of the endpoint with `key`, the newest first."""
    return ItemChange.objects.filter(collection=_ENDPOINTS, key=key).order_by("-id")


def _access(content: dict[str, Any]) -> AccessDefinition:
    """Return who may call an endpoint. `content` is its JSON, which leaves out defaults."""
    return AccessDefinition.model_validate(content.get("access", {}))


def _without_access(content: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of an endpoint without who may call it."""
    return {name: value for name, value in content.items() if name != "access"}
