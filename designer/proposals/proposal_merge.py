"""A proposal on top of what is live now: what both have changed is merged where it can be, and told."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from designer.definitions import ConfigurationDocument, Definition
from designer.documents.keys import nouns_of
from designer.documents.plan import Plan, plan
from designer.history.audited_access import deciding_part
from designer.history.items import ORDER, ItemKey
from designer.history.json_merge import GONE, Clash, renamed_twice, with_change
from designer.history.readable_versions import describe
from designer.history.restoration import all_groups, with_contents
from designer.history.wording import lines
from designer.proposals.contents import Contents, ItemInDocument, State, items_in, json_of
from designer.sentences import Sentence, listed

# How many lines a sentence quotes of a live change.
_FEW = 3
# Members that the key of an item is made of.
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
    def of(cls, contents: Contents, now: ConfigurationDocument, hidden: Collection[str] = ()) -> Merge:
        """Merge the contents of a proposal with `now`, which is what is live.

        An item that only one side has changed is as that side has it. What both have changed is merged part
        by part. Sentences neither name nor quote items of the lists `hidden`, which the reader may not see.
        """
        base, proposed, live = (items_in(side) for side in (contents.base, contents.document, now))
        keys = [key for key in dict.fromkeys((*base, *proposed)) if base.get(key) != proposed.get(key)]
        # Only what the proposal changes is looked into: a large configuration has thousands of other items.
        merged: State = {}
        clashes, access = [], []
        has_moved = False
        for key in keys:
            old, new, live_content = (_json_of_item(items, key) for items in (base, proposed, live))
            merged[key] = new
            if live_content in (old, new):
                continue
            has_moved = True
            try:
                merged[key] = with_change(old, new, live_content, key[0])
            except Clash:
                # Until somebody decides, the proposed content counts.
                clashes.append(_difference(key, old, live_content, hidden))
                continue
            if _deciding_parts(key, old) != _deciding_parts(key, live_content):
                access.append(_difference(key, old, live_content, hidden))
        renamed = list(renamed_twice(base, proposed, live, _without_place))
        clashes += [_difference(key, json_of(base[key]), GONE, hidden) for key in renamed]
        has_moved = has_moved or bool(renamed)
        changed = {key: None if content is GONE else content for key, content in merged.items()}
        return cls(
            document=with_contents(now, changed),
            keys=frozenset(keys),
            clashes=clashes,
            access=access,
            has_moved=has_moved,
            has_two_names=bool(renamed),
        )

    def plan(self, now: ConfigurationDocument) -> Plan:
        """Return the changes of `now` that the proposal makes, and no others."""
        full = plan(now, self.document, all_groups(now))
        changes = tuple(change for change in full.changes if change.item in self.keys)
        return Plan(changes, full.reordered and any(field == ORDER for field, _ in self.keys))


def _without_place(key: ItemKey, item: ItemInDocument) -> Any:
    """Return an item without the members that its key is made of: a renamed one keeps the others."""
    if not isinstance(item, Definition):
        return key
    return key[0], {member: value for member, value in item.to_json().items() if member not in _PLACE}


def _json_of_item(items: Mapping[ItemKey, ItemInDocument], key: ItemKey) -> Any:
    """Return the JSON form of an item, GONE without it."""
    return json_of(items[key]) if key in items else GONE


def _deciding_parts(key: ItemKey, content: Any) -> Any:
    """Return all of an item's JSON that decides who may call, or what callers reach: to be compared with that
    of another version. Return None for an item that is gone.
    """
    collection, _key = key
    if content is GONE or not isinstance(content, Mapping):
        return None
    ruled = {fetcher["name"] for fetcher in content.get("fetchers", ()) if fetcher.get("apply_row_rules")}
    return deciding_part(collection, content), content.get("preconditions"), ruled


def _difference(key: ItemKey, old: Any, new: Any, hidden: Collection[str]) -> Sentence:
    """Return a sentence that names the item and the first differences between two versions of it.

    Of an item in the lists `hidden`, it says no more than that there is one.
    """
    if key[0] in hidden:
        return Sentence("something that you may not see: %(items)s", items=listed(nouns_of(key[:1]), ", "))
    before, now = (None if content is GONE else content for content in (old, new))
    few = [line.text for line in lines(key[0], before, now)[:_FEW]]
    return Sentence("%(item)s (%(lines)s)", item=describe(*key), lines=listed(few, "; "))
