"""What an import means: its changes by their effects, what it takes back, and how often callers use it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection as Names
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.utils.translation import ngettext

from designer.configuration import Configuration, Endpoint
from designer.documents.affected_endpoints import may_answer_otherwise
from designer.documents.judgement import Judgement
from designer.documents.keys import ENDPOINTS
from designer.documents.plan import Change, Plan
from designer.endpoint_calls import recent_calls
from designer.history.effects import Effect, Line, worst
from designer.history.taken_back_changes import TakenBack, taken_back
from designer.releases.next_release import Difference, difference_of
from designer.uses.where_used import uses_outside


@dataclass(frozen=True, slots=True)
class Affected:
    """An endpoint that is served now and may answer otherwise afterwards, with its calls of late."""

    endpoint: str
    effect: Effect
    calls: int
    last_at: dt.datetime | None

    def to_json(self) -> dict[str, Any]:
        """Return the endpoint as commands report it. `last_at` is in ISO 8601; None without a call."""
        return {
            "endpoint": self.endpoint,
            "effect": self.effect.value,
            "calls": self.calls,
            "last_at": None if self.last_at is None else self.last_at.isoformat(timespec="seconds"),
        }


@dataclass(frozen=True)
class ImportReport:
    """The changes that a plan makes, the most serious first, and whom they affect, the most calls first.

    `taken_back`: changes of recorded versions that the plan undoes, the newest first. `kept`: those that it
    would undo if their items did not stay as they are.
    """

    differences: Sequence[Difference]
    affected: Sequence[Affected]
    taken_back: Sequence[TakenBack] = ()
    kept: Sequence[TakenBack] = ()

    def without(self, lists: Names[str]) -> ImportReport:
        """Return the report without what it says of items in these lists of the document."""
        return replace(
            self,
            differences=[part for part in self.differences if part.item[0] not in lists],
            taken_back=[part for part in self.taken_back if part.item[0] not in lists],
            kept=[part for part in self.kept if part.item[0] not in lists],
        )

    @property
    def effect(self) -> Effect | None:
        """Return the most serious effect of the changes; None where nothing changes."""
        return worst(difference.effect for difference in self.differences) if self.differences else None

    @property
    def calls(self) -> int:
        """Return how often the affected endpoints have been called of late."""
        return sum(endpoint.calls for endpoint in self.affected)

    @cached_property
    def by_effect(self) -> Mapping[Effect, list[tuple[str, Line]]]:
        """Return the changes by their effect on callers, the most serious effect first."""
        lines_by_effect: dict[Effect, list[tuple[str, Line]]] = {}
        for effect in sorted(Effect, key=lambda effect: -effect.rank):
            lines = [
                (difference.what, line)
                for difference in self.differences
                for line in difference.lines
                if line.effect is effect
            ]
            if lines:
                lines_by_effect[effect] = lines
        return lines_by_effect

    def to_json(self) -> dict[str, Any]:
        """Return the report as commands write it."""
        return {
            "effect": None if self.effect is None else self.effect.value,
            "effects": [
                {"what": what, "text": line.text, "effect": effect.value}
                for effect, lines in self.by_effect.items()
                for what, line in lines
            ],
            "affected": [affected_endpoint.to_json() for affected_endpoint in self.affected],
            "taken_back": [undone.to_json() for undone in self.taken_back],
            "kept": [undone.to_json() for undone in self.kept],
        }


def report_on(judged: Judgement) -> ImportReport:
    """Return the report on the changes of the plan that was judged."""
    differences_by_change = _confirmed_differences(judged.plan.changes)
    differences_by_change.sort(key=lambda pair: -pair[1].effect.rank)
    kept = {change.item for change in judged.plan.kept}
    # Together: what a removal takes back depends on what else goes back.
    undone = _taken_back_by([*differences_by_change, *_confirmed_differences(judged.plan.kept)])
    return ImportReport(
        [_with_lost_role(change, difference) for change, difference in differences_by_change],
        _affected_endpoints(differences_by_change, judged.before),
        [part for part in undone if part.item not in kept],
        [part for part in undone if part.item in kept],
    )


def _with_lost_role(change: Change, difference: Difference) -> Difference:
    """Return the difference; that of a removed role says, too, how many callers lose the role.

    They are no part of the configuration, so a document that is imported cannot know of them.
    """
    if change.effect != "remove" or change.collection.field != "roles":
        return difference
    holders = sum(1 for _ in uses_outside(change.item))
    if not holders:
        return difference
    text = ngettext(
        "%(number)s API account or key holds the role and loses it",
        "%(number)s API accounts and keys hold the role and lose it",
        holders,
    )
    line = Line(text % {"number": holders}, Effect.BREAKING)
    return replace(difference, lines=[*difference.lines, line])


def later_changes(plan: Plan) -> list[TakenBack]:
    """Return the changes of recorded versions that the plan undoes, the newest first."""
    return _taken_back_by(_confirmed_differences(plan.changes))


def _taken_back_by(differences_by_change: Iterable[tuple[Change, Difference]]) -> list[TakenBack]:
    """Return the changes of recorded versions that these changes undo, the newest first."""
    return taken_back([(change, difference.lines) for change, difference in differences_by_change])


def _confirmed_differences(changes: Iterable[Change]) -> list[tuple[Change, Difference]]:
    """Return each confirmed change with its lines. What a plan only mentions, and keeps, is left out."""
    return [(change, difference_of(change)) for change in changes if change.confirmed]


def _affected_endpoints(
    differences_by_change: Iterable[tuple[Change, Difference]], configuration: Configuration
) -> list[Affected]:
    """Return the served endpoints that may answer otherwise, the most called first.

    Changes that only add something affect nobody.
    """
    effects: dict[str, Effect] = {}
    by_key = {endpoint.definition.key: endpoint for endpoint in configuration.endpoints.values()}
    for change, difference in differences_by_change:
        if difference.effect is Effect.ADDITIVE:
            continue
        for key in _concerned_keys(change, configuration, by_key):
            effects[key] = worst((effects.get(key, Effect.ADDITIVE), difference.effect))
    calls_by_endpoint = recent_calls(effects)
    affected = [
        Affected(key, effect, *calls_by_endpoint.get(key, (0, None))) for key, effect in effects.items()
    ]
    return sorted(
        affected, key=lambda affected_endpoint: (-affected_endpoint.calls, affected_endpoint.endpoint)
    )


def _concerned_keys(
    change: Change, configuration: Configuration, by_key: Mapping[str, Endpoint]
) -> Iterator[str]:
    """Yield the keys of the served endpoints whose answers depend on what changes. `by_key` are all
    endpoints.
    """
    # Of thousands of changed endpoints, each concerns itself alone.
    own = [by_key[change.key]] if change.key in by_key else []
    endpoints = own if change.collection.field == ENDPOINTS else by_key.values()
    for endpoint in endpoints:
        if endpoint.definition.enabled and may_answer_otherwise(endpoint, change, configuration):
            yield endpoint.definition.key
