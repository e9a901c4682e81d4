"""Asking the platform what others have changed of what is cached, in one process of the deployment.

Each process of the service has a thread for it, as for the metadata: the one that has the claim asks.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import uuid

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connections

from crmclient.errors import PlatformError
from designer.loading import latest
from designer.platform import get_platform
from project import claims
from runtime.caching.platform_changes import end_what_has_changed

logger = logging.getLogger("portico.caching")

_DUE = "changes"


def poll_from_now_on() -> None:
    """Let a thread of this process ask again and again, and one of each process that it forks."""
    if settings.PORTICO["CRM_CHANGES"] and settings.PORTICO["CRM_URL"]:
        os.register_at_fork(after_in_child=_start)
        _start()


def _start() -> None:
    threading.Thread(target=_again_and_again, name="changes", daemon=True).start()


def _again_and_again() -> None:
    pause = threading.Event()
    interval = float(settings.PORTICO["CRM_CHANGES"])
    while True:
        # Not all processes at the same moment.
        pause.wait(interval * random.uniform(0.5, 1.0))  # noqa: S311  no secret
        close_old_connections()
        poll_if_due(interval)
        connections.close_all()


def poll_if_due(interval: float) -> list[str]:
    """Ask, unless some process has in the last `interval` seconds; the entities with changes."""
    try:
        if claims.take(_DUE, uuid.uuid4().hex, interval * 0.9):
            return end_what_has_changed(latest(), get_platform())
    except (PlatformError, DatabaseError, InterfaceError) as error:
        logger.warning("The platform was not asked for changes.", extra={"reason": type(error).__name__})
    except Exception:
        logger.exception("The platform was not asked for changes.")
    return []
