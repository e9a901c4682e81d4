"""The next release as proposed: its changes since the last, the number they ask for, a first changelog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from designer.definitions import ConfigurationDocument
from designer.documents.plan import Change, plan
from designer.documents.reading import read
from designer.documents.writing import export
from designer.history.effects import Effect, Line, worst
from designer.history.reading import describe
from designer.history.restoring import all_groups
from designer.history.wording import lines
from designer.loading import latest
from designer.models import Release


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of one item between two documents."""

    what: str
    lines: list[Line]

    @property
    def effect(self) -> Effect:
        return worst(line.effect for line in self.lines)


@dataclass(frozen=True, slots=True)
class Proposal:
    """`differences` are those since the release `since`; there is none before the first."""

    document: ConfigurationDocument
    since: Release | None
    differences: list[Difference]

    @property
    def effect(self) -> Effect:
        return worst(difference.effect for difference in self.differences)

    @property
    def number(self) -> tuple[int, int]:
        """A breaking change asks for the next major number, anything else for the next minor one."""
        if self.since is None:
            return 1, 0
        if self.effect is Effect.BREAKING:
            return self.since.major + 1, 0
        return self.since.major, self.since.minor + 1

    @property
    def changelog(self) -> str:
        return "\n".join(_entries(self.differences))


def propose() -> Proposal:
    """The next release. Raises DocumentError where the configuration cannot be exported."""
    document = export(latest())
    since = Release.objects.first()
    if since is None:
        return Proposal(document, None, [])
    return Proposal(document, since, differences(read(since.document.encode()), document))


def differences(before: ConfigurationDocument, after: ConfigurationDocument) -> list[Difference]:
    """What has to be told of the way from one document to another, the most serious first."""
    found = [difference_of(change) for change in plan(before, after, all_groups(before)).changes]
    return sorted(found, key=lambda difference: -difference.effect.rank)


def difference_of(change: Change) -> Difference:
    """A change of a plan, in the words of the history."""
    before = change.before.to_json() if change.before else None
    after = change.after.to_json() if change.after else None
    field = change.collection.field
    return Difference(describe(field, change.key), lines(field, before, after))


def _entries(found: list[Difference]) -> Iterator[str]:
    headings = {
        Effect.BREAKING: _("Breaking"),
        Effect.BEHAVIOUR: _("Changed"),
        Effect.ADDITIVE: _("Added"),
    }
    for effect, heading in headings.items():
        entries = [
            f"- {difference.what}: {line.text}"
            for difference in found
            for line in difference.lines
            if line.effect is effect
        ]
        if entries:
            yield from (f"{heading}:", *entries)
