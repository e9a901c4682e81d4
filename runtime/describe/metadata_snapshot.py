"""A platform's metadata as it is when first asked for, however many endpoints are described by it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from crmclient import Platform
from crmclient.stand_in import Asked, Effect, StandIn

R = TypeVar("R")


class NotMetadata(Exception):
    """A description has asked for records, which it must not hold."""


class MetadataSnapshot(StandIn):
    """Asks `platform` for each piece of its metadata once: one revision is not described by two."""

    def __init__(self, platform: Platform) -> None:
        super().__init__(platform)
        self._answers: dict[Hashable, Any] = {}

    def answer(self, asked: Asked, ask: Callable[[], R]) -> R:
        """Raises NotMetadata for what reads or writes records."""
        if asked.effect is not Effect.METADATA:
            raise NotMetadata(asked.member)
        key = (asked.member, asked.arguments, tuple(sorted(asked.options.items())))
        if key not in self._answers:
            self._answers[key] = ask()
        return cast(R, self._answers[key])
