"""What the work under way is asking the platform's metadata for, noted for whoever shows it meanwhile.

Metadata is asked for in many places and on several threads. Whoever begins the work says that it wants to
know; elsewhere nothing is noted.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is. `asked` are the keys of the parts (`crmclient.metadata_parts`) that the platform
    is being asked for; `done` of `total` parts have come.
    """

    asked: tuple[str, ...] = ()
    done: int = 0
    total: int = 0


class ProgressNotes:
    """The parts that are expected, are being asked for, and have come. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._expected: set[str] = set()
        # A dictionary for its order.
        self._asked: dict[str, None] = {}
        self._ended: set[str] = set()

    def progress(self) -> Progress:
        with self._lock:
            return Progress(tuple(self._asked), len(self._ended), len(self._expected))

    def expect(self, parts: Iterable[str]) -> None:
        """Note that these parts will be asked for."""
        with self._lock:
            self._expected.update(parts)

    def begin(self, parts: Iterable[str]) -> None:
        """Note that the platform is being asked for these parts, perhaps once more."""
        with self._lock:
            for part in parts:
                self._expected.add(part)
                self._ended.discard(part)
                self._asked[part] = None

    def end(self, parts: Iterable[str]) -> None:
        """Note that nobody is asking for these parts any more."""
        with self._lock:
            for part in parts:
                self._asked.pop(part, None)
                self._ended.add(part)


_notes: ContextVar[ProgressNotes | None] = ContextVar("portico_metadata_progress", default=None)


@contextmanager
def noting_progress() -> Iterator[ProgressNotes]:
    """In this block, note which parts of the metadata are asked for, on other threads of the work, too."""
    notes = ProgressNotes()
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def expect_parts(parts: Iterable[str]) -> None:
    """Note, for whoever wants to know, that these parts will be asked for."""
    notes = _notes.get()
    if notes is not None:
        notes.expect(parts)


@contextmanager
def asking_for(*parts: str) -> Iterator[None]:
    """Note, for whoever wants to know, that these parts are asked for in this block."""
    notes = _notes.get()
    if notes is None:
        yield
        return
    notes.begin(parts)
    try:
        yield
    finally:
        notes.end(parts)
