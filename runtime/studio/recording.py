"""A platform that notes what is asked of it and, in a dry run, is not asked what the rules do not need."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from crmclient import Platform
from crmclient.platform import Create, Delete, Update
from crmclient.query.ast import Page, Query
from crmclient.query.fetchxml.plain import write_plain
from designer.ports import PlatformCall
from runtime.studio.readable import readable

_READS = frozenset({"retrieve", "query", "download"})
_WRITES = frozenset({"create", "update", "delete", "batch", "upload", "execute"})
_LONGEST = 20_000


class NotSent(Exception):
    """A dry run has come to what it would have asked of the platform."""


class RecordingPlatform:
    """Passes everything on to `platform` and keeps, in `calls`, what concerned records.

    The first request that is of those to be `held` is kept as it would have been sent, and raises NotSent.
    """

    def __init__(
        self,
        platform: Platform,
        *,
        held: frozenset[str] = frozenset(),
        calls: list[PlatformCall] | None = None,
    ) -> None:
        self._platform = platform
        self._held = held
        self.calls: list[PlatformCall] = [] if calls is None else calls

    @classmethod
    def dry(cls, platform: Platform) -> RecordingPlatform:
        """One that reads, and writes nothing."""
        return cls(platform, held=_WRITES)

    def silent(self) -> RecordingPlatform:
        """The same platform and the same `calls`, for requests that are never to be sent."""
        return RecordingPlatform(self._platform, held=_READS | _WRITES, calls=self.calls)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._platform, name)
        return self._noted(name, found) if name in _READS | _WRITES else found

    def _noted(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            request = _text(args, kwargs)
            if name in self._held:
                self.calls.append(PlatformCall(name, request, sent=False))
                raise NotSent(name)
            began = time.perf_counter()
            try:
                return method(*args, **kwargs)
            finally:
                took = (time.perf_counter() - began) * 1000
                self.calls.append(PlatformCall(name, request, sent=True, milliseconds=took))

        return call


def _text(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The arguments for people to read: queries as FetchXML, other values as JSON."""
    named = {key: item for key, item in kwargs.items() if item is not None and key != "call"}
    lines = [
        *(_readable(item) for item in args),
        *(f"{key}: {_readable(item)}" for key, item in named.items()),
    ]
    return "\n".join(line for line in lines if line)[:_LONGEST]


def _readable(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Query):
        return write_plain(value)
    if isinstance(value, Page):
        return _page(value)
    if hasattr(value, "read"):
        return "…"
    return readable(_plain(value))


def _page(page: Page) -> str:
    """Empty for all rows at once."""
    facts = {"page size": page.size, "from": page.token, "total": "counted" if page.total else None}
    return "\n".join(f"{name}: {fact}" for name, fact in facts.items() if fact is not None)


def _plain(value: Any) -> Any:
    """What JSON holds, with the items of a batch as objects."""
    if isinstance(value, (Create, Update, Delete)):
        return {"operation": type(value).__name__.lower(), **_plain(asdict(value))}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
