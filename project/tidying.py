"""Removing what has expired, in small steps, beside the requests and never within one.

Each process of the service has a thread for it, and one of them does it at a time. `manage.py tidy` does it
at once.
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

from project import claims
from project.expired_rows import kinds

logger = logging.getLogger("portico.tidying")

INTERVAL = 300.0
"""Seconds from one round to the next, of all processes together."""

BATCH = 500
"""Rows of a step: what a writer waits for at most."""

PAUSE = 0.05
"""Seconds between two steps, for everybody else."""

# While a step runs, nobody else takes the round over. Whoever is killed in a step keeps it for so long.
_LEASE = 30.0
_ROUND, _DUE = "tidying", "tidied"


class Busy(Exception):
    """Another process is at it."""


def tidy(*, waits: bool = False) -> Iterator[tuple[str, int]]:
    """Remove all that has expired: name and number of each kind, as it is done.

    Raises Busy while another process is at it. With `waits`, one that was killed does not count: what it had
    is taken over once its lease is up, in half a minute at most.
    """
    holder = uuid.uuid4().hex
    take = claims.take_from_the_dead if waits else claims.take
    if not take(_ROUND, holder, _LEASE):
        raise Busy
    try:
        for kind in kinds():
            removed = 0
            while step := kind.remove(BATCH):
                removed += step
                # Who was away for so long that another took over stops.
                if not claims.take(_ROUND, holder, _LEASE):
                    raise Busy
                time.sleep(PAUSE)
            yield kind.name, removed
    finally:
        claims.give_back(_ROUND, holder)


def tidy_from_now_on() -> None:
    """Let a thread of this process tidy again and again, and one of each process that it forks."""
    os.register_at_fork(after_in_child=_start)
    _start()


def _start() -> None:
    threading.Thread(target=_again_and_again, name="tidying", daemon=True).start()


def _again_and_again() -> None:
    process, pause = uuid.uuid4().hex, threading.Event()
    # Not while the service starts, nor all processes at the same moment.
    pause.wait(random.uniform(5, 30))  # noqa: S311  no secret
    while True:
        _round_if_due(process)
        pause.wait(INTERVAL)


def _round_if_due(process: str) -> None:
    try:
        close_old_connections()
        if claims.take(_DUE, process, INTERVAL - 1):
            removed = {name: number for name, number in tidy() if number}
            if removed:
                logger.info("Expired rows were removed.", extra={"removed": removed})
    except Busy:
        pass
    except (DatabaseError, InterfaceError) as error:
        logger.warning("Expired rows were not removed.", extra={"reason": type(error).__name__})
    except Exception:
        logger.exception("Expired rows were not removed.")
    finally:
        # The connection is not kept for the next round.
        connections.close_all()
