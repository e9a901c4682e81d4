"""A check of the way to the platform, within the time that a page may take.

What is tried is for `project` to say, which has the settings.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.db import connections

if TYPE_CHECKING:
    from crmclient.dataverse.checkup import Step

log = logging.getLogger(__name__)

Steps = Callable[[], "Iterable[Step]"]


@dataclass(frozen=True, slots=True)
class Checked:
    """`steps` are those that ended in time. `is_whole`: there were no more.

    `has_broken_off`: an error that nobody foresaw ended the check; the log has it.
    """

    steps: tuple[Step, ...]
    is_whole: bool
    has_broken_off: bool = False


class CheckUnderWay(Exception):
    """Another check of this process has not ended yet."""


class PlatformCheck:
    """One at a time in a process: what a page does not wait for any more goes on until its own time-out."""

    def __init__(self) -> None:
        self._steps: Steps = tuple
        self._under_way = threading.Lock()

    def provide(self, steps: Steps) -> None:
        self._steps = steps

    def run(self, seconds: float) -> Checked:
        """The steps that end within so many seconds. Raises CheckUnderWay."""
        if not self._under_way.acquire(blocking=False):
            raise CheckUnderWay
        told: queue.SimpleQueue[Step | bool] = queue.SimpleQueue()
        over = threading.Event()
        threading.Thread(target=self._tell, args=(told, over), name="platform check", daemon=True).start()
        ends = time.monotonic() + seconds
        found: list[Step] = []
        while True:
            try:
                step = told.get(timeout=max(0.0, ends - time.monotonic()))
            except queue.Empty:
                over.set()
                return Checked(tuple(found), is_whole=False)
            if isinstance(step, bool):
                return Checked(tuple(found), is_whole=step, has_broken_off=not step)
            found.append(step)

    def _tell(self, told: queue.SimpleQueue[Step | bool], over: threading.Event) -> None:
        """Each step as it ends, then whether these were all."""
        is_whole = False
        try:
            for step in self._steps():
                told.put(step)
                if over.is_set():
                    return
            is_whole = True
        except Exception:
            log.exception("the check of the platform broke off")
        finally:
            # The thread's own, of which nobody else knows.
            connections.close_all()
            self._under_way.release()
            told.put(is_whole)


platform_check: Final = PlatformCheck()
