"""Serve Portico with granian, the server program that docs/performance.md measured best."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, InterfaceError, connections
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from designer.platform import get_platform
from project.addresses import CannotListen, address_to_listen_on, is_loopback, url_of
from project.checks import refuse_a_wrong_start
from project.demo import ACCOUNTS, ACCOUNTS_LINE
from project.observability import shared_figures
from project.server.supervisor import Supervisor

# Seconds that workers get to finish their requests when the service is stopped.
GRACE_SECONDS = 30
# All headers of a request together, in bytes; more are 431. Each connection may hold as much in memory.
_LONGEST_HEADERS = 128 * 1024


class Command(BaseCommand):
    help = "Serve the studio and the API on HOST and PORT with WORKERS processes of THREADS threads each."

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the start, and serve until the service is stopped. Raises CommandError for an address that
        cannot be used.
        """
        refuse_a_wrong_start()
        host, port = settings.PORTICO["HOST"], settings.PORTICO["PORT"]
        try:
            address = address_to_listen_on(host, port)
        except CannotListen as error:
            raise CommandError(str(error)) from error
        # The server forks: no process may inherit another's connection, or a platform, which may hold some.
        connections.close_all()
        get_platform.cache_clear()
        server = Supervisor(
            "project.wsgi:application",
            announce=lambda ready: self._announce(url_of(host, port), host, ready),
            patience=_patience(),
            address=address,
            port=port,
            # ASGI waits for clients without holding a thread; Django runs under WSGI all the same.
            interface=Interfaces.ASGINL,
            # It hands requests to our threads, under Python's lock: a second one would wait for the first.
            runtime_blocking_threads=1,
            # HTTP/2's own flow control would hide readers that take nothing.
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(
                header_read_timeout=settings.PORTICO["CLIENT_PATIENCE"] * 1000,
                max_buffer_size=_LONGEST_HEADERS,
            ),
            workers=settings.PORTICO["WORKERS"],
            websockets=False,
            workers_kill_timeout=GRACE_SECONDS,
            log_level=LogLevels.warning,
            log_dictconfig=_log_configuration(),
        )
        with shared_figures.folder():
            server.serve_and_supervise()

    def _announce(self, url: str, host: str, ready: bool) -> None:
        """Print where the service listens, and whether it is ready."""
        lines = [
            "",
            f"Portico listens on {url} (stop it with Ctrl-C)",
            "",
            f"  Studio       {url}/admin/",
            f"  API docs     {url}/api/docs",
            f"  API schema   {url}/api/openapi.json",
        ]
        if not ready:
            lines += ["", "  It is not ready to serve yet. Its log says why."]
        elif settings.DEVELOPMENT and is_loopback(host) and _has_demo_accounts():
            lines += ["", f"  {ACCOUNTS_LINE}, unless you changed it"]
        self.stdout.write("\n".join([*lines, ""]))
        self.stdout.flush()


def _has_demo_accounts() -> bool:
    """Whether the database has all accounts of the demo. It may have been prepared without the demo."""
    try:
        names = get_user_model().objects.filter(username__in=ACCOUNTS)
        return names.count() == len(ACCOUNTS)
    except (DatabaseError, InterfaceError):
        # The service goes on: only a line for people depends on it.
        return False
    finally:
        # A worker that is started later must not inherit the connection.
        connections.close_all()


def _patience() -> int:
    """Return after how many seconds a silent worker is ended; 0 for never.

    It is longer than REQUEST_DEADLINE, because threads may be busy for so long.
    """
    patience, deadline = settings.PORTICO["WORKER_PATIENCE"], settings.PORTICO["REQUEST_DEADLINE"]
    return int(max(patience, deadline + 5)) if patience else 0


def _log_configuration() -> dict[str, Any]:
    """Return the log configuration for granian: the service's own handlers write its lines."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {},
        "handlers": {},
        "loggers": {"_granian": {"propagate": True}},
    }
