"""Asking the platform what others have changed of what is cached, in one process of the deployment.

Each process of the service has a thread for it, as for the metadata: the one that has the claim asks.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
import uuid

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connections

from crmclient.errors import PlatformError
from designer.models import TrackedEntity
from project import exclusive_jobs
from runtime.caching.platform_changes import end_what_has_changed
from runtime.serving.served import Served, current, revision

logger = logging.getLogger("portico.caching")

_CLAIM = "changes"
_CHECKS_PER_INTERVAL = 4
"""How often each process checks within an interval whether it is time to ask the platform for changes."""


def poll_from_now_on() -> None:
    """Ask for changes again and again, on a thread of this process and of each process that it forks."""
    if settings.PORTICO["CRM_CHANGES"] and settings.PORTICO["CRM_URL"]:
        os.register_at_fork(after_in_child=_start)
        _start()


def _start() -> None:
    """Start the thread that asks for changes."""
    threading.Thread(target=_poll_forever, name="changes", daemon=True).start()


def _poll_forever() -> None:
    """Ask for the platform's changes whenever that is due, as long as the process lives.

    In each interval, one process of those that serve asks.
    """
    pause = threading.Event()
    interval = float(settings.PORTICO["CRM_CHANGES"])
    while True:
        # Not all processes at the same moment.
        pause.wait(interval / _CHECKS_PER_INTERVAL * random.uniform(0.5, 1.5))  # noqa: S311  no secret
        if revision() is None:
            # This process has served nobody yet, or is the parent of those that serve.
            continue
        close_old_connections()
        poll_if_due(interval)
        # The connection is not kept for the next turn.
        connections.close_all()


def poll_if_due(interval: float) -> list[str]:
    """Ask for changes, unless a process has done so within the last `interval` seconds. Return the changed
    entities.
    """
    try:
        served = current()
        # Entities that no endpoint caches any more are forgotten by one more poll.
        if not served.caches and not TrackedEntity.objects.exists():
            return []
        return _poll_alone(served, interval)
    except (PlatformError, DatabaseError, InterfaceError) as error:
        logger.warning("The platform was not asked for changes.", extra={"reason": type(error).__name__})
    except Exception:
        logger.exception("The platform was not asked for changes.")
    return []


def _poll_alone(served: Served, interval: float) -> list[str]:
    """Ask the platform for changes, unless another process has in this interval. Return the entities whose
    cached answers have ended.
    """
    # A new holder for each turn. As the same holder, this process would get the claim again before the
    # interval is over.
    holder, begun, timeout = uuid.uuid4().hex, time.monotonic(), float(settings.PORTICO["METADATA_TIMEOUT"])
    # For longer than the question may take.
    if not exclusive_jobs.take(_CLAIM, holder, timeout + interval):
        return []
    try:
        return end_what_has_changed(served.configuration, served.platform, begun + timeout)
    finally:
        # Until the interval is nearly over, no process may ask again. The claim then ends a little early, so
        # that a check at the interval's end finds it free.
        exclusive_jobs.take(_CLAIM, holder, max(interval * 0.9 - (time.monotonic() - begun), 0))
