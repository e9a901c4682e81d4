"""Undoing changes, also older ones that no later change builds on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from designer.definitions import ConfigurationDocument
from designer.documents.judgement import Judgement
from designer.documents.plan import Plan, plan
from designer.documents.problems import DocumentError
from designer.history.items import ORDER, ItemKey
from designer.history.json_merge import GONE, Clash, with_change
from designer.history.readable_versions import ReadChange, describe
from designer.history.recording import Author
from designer.history.restoration import (
    all_groups,
    carry_out,
    document_of,
    newest_version,
    others_change,
    recorded_state,
)
from designer.models import ItemChange
from designer.sentences import Sentence, listed

# How many lines of a later change a refusal quotes.
_FEW = 3
# How often undoing is tried, when somebody changes the configuration at the same time.
_ATTEMPTS = 5
# The JSON form of each item. An item that does not exist is not in it.
_State: TypeAlias = dict[ItemKey, Any]


@dataclass(frozen=True)
class Undoing:
    """The undoing of some changes of one version, as of version `newest`. `wanted` is what it leads to."""

    changes: Sequence[ItemChange]
    newest: int
    wanted: ConfigurationDocument

    @classmethod
    def of(cls, changes: Iterable[ItemChange]) -> Undoing:
        """Prepare to undo `changes`. Raises DocumentError that names later changes that build on them."""
        # Before the state: `make` notices a version that is saved in between, and tries again.
        newest = newest_version()
        state = recorded_state()
        listed_changes = list(changes)
        # Each call takes a change out of `state`.
        problems = [problem for change in listed_changes if (problem := _take_back(change, state))]
        if problems:
            raise DocumentError(problems)
        return cls(listed_changes, newest, document_of(state))

    def plan(self, now: ConfigurationDocument) -> Plan:
        """Return the changes of `now` that undo the chosen changes, and no others."""
        touched = {(change.collection, change.key) for change in self.changes}
        full = plan(now, self.wanted, all_groups(now))
        changes = tuple(change for change in full.changes if change.item in touched)
        return Plan(changes, full.reordered and any(change.collection == ORDER for change in self.changes))

    def make(
        self,
        author: Author,
        *,
        confirmed: str | None = None,
        also: Callable[[int | None], None] | None = None,
    ) -> Judgement:
        """Undo the changes. Raises DocumentError when that is impossible, Unconfirmed and ChangeRefused.

        `confirmed` and `also` are those of `carry_out`.
        """
        undoing = self
        for _attempt in range(_ATTEMPTS):
            try:
                return undoing._make(author, confirmed, also)
            except DocumentError:
                if newest_version() == undoing.newest:
                    raise
                undoing = Undoing.of(self.changes)
        raise others_change()

    def _make(
        self, author: Author, confirmed: str | None, also: Callable[[int | None], None] | None
    ) -> Judgement:
        """Undo the changes once. Raises DocumentError when the newest version is another one by now."""
        return carry_out(
            self.plan,
            self.wanted,
            author,
            expected_version=self.newest,
            confirmed=confirmed,
            also=also,
        )


def _take_back(change: ItemChange, state: _State) -> Sentence | None:
    """Change `state` to what it is without `change`. Return a sentence when a later change builds on it."""
    key = (change.collection, change.key)
    now = state.get(key, GONE)
    before, after = (GONE if content is None else content for content in (change.before, change.after))
    if change.collection == ORDER and now != after and _without_order(before) != _without_order(after):
        # The change added or removed properties, and so did later ones: the order follows from what there is.
        return None
    try:
        merged = with_change(after, before, now, change.collection)
    except Clash:
        return _sentence_on_later_change(change, before, after)
    if merged is GONE:
        state.pop(key, None)
    else:
        state[key] = merged
    return None


def _without_order(keys: Any) -> list[str]:
    """Return the keys of user properties in one order; none where there were no properties."""
    return [] if keys is GONE else sorted(keys)


def _sentence_on_later_change(change: ItemChange, before: Any, after: Any) -> Sentence:
    """Return a sentence that names the first later change that builds on `change`."""
    what = describe(change.collection, change.key)
    later = ItemChange.objects.filter(collection=change.collection, key=change.key, pk__gt=change.pk)
    for later_change in later.select_related("version").order_by("pk"):
        # A later change builds on this one if it cannot be kept when this one is taken back.
        try:
            with_change(
                after, before, GONE if later_change.after is None else later_change.after, change.collection
            )
        except Clash:
            first_lines = [line.text for line in ReadChange(later_change).lines[:_FEW]]
            return Sentence(
                "%(item)s was not undone: version %(number)s (%(account)s) builds on it (%(lines)s). "
                "Undo version %(number)s first.",
                item=what,
                number=later_change.version.pk,
                account=later_change.version.account or later_change.version.get_origin_display(),
                lines=listed(first_lines, "; "),
            )
    return Sentence("%(item)s was not undone: it has changed since.", item=what)
