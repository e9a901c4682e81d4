"""Ends what a database still does for a thread when the thread's time is up.

A thread that waits for a statement cannot look at the clock. One thread of the process does that for all
others: it asks the database to end the statement, which costs no request a trip, and cuts the connection
where that does not help. It knows the drivers of SQLite and PostgreSQL by what their connections can do.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Final

log = logging.getLogger(__name__)

TICK: Final = 0.1
"""Seconds between two looks.

A statement ends that much too late. A server that does not answer a cancellation adds up to LAST_RESORT, for
the statements of other watches, too.
"""

LAST_RESORT: Final = 0.5
"""Seconds that a server is given to end a statement, before its connection is cut."""

# libpq's PQTRANS_ACTIVE: a statement is under way.
_ACTIVE = 1


class Watch:
    """`with Watch(database, deadline):` no statement of the thread runs on past `deadline`. Watches may be
    nested.

    SQLite's wait for a lock, which nothing can end, is only shortened when the watch begins: one that begins
    later may last past the deadline by the time that has gone by since.

    `database` is Django's wrapper of the thread's connection. `deadline` is a `time.monotonic()` second,
    which may be moved. `struck` says whether a statement may have been ended. That may have been at any
    point, so the connection is closed at the end, unless somebody's transaction goes on with it.
    """

    __slots__ = ("_database", "_lock", "_over", "_usual_wait", "deadline", "struck")

    def __init__(self, database: Any, deadline: float) -> None:
        self.deadline = deadline
        self.struck = False
        self._database = database
        # Held while a statement is being ended: the watch cannot end meanwhile.
        self._lock = threading.Lock()
        # Whether the watch has ended: then nothing of the thread may be ended any more.
        self._over = False
        # For how many milliseconds SQLite waited for a lock before this watch; None unless it shortened that.
        self._usual_wait: int | None = None

    def __enter__(self) -> Watch:
        """Begin the watch, and shorten SQLite's wait for a lock if that could last past the deadline."""
        # An outer watch may have shortened it already: that is found out only then.
        if self._database.vendor == "sqlite" and self._whole_seconds_left() < _longest_wait(self._database):
            self._shorten_wait()
        _watchdog.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the watch. Close the connection if a statement may have been ended; reset SQLite's wait."""
        # While a statement is being ended this waits: what the thread does next must not be hit.
        with self._lock:
            self._over = True
        _watchdog.remove(self)
        if self.struck and not self._database.in_atomic_block:
            self._database.close()
        elif self._usual_wait is not None and self._database.connection is not None:
            _set_wait(self._database.connection, self._usual_wait)

    def _shorten_wait(self) -> None:
        """Shorten SQLite's wait for a lock to the time that is left, because nothing can end that wait.

        The wait is counted in whole seconds, so that a watch of the usual length need not change it.
        """
        # A connection that the first statement opened would wait the longest. Where it cannot be opened,
        # that statement says so.
        with suppress(Exception):
            self._database.ensure_connection()
        connection = self._database.connection
        if connection is None:
            return
        (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
        left = self._whole_seconds_left() * 1000
        if left < usual:
            self._usual_wait = usual
            _set_wait(connection, left)

    def _whole_seconds_left(self) -> int:
        """Return the seconds until the deadline, rounded up; at least 1."""
        return max(1, math.ceil(self.deadline - time.monotonic()))

    def strike(self, now: float) -> None:
        """End a statement that runs past the deadline. Called again and again, since another statement may
        follow. The server is asked to end it; LAST_RESORT seconds after the deadline the connection is cut.
        """
        if now < self.deadline:
            return
        with self._lock:
            connection = None if self._over else self._database.connection
            if connection is None:
                return
            try:
                if _end(connection, cut=now >= self.deadline + LAST_RESORT):
                    self.struck = True
            except Exception as error:
                # A server that has not answered in time may still end a statement: then it would be the
                # statement of whoever is given the connection next.
                self.struck = True
                log.warning("A statement that runs too late cannot be ended: %s.", type(error).__name__)


class _Watchdog:
    """The thread that looks at all watches. It sleeps while there are none, and is started when needed."""

    def __init__(self) -> None:
        self.begin()
        # A child process has no threads but the one that forked it.
        os.register_at_fork(after_in_child=self.begin)

    def begin(self) -> None:
        """Forget all watches and the thread. A new process begins with neither."""
        self._watches: set[Watch] = set()
        self._needed = threading.Event()
        self._starting = threading.Lock()
        self._started = False

    def add(self, watch: Watch) -> None:
        """Look at a watch from now on. Start the thread, or wake it up, if need be."""
        self._watches.add(watch)
        if not self._needed.is_set():
            self._needed.set()
            if not self._started:
                self._start()

    def remove(self, watch: Watch) -> None:
        self._watches.discard(watch)

    def _start(self) -> None:
        """Start the thread, unless another thread has just started it."""
        with self._starting:
            if not self._started:
                self._started = True
                threading.Thread(target=self._run, name="watchdog", daemon=True).start()

    def _run(self) -> None:
        """Call `strike` of every watch, again and again: it ends only a statement past its deadline. Sleep
        while there are no watches.
        """
        while True:
            if not self._watches:
                self._needed.clear()
                # One may have come between the two lines, and found the event set.
                if not self._watches:
                    self._needed.wait()
            time.sleep(TICK)
            now = time.monotonic()
            for watch in tuple(self._watches):
                watch.strike(now)


_watchdog = _Watchdog()


def _longest_wait(database: Any) -> float:
    """Return the seconds for which SQLite usually waits for a lock: the setting, or Python's default."""
    seconds: float = database.settings_dict["OPTIONS"].get("timeout", 5.0)
    return seconds


def _set_wait(connection: Any, milliseconds: int) -> None:
    """Set how long a connection of SQLite waits for a lock."""
    connection.execute(f"PRAGMA busy_timeout = {milliseconds}")


def _end(connection: Any, *, cut: bool) -> bool:
    """End the statement that runs on the connection. Return whether there may have been one.

    With `cut`, the connection to the server is cut. Otherwise the server is asked to end the statement.
    """
    # Only connections of SQLite have this method, which does nothing while no statement runs.
    if hasattr(connection, "interrupt"):
        connection.interrupt()
        return True
    if connection.closed or connection.pgconn.transaction_status != _ACTIVE:
        return False
    if cut:
        # A second socket over the same connection, so that closing it does not close the driver's own.
        with socket.socket(fileno=os.dup(connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)
    else:
        connection.cancel_safe(timeout=LAST_RESORT)
    return True
