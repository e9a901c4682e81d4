"""What a change means to those who call, and how a setting says so of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any


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
        """0 for the most harmless effect."""
        return list(Effect).index(self)


@dataclass(frozen=True, slots=True)
class Told:
    """Annotates a setting: what versions call it, and what another value means to callers."""

    label: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class ToldBy:
    """Annotates a setting: `words` takes its stored values before and after a change. It returns a sentence
    about the change, and what the change means to callers.

    None as a value stands for the default.
    """

    words: Callable[[Any, Any], tuple[str, Effect]]


@dataclass(frozen=True, slots=True)
class Switch:
    """Annotates a setting that is on or off: the sentence for either, and what it means to callers."""

    on: str
    on_effect: Effect
    off: str
    off_effect: Effect
