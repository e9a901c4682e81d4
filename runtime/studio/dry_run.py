"""A platform that notes what is asked of it and, in a dry run, is not asked what the rules do not need."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from crmclient import Platform
from crmclient.platform import Create, Delete, Update
from crmclient.query.ast import Page, Query
from crmclient.query.fetchxml.plain_queries import write_plain
from crmclient.stand_in import Effect, MemberCall, StandIn
from designer.ports import PlatformCall
from runtime.studio.json_text import readable

R = TypeVar("R")

# Characters of a request that are kept for people.
_LONGEST = 20_000


class NotSent(Exception):
    """A dry run has come to a request that it does not send to the platform."""


class RecordingPlatform(StandIn):
    """Passes everything on to `platform`, and records in `calls` every call that concerns records.

    The first call whose effect is one of `held_back` is recorded as it would have been sent, and raises
    NotSent. Give `calls` to let several platforms record in one list.
    """

    def __init__(
        self,
        platform: Platform,
        *,
        held_back: frozenset[Effect] = frozenset(),
        calls: list[PlatformCall] | None = None,
    ) -> None:
        super().__init__(platform)
        self._held = held_back
        self.calls: list[PlatformCall] = [] if calls is None else calls

    @classmethod
    def dry(cls, platform: Platform) -> RecordingPlatform:
        """Return a platform that passes on reads, and holds back writes."""
        return cls(platform, held_back=frozenset({Effect.WRITE}))

    def silent(self) -> RecordingPlatform:
        """Return a platform that holds back reads and writes, and records them in the same `calls`."""
        held_effects = frozenset({Effect.READ, Effect.WRITE})
        return RecordingPlatform(self._platform, held_back=held_effects, calls=self.calls)

    def answer(self, member_call: MemberCall, ask: Callable[[], R]) -> R:
        """Record the call, and pass it on. Raises NotSent for a call that is held back."""
        if member_call.effect is Effect.METADATA:
            return ask()
        request = _arguments_for_people(member_call.arguments, member_call.options)
        if member_call.effect in self._held:
            self.calls.append(PlatformCall(member_call.member, request, sent=False))
            raise NotSent(member_call.member)
        began = time.perf_counter()
        try:
            return ask()
        finally:
            milliseconds = (time.perf_counter() - began) * 1000
            self.calls.append(PlatformCall(member_call.member, request, sent=True, milliseconds=milliseconds))


def _arguments_for_people(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Return the arguments of a call for people to read: queries as FetchXML, other values as JSON."""
    shown_options = {key: item for key, item in kwargs.items() if item is not None and key != "call"}
    lines = [
        *(_argument_for_people(item) for item in args),
        *(f"{key}: {_argument_for_people(item)}" for key, item in shown_options.items()),
    ]
    return "\n".join(line for line in lines if line)[:_LONGEST]


def _argument_for_people(value: Any) -> str:
    """Return one argument of a call for people to read. The content of a file is left out."""
    if isinstance(value, str):
        return value
    if isinstance(value, Query):
        return write_plain(value)
    if isinstance(value, Page):
        return _page_for_people(value)
    if hasattr(value, "read"):
        return "…"
    return readable(_plain(value))


def _page_for_people(page: Page) -> str:
    """Return a page as text for people; empty for all rows at once."""
    facts = {"page size": page.size, "from": page.token, "total": "counted" if page.total else None}
    return "\n".join(f"{name}: {fact}" for name, fact in facts.items() if fact is not None)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it, with the items of a batch as objects."""
    if isinstance(value, (Create, Update, Delete)):
        return {"operation": type(value).__name__.lower(), **_plain(asdict(value))}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
