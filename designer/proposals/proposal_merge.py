"""A proposal on top of what is live now: what both have changed is merged where it can be, and told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from designer.definitions import ConfigurationDocument
from designer.documents.plan import Plan, plan
from designer.history.audited_access import deciding_part
from designer.history.items import ORDER, ItemKey
from designer.history.json_merge import GONE, Clash, renamed_twice, replaced
from designer.history.readable_versions import describe
from designer.history.restoration import all_groups, document_of
from designer.history.wording import lines
from designer.proposals.contents import Contents, State, state_of
from designer.sentences import Sentence, listed

# How many lines a sentence quotes of a live change.
_FEW = 3
_PLACE = frozenset({"module", "exposure", "segment", "name"})


@dataclass(frozen=True)
class Merge:
    """A proposal merged with what is live.

    `document` is the whole configuration that results, `keys` are the items that the proposal changes.
    `clashes`: parts that both have changed, so that somebody has to decide. `access`: live changes of who may
    call, or of what callers reach, in items that the proposal changes; they are taken over only by somebody
    who has read them. `has_moved`: something that the proposal changes was changed live. `has_two_names`:
    both have given another name to an item, so that `document` has it twice.
    """

    document: ConfigurationDocument
    keys: frozenset[ItemKey]
    clashes: Sequence[Sentence]
    access: Sequence[Sentence]
    has_moved: bool
    has_two_names: bool

    @classmethod
    def of(cls, contents: Contents, now: ConfigurationDocument) -> Merge:
        """Merge the contents of a proposal with `now`, which is what is live."""
        base, proposed, live = (state_of(side) for side in (contents.base, contents.document, now))
        keys = [key for key in dict.fromkeys((*base, *proposed)) if base.get(key) != proposed.get(key)]
        merged, clashes, access = dict(live), [], []
        has_moved = False
        for key in keys:
            old, new, live_content = (state.get(key, GONE) for state in (base, proposed, live))
            if live_content in (old, new):
                _put(merged, key, new)
                continue
            has_moved = True
            try:
                _put(merged, key, replaced(old, new, live_content, key[0]))
            except Clash:
                # Until somebody decides, the proposed content counts.
                _put(merged, key, new)
                clashes.append(_difference(key, old, live_content))
                continue
            if _access(key, old) != _access(key, live_content):
                access.append(_difference(key, old, live_content))
        renamed = list(renamed_twice(base, proposed, live, _without_place))
        clashes += [_difference(key, base[key], GONE) for key in renamed]
        has_moved = has_moved or bool(renamed)
        return cls(document_of(merged), frozenset(keys), clashes, access, has_moved, bool(renamed))

    def plan(self, now: ConfigurationDocument) -> Plan:
        """Return the changes of `now` that the proposal makes, and no others."""
        full = plan(now, self.document, all_groups(now))
        changes = tuple(change for change in full.changes if change.item in self.keys)
        return Plan(changes, full.reordered and any(field == ORDER for field, _ in self.keys))


def _without_place(key: ItemKey, content: Any) -> Any:
    """Return an item without the members that its key is made of: a renamed one keeps the others."""
    if not isinstance(content, Mapping):
        return key
    return key[0], {member: value for member, value in content.items() if member not in _PLACE}


def _put(state: State, key: ItemKey, content: Any) -> None:
    if content is GONE:
        state.pop(key, None)
    else:
        state[key] = content


def _access(key: ItemKey, content: Any) -> Any:
    """Return all of an item that decides who may call, or what callers reach."""
    if content is GONE or not isinstance(content, Mapping):
        return None
    ruled = {fetcher["name"] for fetcher in content.get("fetchers", ()) if fetcher.get("apply_row_rules")}
    return deciding_part(key[0], content), content.get("preconditions"), ruled


def _difference(key: ItemKey, old: Any, new: Any) -> Sentence:
    """Return a sentence that names the item and the first differences between two versions of it."""
    before, now = (None if content is GONE else content for content in (old, new))
    few = [line.text for line in lines(key[0], before, now)[:_FEW]]
    return Sentence("%(item)s (%(lines)s)", item=describe(*key), lines=listed(few, "; "))
