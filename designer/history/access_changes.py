"""Changes of who may call an endpoint, out of its versions."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db.models import QuerySet

from designer.definitions import AccessDefinition
from designer.models import ItemChange

_ENDPOINTS = "endpoints"


class AccessChange(NamedTuple):
    before: AccessDefinition
    after: AccessDefinition


def last_access_change(key: str) -> AccessChange | None:
    """The change that brought the access of the endpoint with `key`; None where it is what it began with.

    A change that was taken back does not count: after Anonymous on and off, the last is the one before these.
    """
    standing: list[AccessChange] = []
    for change in _changes(key).reverse().iterator():
        if change.before is None or change.after is None:
            standing.clear()
            continue
        before, after = _access(change.before), _access(change.after)
        if standing and after == standing[-1].before:
            standing.pop()
        elif before != after:
            standing.append(AccessChange(before, after))
    return standing[-1] if standing else None


def last_change(key: str) -> ItemChange | None:
    """The last change of the endpoint with `key`, whatever it was."""
    return _changes(key).first()


def of_access_alone(change: ItemChange) -> AccessChange | None:
    """What `change` did to who may call; None where it did anything else, or nothing of the kind."""
    if change.collection != _ENDPOINTS or change.before is None or change.after is None:
        return None
    if _rest(change.before) != _rest(change.after):
        return None
    return AccessChange(_access(change.before), _access(change.after))


def _changes(key: str) -> QuerySet[ItemChange]:
    return ItemChange.objects.filter(collection=_ENDPOINTS, key=key).order_by("-id")


def _access(content: dict[str, Any]) -> AccessDefinition:
    return AccessDefinition.model_validate(content.get("access", {}))


def _rest(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name != "access"}
