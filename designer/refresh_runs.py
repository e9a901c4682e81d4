"""Refreshes of the metadata that somebody asks for in the studio, and that go on without a page that waits.

`project`, which knows whose job it is among the processes, provides them.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Protocol

from crmclient.metadata_progress import Progress
from designer.metadata_refresh import RefreshResult


@dataclass(frozen=True, slots=True)
class RefreshRun:
    """A refresh that runs (`ended` is None) or that has ended.

    `longest_request` is how many seconds the platform has for each request; None where that is not known. At
    the end there is a `result`, or a `reason` why there is none with what to do about it (`advice`). Without
    either, the process that ran the refresh is gone.
    """

    started: dt.datetime
    ended: dt.datetime | None = None
    progress: Progress = field(default_factory=Progress)
    longest_request: float | None = None
    result: RefreshResult | None = None
    reason: str = ""
    advice: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether nobody knows how it would have ended."""
        return self.ended is not None and self.result is None and not self.reason


class RefreshRuns(Protocol):
    """The refreshes of all processes of the deployment."""

    def begin(self, account: str, address: str) -> bool:
        """Have the metadata refreshed for an account at a network address. Does not wait for it.

        Return False while a refresh that somebody asked for runs: no other is begun.
        """
        ...

    def latest(self) -> RefreshRun | None:
        """Return the refresh that runs, else the one that ended last; None if there was none."""
        ...


_refresh_runs: RefreshRuns | None = None


def provide(refresh_runs: RefreshRuns) -> None:
    """Provide the refreshes, once, at start."""
    global _refresh_runs
    _refresh_runs = refresh_runs


def get_refresh_runs() -> RefreshRuns:
    """Return the refreshes. Raises RuntimeError when none were provided."""
    if _refresh_runs is None:
        raise RuntimeError("no refreshes have been provided to the studio")
    return _refresh_runs
