"""Items that have another key: the names of environment values that documents gave them go along, and so does
the protection of a module.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from designer.audit import note_account
from designer.models import AuditEntry, EnvironmentValueUse, ItemChange, Protection
from designer.models.fields import ExactJSONEncoder
from designer.models.proposals import FREE

# The members that keys are made of. A rename mostly changes one of them.
_PLACE = ("module", "exposure", "segment", "name")


def follow_renames(changes: Iterable[ItemChange]) -> None:
    """Give the names of values of each removed item to the added one that it has become, and protect a module
    as the removed one was.

    A wrong guess does no harm: an export writes a name only where the value still stands, and an
    administrator can take the protection of a module away.
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
            if collection == "modules":
                _protect_alike(old, new)
            if used.isdisjoint({(collection, old.key), (collection, new.key)}):
                continue
            uses = EnvironmentValueUse.objects.filter(collection=collection)
            # Left over from an item that once had this key.
            uses.filter(key=new.key).delete()
            uses.filter(key=old.key).update(key=new.key)


def _protect_alike(old: ItemChange, new: ItemChange) -> None:
    """Protect the added module `new` as the removed one `old` is, unless it is protected already.

    The old segment stays protected: whoever makes a module of that name serves the old paths.
    """
    protection = Protection.objects.filter(group=old.key).first()
    if protection is None or Protection.objects.filter(group=new.key).exists():
        return
    Protection.objects.create(group=new.key, needs_approval=protection.needs_approval)
    detail = f"{FREE} → {protection.level}"
    note_account(new.version.account, AuditEntry.Action.PROTECTION, new.key, detail)


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
        old_keys = _keys_by_rest({change.key: change.before for change in removed}, members)
        new_keys = _keys_by_rest({change.key: change.after for change in added}, members)
        # The new keys of items by their old keys.
        became = {old_keys[rest]: new_keys[rest] for rest in old_keys.keys() & new_keys.keys()}
        old_by_key, new_by_key = ({change.key: change for change in side} for side in (removed, added))
        yield from ((old_by_key[old], new_by_key[new]) for old, new in became.items())
        removed = [change for change in removed if change.key not in became]
        added = [change for change in added if change.key not in became.values()]


def _keys_by_rest(items: Mapping[str, Any], members: Sequence[str]) -> dict[str, str]:
    """Return the keys of `items` by the rest of each item: its JSON without `members`.

    Items that have the same rest are left out, since nobody could tell which of them became which.
    """
    keys_by_rest = defaultdict[str, list[str]](list)
    for key, item in items.items():
        if isinstance(item, Mapping):
            rest = {name: value for name, value in item.items() if name not in members}
            keys_by_rest[json.dumps(rest, sort_keys=True, cls=ExactJSONEncoder)].append(key)
    return {rest: keys[0] for rest, keys in keys_by_rest.items() if len(keys) == 1}
