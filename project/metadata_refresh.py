"""Fetching the platform's metadata anew by itself: by what has changed, in one process of the deployment.

Each process of the service has a thread for it. The one that has the claim in the database does it; when that
one is gone, its claim ends and another takes over.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import uuid

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connections

from crmclient import KeepsMetadata
from crmclient.errors import PlatformError
from designer.metadata_refresh import RefreshResult, refresh
from designer.platform import get_platform
from project import exclusive_jobs

logger = logging.getLogger("portico.metadata")

_CLAIM = "metadata"
_CHECKS_PER_INTERVAL = 10
"""How often each process checks within an interval whether a refresh is due.

More than once, so that another process soon takes over when the one with the claim is gone.
"""


def refresh_from_now_on() -> None:
    """Refresh the metadata again and again, on a thread of this process and of each process that it forks."""
    if settings.PORTICO["METADATA_REFRESH"] and settings.PORTICO["CRM_URL"]:
        os.register_at_fork(after_in_child=_start)
        _start()


def _start() -> None:
    """Start the thread that refreshes the metadata."""
    threading.Thread(target=_refresh_forever, name="metadata", daemon=True).start()


def _refresh_forever() -> None:
    """Refresh the metadata whenever that is due, as long as the process lives."""
    pause = threading.Event()
    interval = settings.PORTICO["METADATA_REFRESH"] * 60.0
    # Not while the service starts, nor all processes at the same moment.
    pause.wait(random.uniform(5, 30))  # noqa: S311  no secret
    while True:
        close_old_connections()
        refresh_if_due(interval)
        # The connection is not kept for the next turn.
        connections.close_all()
        pause.wait(interval / _CHECKS_PER_INTERVAL)


def refresh_if_due(interval: float) -> RefreshResult | None:
    """Refresh the metadata, unless a process has done so within the last `interval` seconds.

    Return what the refresh brought; None if it was not due, and if it failed. The next try is after another
    interval: a platform that is away is not asked more often.
    """
    try:
        # A new holder for each turn: as the same holder, this process would get the claim again before the
        # interval is over. A second less than the interval, so that a check at its end finds the claim over.
        is_due = exclusive_jobs.take(_CLAIM, uuid.uuid4().hex, interval - 1)
        if not is_due or not isinstance(get_platform(), KeepsMetadata):
            return None
        return _log_changes(refresh(by_changes=True))
    except (PlatformError, DatabaseError, InterfaceError) as error:
        logger.warning("The platform's metadata was not refreshed.", extra={"reason": type(error).__name__})
    except Exception:
        logger.exception("The platform's metadata was not refreshed.")
    return None


def _log_changes(brought: RefreshResult) -> RefreshResult:
    """Log which metadata a refresh has changed. Return `brought` as it is."""
    if brought.is_different:
        degraded = [endpoint.definition.key for endpoint in (brought.degraded or {}).values()]
        extra = {"entities": [news.entity for news in brought.news], "degraded": degraded}
        logger.info("The platform's metadata has changed.", extra=extra)
    return brought
