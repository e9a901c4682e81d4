"""A proposal on top of what is live now: what both have changed is merged where it can be, and told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from designer.definitions import ConfigurationDocument
from designer.documents.plan import Plan, plan
from designer.history.audited_access import deciding_part
from designer.history.items import ORDER, ItemKey
from designer.history.json_merge import GONE, Clash, replaced
from designer.history.reading import describe
from designer.history.restoring import all_groups, document_of
from designer.history.wording import lines
from designer.proposals.contents import Contents, State, state_of
from designer.sentences import Sentence, listed

# Lines that say what was changed live.
_FEW = 3


@dataclass(frozen=True)
class Merge:
    """`document` is the whole configuration as it would be, `keys` are the items that the proposal changes.

    `clashes`: both have changed the same part, and somebody has to say which it shall be. `access`: who may
    call, or what callers reach, was changed live in an item that the proposal changes; that is taken over
    only by somebody who has read it. `has_moved`: anything that the proposal changes was changed live.
    """

    document: ConfigurationDocument
    keys: frozenset[ItemKey]
    clashes: Sequence[Sentence]
    access: Sequence[Sentence]
    has_moved: bool

    @classmethod
    def of(cls, contents: Contents, now: ConfigurationDocument) -> Merge:
        base, wanted, live = (state_of(side) for side in (contents.base, contents.document, now))
        keys = [key for key in dict.fromkeys((*base, *wanted)) if base.get(key) != wanted.get(key)]
        made, clashes, access = dict(live), [], []
        has_moved = False
        for key in keys:
            old, new, there = (state.get(key, GONE) for state in (base, wanted, live))
            if there in (old, new):
                _put(made, key, new)
                continue
            has_moved = True
            try:
                _put(made, key, replaced(old, new, there, key[0]))
            except Clash:
                # Until somebody says which it shall be, it is as it is proposed.
                _put(made, key, new)
                clashes.append(_told(key, old, there))
                continue
            if _access(key, old) != _access(key, there):
                access.append(_told(key, old, there))
        return cls(document_of(made), frozenset(keys), clashes, access, has_moved)

    def plan(self, now: ConfigurationDocument) -> Plan:
        """What changes of `now`: nothing but what the proposal changes."""
        full = plan(now, self.document, all_groups(now))
        kept = tuple(change for change in full.changes if (change.collection.field, change.key) in self.keys)
        return Plan(kept, full.reordered and any(field == ORDER for field, _ in self.keys))


def _put(state: State, key: ItemKey, content: Any) -> None:
    if content is GONE:
        state.pop(key, None)
    else:
        state[key] = content


def _access(key: ItemKey, content: Any) -> Any:
    """All of an item that decides who may call, or what callers reach."""
    if content is GONE or not isinstance(content, Mapping):
        return None
    ruled = {one["name"] for one in content.get("fetchers", ()) if one.get("apply_row_rules")}
    return deciding_part(key[0], content), content.get("preconditions"), ruled


def _told(key: ItemKey, old: Any, there: Any) -> Sentence:
    before, now = (None if content is GONE else content for content in (old, there))
    few = [line.text for line in lines(key[0], before, now)[:_FEW]]
    return Sentence("%(item)s (%(lines)s)", item=describe(*key), lines=listed(few, "; "))
