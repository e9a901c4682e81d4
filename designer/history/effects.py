"""Changes in sentences, each with its effect on callers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from designer.kinds.effects import Effect

__all__ = ["Effect", "Line", "worst"]


@dataclass(frozen=True, slots=True)
class Line:
    """One change in a sentence."""

    text: str
    effect: Effect


def worst(effects: Iterable[Effect]) -> Effect:
    """Return the most serious effect; the most harmless one where there are none."""
    return max(effects, key=lambda effect: effect.rank, default=Effect.ADDITIVE)
