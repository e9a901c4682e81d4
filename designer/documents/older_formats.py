"""Documents of older formats in the words of the present one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

PRESENT = 2


def modernised(data: dict[str, Any]) -> dict[str, Any]:
    """A document's JSON in the present format, as far as it is one at all: what is wrong stays as it is."""
    if data.get("format") != 1 or isinstance(data["format"], bool):
        return data
    endpoints = data.get("endpoints")
    if not isinstance(endpoints, list):
        return {**data, "format": PRESENT}
    rules = {
        (item.get("module"), item.get("segment")): bool(item.get("row_rule"))
        for item in _objects(data.get("entities"))
    }
    return {**data, "format": PRESENT, "endpoints": [_endpoint(item, rules) for item in endpoints]}


def _endpoint(item: Any, rules: dict[tuple[Any, Any], bool]) -> Any:
    """In format 1 creates paid no heed to row rules. Where one applies they go on so, which is a finding."""
    if not isinstance(item, dict) or item.get("kind") != "create":
        return item
    settings = item.get("settings", {})
    if not isinstance(settings, dict) or "may_create_outside_rule" in settings:
        return item
    module = item.get("module")
    # An entity that the document does not hold may have one.
    own = rules.get((module, item.get("exposure")), True) or bool(item.get("row_rule"))
    has_lists = any(known.get("type") == "List" for known in _objects(item.get("inputs")))
    in_lists = has_lists and any(ruled for (place, _), ruled in rules.items() if place == module)
    if not own and not in_lists:
        return item
    return {**item, "settings": {**settings, "may_create_outside_rule": True}}


def _objects(items: Any) -> Iterator[dict[str, Any]]:
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, dict))
