"""Items that have another key: the names of environment values that documents gave them go along."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from designer.models import EnvironmentValueUse, ItemChange
from designer.models.fields import ExactJSONEncoder

# The members that keys are made of. A rename mostly changes one of them.
_PLACE = ("module", "exposure", "segment", "name")


def follow_renames(changes: Iterable[ItemChange]) -> None:
    """Give the names of values of each removed item to the added one that it has become.

    A wrong guess does no harm: an export writes a name only where the value still stands.
    """
    removed, added = defaultdict[str, list[ItemChange]](list), defaultdict[str, list[ItemChange]](list)
    for change in changes:
        if change.after is None:
            removed[change.collection].append(change)
        elif change.before is None:
            added[change.collection].append(change)
    if not removed.keys() & added.keys():
        return
    used = set(EnvironmentValueUse.objects.values_list("collection", "key"))
    for collection, gone in removed.items():
        for old, new in _pairs(gone, added[collection]):
            if used.isdisjoint({(collection, old.key), (collection, new.key)}):
                continue
            uses = EnvironmentValueUse.objects.filter(collection=collection)
            # Left over from an item that once had this key.
            uses.filter(key=new.key).delete()
            uses.filter(key=old.key).update(key=new.key)


def _pairs(
    removed: Sequence[ItemChange], added: Sequence[ItemChange]
) -> Iterator[tuple[ItemChange, ItemChange]]:
    """Yield removed items with the added ones that they have become: those that are equal apart from one
    member of their keys or, last, from all of these members. An item that is like several others is left out.
    """
    if len(removed) == len(added) == 1:
        yield removed[0], added[0]
        return
    for members in (*((member,) for member in _PLACE), _PLACE):
        if not (removed and added):
            return
        before = _unique({change.key: change.before for change in removed}, members)
        after = _unique({change.key: change.after for change in added}, members)
        # The new keys of items by their old keys.
        became = {before[rest]: after[rest] for rest in before.keys() & after.keys()}
        old_by_key, new_by_key = ({change.key: change for change in side} for side in (removed, added))
        yield from ((old_by_key[old], new_by_key[new]) for old, new in became.items())
        removed = [change for change in removed if change.key not in became]
        added = [change for change in added if change.key not in became.values()]


def _unique(contents: Mapping[str, Any], members: Sequence[str]) -> dict[str, str]:
    """Return the keys of items by the JSON of all but `members`, without items that have the same one."""
    keys = defaultdict[str, list[str]](list)
    for key, content in contents.items():
        if isinstance(content, Mapping):
            rest = {name: value for name, value in content.items() if name not in members}
            keys[json.dumps(rest, sort_keys=True, cls=ExactJSONEncoder)].append(key)
    return {text: found[0] for text, found in keys.items() if len(found) == 1}
