"""What a change means to those who call: nothing to lose, something different, or something broken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Effect(str, Enum):
    """From harmless to serious, in this order.

    `ADDITIVE`: callers that work go on working as before. `BEHAVIOUR`: they go on working, with other
    results. `BREAKING`: calls that were right may be refused, or answers lack what they held.
    """

    ADDITIVE = "additive"
    BEHAVIOUR = "behaviour"
    BREAKING = "breaking"

    @property
    def rank(self) -> int:
        return list(Effect).index(self)


@dataclass(frozen=True, slots=True)
class Line:
    """One change in a sentence."""

    text: str
    effect: Effect


def worst(effects: Iterable[Effect]) -> Effect:
    """The most serious; of nothing at all, the most harmless."""
    return max(effects, key=lambda effect: effect.rank, default=Effect.ADDITIVE)
