"""Whether the process lives, and whether it can serve. Neither says why not: the log does."""

from __future__ import annotations

import logging

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

logger = logging.getLogger(__name__)


class _Migrations:
    """Whether every migration is applied; asked until it is so: none is undone under a running server."""

    applied = False

    def check(self) -> bool:
        if not self.applied:
            executor = MigrationExecutor(connection)
            self.applied = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        return self.applied


_migrations = _Migrations()


@require_safe
def live(request: HttpRequest) -> JsonResponse:
    return _answer(200, "live")


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        migrated = _migrations.check()
    except DatabaseError as error:
        logger.warning("Not ready: the database does not answer.", extra={"reason": type(error).__name__})
        return _answer(503, "unavailable")
    if not migrated:
        logger.warning("Not ready: migrations are missing; run `manage.py migrate`.")
        return _answer(503, "unavailable")
    return _answer(200, "ready")


def _answer(status: int, word: str) -> JsonResponse:
    return JsonResponse({"status": word}, status=status, headers={"Cache-Control": "no-store"})
