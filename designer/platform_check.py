"""A check of the way to the platform, within the time that a page may take.

`project`, which has the settings, provides the steps.
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

from crmclient.sentences import Sentence

if TYPE_CHECKING:
    from crmclient.dataverse.checkup import Step

log = logging.getLogger(__name__)

Steps = Callable[[], "Iterable[Step]"]
Reason = Callable[[], "Sentence | None"]


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check. `steps` are those that ended in time. `is_whole`: there were no more.

    `has_broken_off`: an unforeseen error ended the check; the log has it.
    """

    steps: tuple[Step, ...]
    is_whole: bool
    has_broken_off: bool = False


class CheckUnderWay(Exception):
    """Another check of this process has not ended yet."""


class PlatformCheck:
    """Runs checks one at a time in a process.

    A check that a page no longer waits for goes on until its own time-out.
    """

    def __init__(self) -> None:
        self._steps: Steps = tuple
        self._why_no_steps: Reason = lambda: None
        self._under_way = threading.Lock()

    def provide(self, steps: Steps, why_no_steps: Reason = lambda: None) -> None:
        """Set the function that yields the steps of a check, and the one that `why_not` asks. Until then, a
        check has no steps.
        """
        self._steps, self._why_no_steps = steps, why_no_steps

    def why_not(self) -> Sentence | None:
        """Return why there is nothing to check; None if there is."""
        return self._why_no_steps()

    def run(self, seconds: float) -> Checked:
        """Return the steps of a check that end within so many seconds. Raises CheckUnderWay."""
        if not self._under_way.acquire(blocking=False):
            raise CheckUnderWay
        results: queue.SimpleQueue[Step | bool] = queue.SimpleQueue()
        over = threading.Event()
        threading.Thread(
            target=self._run_steps, args=(results, over), name="platform check", daemon=True
        ).start()
        deadline = time.monotonic() + seconds
        steps: list[Step] = []
        while True:
            try:
                step = results.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                over.set()
                return Checked(tuple(steps), is_whole=False)
            # The last item in the queue says whether the check has come to its end.
            if isinstance(step, bool):
                return Checked(tuple(steps), is_whole=step, has_broken_off=not step)
            steps.append(step)

    def _run_steps(self, results: queue.SimpleQueue[Step | bool], over: threading.Event) -> None:
        """Run the check: put each step into the queue as it ends, and then whether these were all."""
        is_whole = False
        try:
            for step in self._steps():
                results.put(step)
                if over.is_set():
                    return
            is_whole = True
        except Exception:
            log.exception("the check of the platform broke off")
        finally:
            # The connections of this thread, which nobody else would close.
            connections.close_all()
            # Before the last item: whoever has read that may begin the next check.
            self._under_way.release()
            results.put(is_whole)


platform_check: Final = PlatformCheck()
