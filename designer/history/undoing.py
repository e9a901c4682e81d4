"""Undoing changes, also out of the middle of the history, where nothing was built on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from designer.access_matrix import widens
from designer.definitions import ConfigurationDocument, EndpointDefinition, ExposedEntityDefinition
from designer.definitions.row_rules import is_open
from designer.documents.judging import Judgement
from designer.documents.plan import Plan, plan
from designer.documents.problems import DocumentError
from designer.history.items import ORDER, ItemKey, digest_of
from designer.history.json_merge import GONE, Clash, replaced
from designer.history.reading import ReadChange, describe
from designer.history.recording import Author
from designer.history.restoring import all_groups, carry_out, document_of, newest_version, recorded_state
from designer.kinds import KINDS
from designer.models import ItemChange
from designer.sentences import Sentence, listed

# Lines of a later change that say what it was.
_FEW = 3
# How often it is tried again because somebody has changed the configuration meanwhile.
_ATTEMPTS = 3
_State: TypeAlias = dict[ItemKey, Any]


@dataclass(frozen=True)
class Undoing:
    """What undoing some changes of one version comes to, as of version `newest`."""

    changes: Sequence[ItemChange]
    newest: int
    wanted: ConfigurationDocument

    @classmethod
    def of(cls, changes: Iterable[ItemChange]) -> Undoing:
        """Raises DocumentError that names what was built on the changes."""
        newest = newest_version()
        state = recorded_state()
        listed_changes = list(changes)
        problems = [problem for change in listed_changes if (problem := _take_back(change, state))]
        if problems:
            raise DocumentError(problems)
        return cls(listed_changes, newest, document_of(state))

    def plan(self, now: ConfigurationDocument) -> Plan:
        """What changes of `now`: nothing but what is undone."""
        touched = {(change.collection, change.key) for change in self.changes}
        full = plan(now, self.wanted, all_groups(now))
        kept = tuple(change for change in full.changes if (change.collection.field, change.key) in touched)
        return Plan(kept, full.reordered and any(change.collection == ORDER for change in self.changes))

    def make(self, author: Author, also: Callable[[int | None], None] | None = None) -> Judgement:
        """Raises DocumentError where it cannot be done, and ChangeRefused. `also`: as of `carry_out`."""
        undoing = self
        for _attempt in range(_ATTEMPTS - 1):
            try:
                return undoing._make(author, also)
            except DocumentError:
                if newest_version() == undoing.newest:
                    raise
                undoing = Undoing.of(self.changes)
        return undoing._make(author, also)

    def _make(self, author: Author, also: Callable[[int | None], None] | None) -> Judgement:
        return carry_out(self.plan, self.wanted, author, expected_version=self.newest, also=also)

    def widenings(self, now: ConfigurationDocument) -> list[Sentence]:
        """Who would be let in, or reach more records, by it."""
        return [
            sentence
            for change in self.plan(now).changes
            if change.before is not None and change.after is not None
            if (sentence := _widening(change.before, change.after)) is not None
        ]

    @property
    def digest(self) -> str:
        """Of what is asked: an answer counts for this question alone."""
        return digest_of([self.newest, *(change.pk for change in self.changes)])


def _widening(before: Any, after: Any) -> Sentence | None:
    if isinstance(before, ExposedEntityDefinition) and isinstance(after, ExposedEntityDefinition):
        if before.row_rule != after.row_rule and is_open(after.row_rule):
            return Sentence("All callers reach every record of %(entity)s.", entity=after.key)
        return None
    if not (isinstance(before, EndpointDefinition) and isinstance(after, EndpointDefinition)):
        return None
    if KINDS[after.kind].writes and widens(before.access, after.access):
        return Sentence("%(endpoint)s writes, and more callers may call it.", endpoint=after.key)
    if before.row_rule is not None and after.row_rule is None:
        return Sentence(
            "%(endpoint)s loses its row rule: callers may reach more records.", endpoint=after.key
        )
    return None


def _take_back(change: ItemChange, state: _State) -> Sentence | None:
    """Put into `state` what it is without `change`; or say what was built on the change."""
    key = (change.collection, change.key)
    now = state.get(key, GONE)
    before, after = (GONE if content is None else content for content in (change.before, change.after))
    if change.collection == ORDER and now != after and before is not GONE and sorted(before) != sorted(after):
        # Properties have come or gone with it, and others since: the order follows them.
        return None
    try:
        made = replaced(after, before, now, change.collection)
    except Clash:
        return _built_on(change, before, after)
    if made is GONE:
        state.pop(key, None)
    else:
        state[key] = made
    return None


def _built_on(change: ItemChange, before: Any, after: Any) -> Sentence:
    what = describe(change.collection, change.key)
    later = ItemChange.objects.filter(collection=change.collection, key=change.key, pk__gt=change.pk)
    for one in later.select_related("version").order_by("pk"):
        try:
            replaced(after, before, GONE if one.after is None else one.after, change.collection)
        except Clash:
            few = [line.text for line in ReadChange(one).lines[:_FEW]]
            return Sentence(
                "%(item)s was not undone: version %(number)s (%(account)s) builds on it (%(lines)s). "
                "Undo version %(number)s first.",
                item=what,
                number=one.version.pk,
                account=one.version.account or one.version.get_origin_display(),
                lines=listed(few, "; "),
            )
    return Sentence("%(item)s was not undone: it has changed since.", item=what)
