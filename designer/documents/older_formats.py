"""Documents of older formats in the words of the present one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

PRESENT = 2


def in_present_format(data: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a document in the present format. What is wrong in it stays as it is."""
    # In Python, True equals 1.
    if data.get("format") != 1 or isinstance(data["format"], bool):
        return data
    endpoints = data.get("endpoints")
    if not isinstance(endpoints, list):
        return {**data, "format": PRESENT}
    # Whether each exposed entity has a row rule, by module and segment.
    rules = {
        (item.get("module"), item.get("segment")): bool(item.get("row_rule"))
        for item in _objects(data.get("entities"))
    }
    return {
        **data,
        "format": PRESENT,
        "endpoints": [_endpoint_in_present_format(item, rules) for item in endpoints],
    }


def _endpoint_in_present_format(item: Any, rules: dict[tuple[Any, Any], bool]) -> Any:
    """Return an endpoint of format 1, in which a create ignored row rules, in the present format.

    `rules`: whether entities of the document have a row rule, by module and segment. Where a row rule may
    apply, the create goes on ignoring it, and a finding says so.
    """
    if not isinstance(item, dict) or item.get("kind") != "create":
        return item
    settings = item.get("settings", {})
    if not isinstance(settings, dict) or "may_create_outside_rule" in settings:
        return item
    module = item.get("module")
    # An entity that the document does not hold may have a row rule.
    has_rule = rules.get((module, item.get("exposure")), True) or bool(item.get("row_rule"))
    # The items of a list are records of another entity. Which one, only the platform's metadata say: any row
    # rule of the module may be that entity's.
    has_lists = any(entry.get("type") == "List" for entry in _objects(item.get("inputs")))
    lists_have_rule = has_lists and any(
        ruled for (rule_module, _), ruled in rules.items() if rule_module == module
    )
    if not has_rule and not lists_have_rule:
        return item
    return {**item, "settings": {**settings, "may_create_outside_rule": True}}


def _objects(items: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in `items`; nothing for anything but a list."""
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, dict))
