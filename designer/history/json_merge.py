"""A change of a JSON value, made to what the value has become since: undoing and proposals merge by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from designer.merged_order import merged_order

# What is not there; None is a value.
GONE: Any = object()
# By the name of a list, what tells its items apart. Any other list is one value.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "inputs": ("name",),
    "bindings": ("attribute",),
    "columns": ("name", "attribute"),
    "fetchers": ("name",),
    "preconditions": ("expression",),
    "acknowledgements": ("entity",),
    "example_calls": ("name",),
}
# Texts by language and name, each a part of its own; not there means none.
_TEXTS = "translations"
# Whose parts mean something only together: who may call, and who callers are.
_WHOLE = frozenset({"access", "issuers"})


class Clash(Exception):
    """Something else stands in the place of what is to be replaced."""


def replaced(old: Any, new: Any, now: Any, name: str = "") -> Any:
    """`now` with what leads from `old` to `new`; any of them may be GONE. `name` is that of the place.

    Raises Clash where both changes are of the same part.
    """
    if old == new or now == new:
        return now
    if now == old:
        return new
    if name == _TEXTS:
        return _replaced_texts(old, new, now)
    if name not in _WHOLE and all(isinstance(side, dict) for side in (old, new, now)):
        return _replaced_object(old, new, now)
    if name in _KEYS and all(_is_keyed(side, name) for side in (old, new, now)):
        return _replaced_list(old, new, now, name)
    raise Clash


def _replaced_object(old: Any, new: Any, now: Any) -> dict[str, Any]:
    found = {
        name: replaced(old.get(name, GONE), new.get(name, GONE), now.get(name, GONE), name)
        for name in dict.fromkeys((*now, *new))
    }
    return {name: value for name, value in found.items() if value is not GONE}


def _replaced_texts(old: Any, new: Any, now: Any) -> Any:
    """Two people may give something its first texts in different languages."""
    was, wanted, there = ({} if side is GONE else side for side in (old, new, now))
    languages = dict.fromkeys((*there, *wanted))
    found = {
        lcid: _replaced_object(was.get(lcid, {}), wanted.get(lcid, {}), there.get(lcid, {}))
        for lcid in sorted(languages, key=int)
    }
    return {lcid: texts for lcid, texts in found.items() if texts} or GONE


def _replaced_list(old: Any, new: Any, now: Any, name: str) -> list[Any]:
    was, wanted, there = (_keyed(side, name) for side in (old, new, now))
    if not _in_same_order(was, wanted) and not _in_same_order(was, there):
        raise Clash
    # Where the change moves items, they move; what others have added stays behind its neighbour.
    lead, other = (there, wanted) if _in_same_order(was, wanted) else (wanted, there)
    found = [
        replaced(was.get(key, GONE), wanted.get(key, GONE), there.get(key, GONE))
        for key in merged_order(lead, other)
    ]
    return [item for item in found if item is not GONE]


def _is_keyed(items: Any, name: str) -> bool:
    return items is GONE or (isinstance(items, list) and len(_keyed(items, name)) == len(items))


def _keyed(items: Any, name: str) -> dict[str, Any]:
    if items is GONE:
        return {}
    return {next((str(item[key]) for key in _KEYS[name] if item.get(key)), ""): item for item in items}


def _in_same_order(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return [key for key in one if key in other] == [key for key in other if key in one]
