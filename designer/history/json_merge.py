"""A change of a JSON value, made to what the value has become since: undoing and proposals merge by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from designer.history.merged_order import merged_order

# Stands for a missing value; None is a value.
GONE: Any = object()
# The members that tell the items of a list apart, by the name of the list. Any other list is one value.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "inputs": ("name",),
    "bindings": ("attribute",),
    "columns": ("name", "attribute"),
    "fetchers": ("name",),
    "preconditions": ("expression",),
    "acknowledgements": ("entity",),
    "example_calls": ("name",),
}
# By the name of a list: the member by which an item is known again when its key changes. Items of other lists
# are known again by all members but their key.
_KEPT: Mapping[str, str] = {"columns": "attribute"}
# Texts by language and name, each of which merges by itself. Without the member there are no texts.
_TEXTS = "translations"
# Values whose parts mean something only together, so they are one value: who may call, and who callers are.
_WHOLE = frozenset({"access", "issuers"})


class Clash(Exception):
    """Two changes of the same part cannot be merged."""


def with_change(old: Any, new: Any, now: Any, name: str = "") -> Any:
    """Return `now` with the change from `old` to `new` made to it.

    Any of the three, and the result, may be GONE. `name` is the name of the member, or of the list of the
    document, that they are values of. Raises Clash when `now` has another change of the same part.
    """
    if old == new or now == new:
        return now
    if now == old:
        return new
    if name == _TEXTS:
        return _merged_texts(old, new, now)
    if name not in _WHOLE and all(isinstance(side, dict) for side in (old, new, now)):
        return _merged_object(old, new, now)
    if name in _KEYS and all(_is_keyed(side, name) for side in (old, new, now)):
        return _merged_list(old, new, now, name)
    raise Clash


def _merged_object(old: Any, new: Any, now: Any) -> dict[str, Any]:
    """Return the object `now` with the change from `old` to `new` made to it, member by member."""
    members = {
        name: with_change(old.get(name, GONE), new.get(name, GONE), now.get(name, GONE), name)
        for name in dict.fromkeys((*now, *new))
    }
    return {name: value for name, value in members.items() if value is not GONE}


def _merged_texts(old: Any, new: Any, now: Any) -> Any:
    """Return the translations `now` with the change from `old` to `new` made to them.

    Each is `{lcid: {name: text}}`, or GONE. Each text merges by itself: two people may add the first texts in
    different languages, and that is no clash.
    """
    old_texts, new_texts, present_texts = ({} if side is GONE else side for side in (old, new, now))
    # A language that only `old` has was removed by both.
    languages = dict.fromkeys((*present_texts, *new_texts))
    texts_by_lcid = {
        lcid: _merged_object(old_texts.get(lcid, {}), new_texts.get(lcid, {}), present_texts.get(lcid, {}))
        for lcid in sorted(languages, key=int)
    }
    return {lcid: texts for lcid, texts in texts_by_lcid.items() if texts} or GONE


def _merged_list(old: Any, new: Any, now: Any, name: str) -> list[Any]:
    """Merge lists whose items are told apart by a key: item by item, and then their order.

    Raises Clash where both sides have put the items into another order, or given one item different keys.
    """
    old_items, new_items, present_items = (_keyed(side, name) for side in (old, new, now))
    if not _are_in_same_order(old_items, new_items) and not _are_in_same_order(old_items, present_items):
        raise Clash
    if list(renamed_twice(old_items, new_items, present_items, partial(_content_without_key, name))):
        raise Clash
    # Where the change moves items, they move; what others have added stays behind its neighbour.
    lead, other = (
        (present_items, new_items) if _are_in_same_order(old_items, new_items) else (new_items, present_items)
    )
    items = [
        with_change(old_items.get(key, GONE), new_items.get(key, GONE), present_items.get(key, GONE))
        for key in merged_order(lead, other)
    ]
    return [item for item in items if item is not GONE]


def renamed_twice(
    old: Mapping[Any, Any],
    new: Mapping[Any, Any],
    now: Mapping[Any, Any],
    content: Callable[[Any, Any], Any],
) -> Iterator[Any]:
    """Yield the keys in `old` of items to which both `new` and `now` have given other keys.

    Merged key by key, one item would become two. `content` returns, for a key and its item, what stays of the
    item when its key changes: an item with a new key and the same content is the old one, renamed.
    """
    keys_gone = [key for key in old if key not in new and key not in now]
    if not keys_gone:
        # Most changes rename nothing. Without this, all of thousands of items would be compared.
        return
    added_by_new = [(key, content(key, item)) for key, item in new.items() if key not in old]
    added_by_now = [(key, content(key, item)) for key, item in now.items() if key not in old]
    if not added_by_new or not added_by_now:
        return
    for key in keys_gone:
        old_content = content(key, old[key])
        # Several items may have the same content.
        keys_in_new = {added for added, added_content in added_by_new if added_content == old_content}
        keys_in_now = {added for added, added_content in added_by_now if added_content == old_content}
        if keys_in_new and keys_in_now and keys_in_new != keys_in_now:
            yield key


def _content_without_key(name: str, key: str, item: Mapping[str, Any]) -> Any:
    """Return what an item of the list `name` keeps when its key changes."""
    if name in _KEPT:
        return item.get(_KEPT[name])
    return {member: value for member, value in item.items() if member not in _KEYS[name]}


def _is_keyed(items: Any, name: str) -> bool:
    """Whether `items` is a list of objects with different keys, or GONE. `name`: the name of the list."""
    return items is GONE or (isinstance(items, list) and len(_keyed(items, name)) == len(items))


def _keyed(items: Any, name: str) -> dict[str, Any]:
    """Return the items of the list `name` by their key; none for GONE. "" is the key of
    an item without one.
    """
    if items is GONE:
        return {}
    return {next((str(item[key]) for key in _KEYS[name] if item.get(key)), ""): item for item in items}


def _are_in_same_order(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the keys that both have stand in the same order."""
    return [key for key in one if key in other] == [key for key in other if key in one]
