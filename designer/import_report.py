"""What an import means to callers: its changes by their effects, and how often what they change is called."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from designer.configuration import Configuration
from designer.documents.concerned import answers_by
from designer.documents.judging import Judgement
from designer.documents.plan import Change
from designer.endpoint_calls import recent_calls
from designer.history.effects import Effect, Line, worst
from designer.releases.proposing import Difference, difference_of


@dataclass(frozen=True, slots=True)
class Affected:
    """An endpoint that is served now and may answer otherwise afterwards, with its calls of late."""

    endpoint: str
    effect: Effect
    calls: int
    last_at: dt.datetime | None

    def to_json(self) -> dict[str, Any]:
        return {
            "endpoint": self.endpoint,
            "effect": self.effect.value,
            "calls": self.calls,
            "last_at": None if self.last_at is None else self.last_at.isoformat(timespec="seconds"),
        }


@dataclass(frozen=True)
class ImportReport:
    """The changes that a plan makes, the most serious first, and whom they affect, the most calls first."""

    differences: Sequence[Difference]
    affected: Sequence[Affected]

    @property
    def effect(self) -> Effect | None:
        """The most serious; None where nothing changes."""
        return worst(known.effect for known in self.differences) if self.differences else None

    @cached_property
    def by_effect(self) -> Mapping[Effect, list[tuple[str, Line]]]:
        """What changed and how, for each effect that there is, the most serious first."""
        found: dict[Effect, list[tuple[str, Line]]] = {}
        for effect in sorted(Effect, key=lambda effect: -effect.rank):
            told = [
                (known.what, line)
                for known in self.differences
                for line in known.lines
                if line.effect is effect
            ]
            if told:
                found[effect] = told
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "effect": None if self.effect is None else self.effect.value,
            "effects": [
                {"what": what, "text": line.text, "effect": effect.value}
                for effect, told in self.by_effect.items()
                for what, line in told
            ],
            "affected": [known.to_json() for known in self.affected],
        }


def report_on(judged: Judgement) -> ImportReport:
    """Of what the plan that was judged changes."""
    made = [(change, difference_of(change)) for change in judged.plan.changes if change.confirmed]
    made.sort(key=lambda pair: -pair[1].effect.rank)
    return ImportReport([difference for _, difference in made], _affected(made, judged.before))


def _affected(made: Iterable[tuple[Change, Difference]], configuration: Configuration) -> list[Affected]:
    effects: dict[str, Effect] = {}
    for change, difference in made:
        if difference.effect is Effect.ADDITIVE:
            continue
        for key in _concerned(change, configuration):
            effects[key] = worst((effects.get(key, Effect.ADDITIVE), difference.effect))
    counted = recent_calls(effects)
    found = [Affected(key, effect, *counted.get(key, (0, None))) for key, effect in effects.items()]
    return sorted(found, key=lambda known: (-known.calls, known.endpoint))


def _concerned(change: Change, configuration: Configuration) -> Iterator[str]:
    """The keys of the endpoints that are served now and answer by what changes."""
    for endpoint in configuration.endpoints.values():
        if endpoint.definition.enabled and answers_by(endpoint, change):
            yield endpoint.definition.key
