"""Answers whether the process lives, and whether it can serve. The log says why not."""

from __future__ import annotations

import datetime as dt
import logging
import threading
import time

from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    connection,
    connections,
    transaction,
)
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from crmclient.database_errors import Trouble, trouble_of
from crmclient.outages import Outage
from crmclient.watchdog import Watch

logger = logging.getLogger(__name__)


REMEMBERED = 3.0
"""Seconds that an answer of the database stands: whoever asks more often costs it nothing."""

PATIENCE = 0.9
"""Seconds that the database is given to answer. SQLite's wait for a lock, in whole seconds, is one then."""

_WRITE = (
    "INSERT INTO portico_claim (name, holder, until) VALUES ('ready', '', %s) "
    "ON CONFLICT (name) DO UPDATE SET until = excluded.until"
)


_unmigrated = Outage(
    logger,
    "Not ready: the database lacks migrations of this release. Run `manage.py prepare`.",
    "Ready: every migration is applied.",
)
_silent = Outage(
    logger,
    "Not ready: the database does not answer or cannot be written.",
    "Ready: the database answers and can be written.",
)


class _Readiness:
    """Whether the database is migrated and can be written to, as it said a moment ago.

    Safe to share between threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._migrated = False
        self._ready = False
        self._until = 0.0

    def check(self) -> bool:
        """Return whether the service is ready: migrations are applied and the database takes writes.
        Remembered for some seconds.
        """
        with self._lock:
            if time.monotonic() >= self._until:
                self._ready = self._are_migrations_applied() and self._is_writable()
                if self._ready:
                    _unmigrated.worked()
                    _silent.worked()
                # While migrations are missing, every request asks anew: the last one is noticed at once.
                self._until = time.monotonic() + REMEMBERED if self._migrated else 0.0
            return self._ready

    def forget(self) -> None:
        """Ask the database the next time, whatever its last answer was."""
        self._until = 0.0

    def _are_migrations_applied(self) -> bool:
        """Whether all migrations are applied. Once they are, this is not asked again while the
        server runs.
        """
        if not self._migrated:
            try:
                executor = MigrationExecutor(connection)
                self._migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
            except DatabaseError as error:
                _log_silence(error)
                return False
            if not self._migrated:
                _unmigrated.failed()
        return self._migrated

    def _is_writable(self) -> bool:
        """Whether the database takes writes, tried by a write.

        Nothing else shows a full disk, or a database that only reads.
        """
        # Not `connection`, which leads each thread to its own one: the watchdog is another thread.
        with Watch(connections[DEFAULT_DB_ALIAS], time.monotonic() + PATIENCE):
            try:
                with transaction.atomic(), connection.cursor() as cursor:
                    cursor.execute(_WRITE, (dt.datetime.now(dt.UTC),))
            except (DatabaseError, InterfaceError) as error:
                # A database that is busy with another writer takes writes, only later.
                if trouble_of(error) is not Trouble.BUSY:
                    _log_silence(error)
                    return False
        return True


def _log_silence(error: Exception) -> None:
    """Log that the database does not answer or cannot be written. `error` says why."""
    trouble = trouble_of(error)
    reason = type(error).__name__ if trouble is None else trouble.value
    _silent.failed(reason=reason)


readiness = _Readiness()


@require_safe
def live(request: HttpRequest) -> JsonResponse:
    """Answer that the process lives."""
    return _answer(200, "live")


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Answer whether the service can serve: 200 or 503."""
    return _answer(200, "ready") if readiness.check() else _answer(503, "unavailable")


def _answer(status: int, word: str) -> JsonResponse:
    return JsonResponse({"status": word}, status=status, headers={"Cache-Control": "no-store"})
