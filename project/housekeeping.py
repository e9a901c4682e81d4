"""Removing what has expired, in small steps, beside the requests and never within one.

Each process of the service has a thread for this; one process at a time removes rows. `manage.py tidy`
removes them at once.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
import uuid
from collections.abc import Iterator

from django.db import DatabaseError, InterfaceError, close_old_connections, connections

from project import exclusive_jobs
from project.expired_rows import kinds

logger = logging.getLogger("portico.tidying")

INTERVAL = 300.0
"""Seconds from one round to the next, of all processes together."""

BATCH = 500
"""Rows removed in one step. A writer waits for one step at most."""

PAUSE = 0.05
"""Seconds between two steps, to let other writers in."""

# Seconds after which another process may take a round over, when the one that had it was killed in a step.
_LEASE = 30.0
# Claims: for the time of a round, and for the interval in which no other round begins.
_ROUND, _DUE = "tidying", "tidied"


class Busy(Exception):
    """Another process is removing expired rows."""


def tidy(*, waits: bool = False) -> Iterator[tuple[str, int]]:
    """Remove all expired rows. Yield the name of each kind and the number of removed rows.

    Raises Busy while another process removes rows. With `waits`, wait up to half a minute for the lease of a
    process that was killed, and take its round over.
    """
    holder = uuid.uuid4().hex
    take = exclusive_jobs.take_from_the_dead if waits else exclusive_jobs.take
    if not take(_ROUND, holder, _LEASE):
        raise Busy
    try:
        for kind in kinds():
            removed = 0
            while step := kind.remove(BATCH):
                removed += step
                # Stop when this process was suspended for so long that another one has taken over.
                if not exclusive_jobs.take(_ROUND, holder, _LEASE):
                    raise Busy
                time.sleep(PAUSE)
            yield kind.name, removed
    finally:
        exclusive_jobs.give_back(_ROUND, holder)


def tidy_from_now_on() -> None:
    """Remove expired rows again and again, on a thread of this process and of each process that it forks."""
    os.register_at_fork(after_in_child=_start)
    _start()


def _start() -> None:
    """Start the thread that removes expired rows."""
    threading.Thread(target=_tidy_forever, name="tidying", daemon=True).start()


def _tidy_forever() -> None:
    """Remove expired rows at every interval, as long as the process lives."""
    process, pause = uuid.uuid4().hex, threading.Event()
    # Wait until the service has started, and do not let all processes begin at the same moment.
    pause.wait(random.uniform(5, 30))  # noqa: S311  no secret
    while True:
        _round_if_due(process)
        pause.wait(INTERVAL)


def _round_if_due(process: str) -> None:
    """Remove expired rows, unless another process has done so within the interval. A failure is
    only logged.
    """
    try:
        close_old_connections()
        # A second less: whoever comes after just one interval finds the claim over.
        if exclusive_jobs.take(_DUE, process, INTERVAL - 1):
            removed = {name: number for name, number in tidy() if number}
            if removed:
                logger.info("Expired rows were removed.", extra={"removed": removed})
    except Busy:
        # Another process removes rows at this moment, such as `manage.py tidy`.
        pass
    except (DatabaseError, InterfaceError) as error:
        logger.warning("Expired rows were not removed.", extra={"reason": type(error).__name__})
    except Exception:
        logger.exception("Expired rows were not removed.")
    finally:
        # The connection is not kept for the next round.
        connections.close_all()
