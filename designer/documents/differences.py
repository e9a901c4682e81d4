"""What has changed between two JSON forms, as lines that people read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from designer.sentences import Sentence

# What names an item of a list, so that a line says “inputs.phone” and not “inputs[3]”.
_NAMES = ("name", "attribute")


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Yield a line for each change, such as `inputs.phone.max_length: 50 → 40`. `place` is where the values
    stand.
    """
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _differences_of_members(before, after, place)
        return
    named_before, named_after = _by_name(before), _by_name(after)
    if named_before is None or named_after is None:
        yield f"{place}: {_json_text(before)} → {_json_text(after)}"
    elif named_before == named_after:
        yield Sentence("%(place)s: in another order", place=place)
    else:
        yield from _differences_of_members(named_before, named_after, place)


_ABSENT: Any = object()


def _differences_of_members(before: Mapping[str, Any], after: Mapping[str, Any], place: str) -> Iterator[str]:
    """Yield a line for each member that is added (`+`) or removed (`-`), and the lines of changed members."""
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key, _ABSENT), after.get(key, _ABSENT)
        inner = f"{place}.{key}" if place else key
        if old is _ABSENT:
            yield f"{inner}: + {_json_text(new)}"
        elif new is _ABSENT:
            yield f"{inner}: - {_json_text(old)}"
        else:
            yield from differences(old, new, inner)


def _by_name(value: Any) -> dict[str, Any] | None:
    """Return the items of a list by name; None for anything but a list of items with different names."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    names = [next((str(item[name]) for name in _NAMES if name in item), "") for item in value]
    if "" in names or len(set(names)) != len(names):
        return None
    return dict(zip(names, value, strict=True))


def _json_text(value: Any) -> str:
    """Return a value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False)
