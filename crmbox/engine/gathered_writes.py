"""Writes of several threads in one transaction, where they come at the same time.

Whoever raises the version holds its lock until the disk has the commit, so that writers one after the other
would wait for the disk one after the other. While one writes, others gather here; the first of them then
writes for all, and the disk is waited for once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

from crmbox.engine.dialects.base import DbValue, NotTogether, Row

_PATIENCE: Final = 1.0
"""Seconds after which whoever waits for its turn lets the database decide."""

_MOST: Final = 32
"""Writes in one transaction: all of them wait for all of them."""


class Write:
    """One statement made with the dialect's `at_once`, and what became of it.

    `called` is set once another thread has written it, or it is this thread's turn to write for the `batch`.
    """

    __slots__ = ("batch", "called", "error", "params", "rows", "sql", "token")

    def __init__(self, sql: str, token: str, params: Sequence[DbValue]) -> None:
        self.sql = sql
        self.token = token
        self.params = params
        self.called = threading.Event()
        self.batch: list[Write] = []
        self.rows: list[Row] | None = None
        self.error: BaseException | None = None


class Gathering:
    """The writers of one database in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_busy = False
        self._waiting: list[Write] = []

    def write(
        self,
        write: Write,
        alone: Callable[[], list[Row]],
        together: Callable[[Sequence[Write]], list[list[Row]]],
    ) -> list[Row]:
        """The rows of a write. `alone` and `together` write on the thread's own connection.

        Raises what these raise. What cannot be written together is written alone.
        """
        with self._lock:
            leads = not self._is_busy
            if leads:
                self._is_busy = True
                write.batch = [write]
            else:
                self._waiting.append(write)
        if not leads and not self._called(write):
            return alone()
        if not write.batch:
            if write.error is not None:
                raise write.error
            return alone() if write.rows is None else write.rows
        try:
            return self._lead(write.batch, alone, together)
        finally:
            self._hand_over()

    def _called(self, write: Write) -> bool:
        """Whether the write's turn came, or somebody wrote it, in time."""
        if write.called.wait(_PATIENCE):
            return True
        with self._lock:
            if write in self._waiting:
                self._waiting.remove(write)
                return False
        # Somebody is about it: whether it is written nobody else can say.
        write.called.wait()
        return True

    def _lead(
        self,
        batch: Sequence[Write],
        alone: Callable[[], list[Row]],
        together: Callable[[Sequence[Write]], list[list[Row]]],
    ) -> list[Row]:
        first, *others = batch
        if not others:
            return alone()
        try:
            for write, rows in zip(batch, together(batch), strict=True):
                write.rows = rows
        except NotTogether:
            pass
        except BaseException as error:
            for write in others:
                write.error = error
            raise
        finally:
            for write in others:
                write.called.set()
        return alone() if first.rows is None else first.rows

    def _hand_over(self) -> None:
        """Let the first of those who wait write for all of them."""
        with self._lock:
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            self._is_busy = bool(batch)
            if batch:
                batch[0].batch = batch
                batch[0].called.set()
