"""A proposal for the next release: its changes since the last one, its number, and a first changelog."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from designer.definitions import ConfigurationDocument
from designer.documents.document_reader import read
from designer.documents.document_writer import export, to_bytes
from designer.documents.keys import RESTRICTED
from designer.documents.plan import Change, plan
from designer.history.effects import Effect, Line, worst
from designer.history.items import ItemKey
from designer.history.readable_versions import describe
from designer.history.restoration import all_groups
from designer.history.wording import lines
from designer.loading import latest
from designer.models import Release


@dataclass(frozen=True, slots=True)
class Difference:
    """The changes of one item between two documents. `item` is its list of the document and its key."""

    item: ItemKey
    what: str
    lines: list[Line]

    @property
    def effect(self) -> Effect:
        """The most serious effect of the lines."""
        return worst(line.effect for line in self.lines)


@dataclass(frozen=True, slots=True)
class Proposal:
    """The next release as proposed.

    `differences` are those since the release `since`; None before the first.
    """

    document: ConfigurationDocument
    since: Release | None
    differences: list[Difference]

    @property
    def effect(self) -> Effect:
        """The most serious effect of the differences."""
        return worst(difference.effect for difference in self.differences)

    @property
    def number(self) -> tuple[int, int]:
        """The major and minor number. A breaking change raises the major number, any other the minor one."""
        if self.since is None:
            return 1, 0
        if self.effect is Effect.BREAKING:
            return self.since.major + 1, 0
        return self.since.major, self.since.minor + 1

    def differences_without(self, lists: Collection[str]) -> list[Difference]:
        """Return the differences of items that are in none of these lists of the document."""
        return [difference for difference in self.differences if difference.item[0] not in lists]

    def changelog(self) -> str:
        """Return the first draft of the changelog; empty without differences.

        Everybody who may see releases reads it, so it is without lists that not everybody sees, whoever makes
        the release.
        """
        return "\n".join(_changelog_lines(self.differences_without(RESTRICTED)))

    def release(self, **values: Any) -> Release:
        """Return the release of the proposed document, not stored yet, with `values` of its fields."""
        return Release(document=to_bytes(self.document).decode(), **values)


def propose() -> Proposal:
    """Return the next release. Raises DocumentError when the configuration cannot be exported."""
    document = export(latest())
    since = Release.objects.first()
    if since is None:
        return Proposal(document, None, [])
    return Proposal(document, since, differences(read(since.document.encode()), document))


def differences(before: ConfigurationDocument, after: ConfigurationDocument) -> list[Difference]:
    """Return the differences between two documents, the most serious first."""
    all_differences = [difference_of(change) for change in plan(before, after, all_groups(before)).changes]
    return sorted(all_differences, key=lambda difference: -difference.effect.rank)


def difference_of(change: Change) -> Difference:
    """Return a change of a plan in the words of the history."""
    before = change.before.to_json() if change.before else None
    after = change.after.to_json() if change.after else None
    field = change.collection.field
    return Difference(change.item, describe(field, change.key), lines(field, before, after))


def _changelog_lines(all_differences: list[Difference]) -> Iterator[str]:
    """Yield the lines of a changelog: a heading for each effect, the most serious first, and its changes."""
    headings = {
        Effect.BREAKING: _("Breaking"),
        Effect.BEHAVIOUR: _("Changed"),
        Effect.ADDITIVE: _("Added"),
    }
    for effect, heading in headings.items():
        entries = [
            f"- {difference.what}: {line.text}"
            for difference in all_differences
            for line in difference.lines
            if line.effect is effect
        ]
        if entries:
            yield from (f"{heading}:", *entries)
