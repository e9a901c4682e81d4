"""Undoing changes, also older ones that no later change builds on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from designer.access_control.access_matrix import callers_in_words, widens
from designer.definitions import ConfigurationDocument, EndpointDefinition, ExposedEntityDefinition
from designer.definitions.row_rules import is_open
from designer.documents.judgement import Judgement
from designer.documents.plan import Plan, plan
from designer.documents.problems import DocumentError
from designer.history.items import ORDER, ItemKey, digest_of
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
from designer.kinds import KINDS
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
        newest = newest_version()
        state = recorded_state()
        listed_changes = list(changes)
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

    def make(self, author: Author, also: Callable[[int | None], None] | None = None) -> Judgement:
        """Undo the changes. Raises DocumentError when that is impossible, and ChangeRefused.

        `also` is called as by `carry_out`.
        """
        undoing = self
        for _attempt in range(_ATTEMPTS):
            try:
                return undoing._make(author, also)
            except DocumentError:
                if newest_version() == undoing.newest:
                    raise
                undoing = Undoing.of(self.changes)
        raise others_change()

    def _make(self, author: Author, also: Callable[[int | None], None] | None) -> Judgement:
        """Undo the changes once. Raises DocumentError when the newest version is another one by now."""
        return carry_out(self.plan, self.wanted, author, expected_version=self.newest, also=also)

    def widenings(self, now: ConfigurationDocument) -> list[Sentence]:
        """Return sentences that say which callers the undoing lets in, or lets reach more records."""
        return [
            sentence
            for change in self.plan(now).changes
            for sentence in _sentences_on_widening(change.before, change.after)
        ]

    @property
    def digest(self) -> str:
        """A digest of the question whether to undo: an answer is valid for this question alone."""
        return digest_of([self.newest, *(change.pk for change in self.changes)])


def _sentences_on_widening(before: Any, after: Any) -> Iterator[Sentence]:
    """Yield what callers gain by the change from `before` to `after` of one item.

    Each is None where there is no such item.
    """
    if isinstance(before, ExposedEntityDefinition) and isinstance(after, ExposedEntityDefinition):
        if before.row_rule != after.row_rule and is_open(after.row_rule):
            yield Sentence("All callers reach every record of %(entity)s.", entity=after.key)
        return
    if not isinstance(after, EndpointDefinition):
        return
    writes = KINDS[after.kind].writes
    earlier = before if isinstance(before, EndpointDefinition) else None
    served = earlier if earlier is not None and earlier.enabled else None
    if writes and after.enabled and served is None:
        yield Sentence(
            "%(endpoint)s writes, and is served again. May call it: %(callers)s.",
            endpoint=after.key,
            callers=callers_in_words(after.access),
        )
    elif not writes and _is_open_to_anybody(after) and not (served and _is_open_to_anybody(served)):
        yield Sentence("%(endpoint)s needs no token: anybody may call it.", endpoint=after.key)
    if earlier is None:
        return
    if writes and widens(earlier.access, after.access):
        yield Sentence("%(endpoint)s writes, and more callers may call it.", endpoint=after.key)
    if earlier.row_rule is not None and after.row_rule is None:
        yield Sentence("%(endpoint)s loses its row rule: callers may reach more records.", endpoint=after.key)


def _is_open_to_anybody(endpoint: EndpointDefinition) -> bool:
    """Whether the endpoint is served to callers without a token."""
    return endpoint.enabled and not endpoint.access.authentication_required


def _take_back(change: ItemChange, state: _State) -> Sentence | None:
    """Change `state` to what it is without `change`. Return a sentence when a later change builds on it."""
    key = (change.collection, change.key)
    now = state.get(key, GONE)
    before, after = (GONE if content is None else content for content in (change.before, change.after))
    if change.collection == ORDER and now != after and before is not GONE and sorted(before) != sorted(after):
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


def _sentence_on_later_change(change: ItemChange, before: Any, after: Any) -> Sentence:
    """Return a sentence that names the first later change that builds on `change`."""
    what = describe(change.collection, change.key)
    later = ItemChange.objects.filter(collection=change.collection, key=change.key, pk__gt=change.pk)
    for later_change in later.select_related("version").order_by("pk"):
        try:
            with_change(
                after, before, GONE if later_change.after is None else later_change.after, change.collection
            )
        except Clash:
            few = [line.text for line in ReadChange(later_change).lines[:_FEW]]
            return Sentence(
                "%(item)s was not undone: version %(number)s (%(account)s) builds on it (%(lines)s). "
                "Undo version %(number)s first.",
                item=what,
                number=later_change.version.pk,
                account=later_change.version.account or later_change.version.get_origin_display(),
                lines=listed(few, "; "),
            )
    return Sentence("%(item)s was not undone: it has changed since.", item=what)
