"""Group commit: writes of several threads in one transaction, where they come at the same time.

A writer locks the version counter until its commit is on disk, so that single writes would wait for the disk
one after the other. Instead, while one thread writes, others gather here; the first of them then writes for
all, and they wait for the disk once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

from crmbox.engine.dialects.base import BatchNotWritten, DbValue, Row
from crmclient.errors import AnswerLost

_PATIENCE: Final = 1.0
"""Seconds to wait for a turn. After that, the thread writes alone, and the database orders the writes."""

_MOST: Final = 32
"""The most writes in one transaction: each of them waits for all others."""

_INTERRUPTED: Final = "The write was interrupted. The record may have been written."


class Write:
    """One statement made with the dialect's `at_once`, and its result.

    `called` is set once another thread has written it, or it is this thread's turn to write for the `batch`.
    """

    __slots__ = ("batch", "called", "error", "params", "rows", "sql", "token")

    def __init__(self, sql: str, token: str, params: Sequence[DbValue]) -> None:
        self.sql = sql
        self.token = token
        self.params = params
        self.called = threading.Event()
        # The writes that this thread has to write together, its own first; empty: another thread does it.
        self.batch: list[Write] = []
        # What the other thread's batch brought: rows or an error; neither where it could not be written so.
        self.rows: list[Row] | None = None
        self.error: Exception | None = None

    @property
    def must_lead(self) -> bool:
        """Whether it is this thread's turn to write for the `batch`."""
        return bool(self.batch)

    @property
    def outcome_is_open(self) -> bool:
        """Whether no batch has decided about the write, so that its thread writes it alone."""
        return self.rows is None and self.error is None


class GroupCommit:
    """The writers of one database in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_busy = False
        self._waiting: list[Write] = []

    def write(
        self,
        own: Write,
        alone: Callable[[], list[Row]],
        together: Callable[[Sequence[Write]], list[list[Row]]],
    ) -> list[Row]:
        """Return the rows of the thread's `own` write.

        `alone` writes it by itself and returns its rows, `together` writes a batch and returns the rows of
        each of its writes. Both use the thread's own connection. Raises what these raise. A write that cannot
        be written with others is written alone.
        """
        # The first writer leads: it writes at once. Those that come meanwhile wait, and go together after it.
        with self._lock:
            leads = not self._is_busy
            if leads:
                self._is_busy = True
                own.batch = [own]
            else:
                self._waiting.append(own)
        if not leads and not self._wait_for_turn(own):
            return alone()
        if own.must_lead:
            try:
                return self._lead(own.batch, alone, together)
            finally:
                self._hand_over()
        # The write was part of another thread's batch.
        if own.outcome_is_open:
            return alone()
        if own.error is not None:
            raise own.error
        assert own.rows is not None  # noqa: S101  for the type checker: the outcome is not open
        return own.rows

    def _wait_for_turn(self, write: Write) -> bool:
        """Wait until another thread has written `write`, or it is this thread's turn to lead a batch.

        Return False when neither happened in time. The write has left the queue then.
        """
        if write.called.wait(_PATIENCE):
            return True
        with self._lock:
            if write in self._waiting:
                self._waiting.remove(write)
                return False
        # Another thread has put the write into its batch. Only that thread learns whether the write
        # succeeded.
        write.called.wait()
        return True

    def _lead(
        self,
        batch: Sequence[Write],
        alone: Callable[[], list[Row]],
        together: Callable[[Sequence[Write]], list[list[Row]]],
    ) -> list[Row]:
        """Write a batch and call its threads. Return the rows of its first write, which is this thread's.

        `alone` and `together` are as in `write`. Where the batch cannot be written together, each thread
        writes alone.
        """
        first, *others = batch
        if not others:
            return alone()
        try:
            for write, rows in zip(batch, together(batch), strict=True):
                write.rows = rows
        except BatchNotWritten:
            # Without rows and an error, each thread, this one included, writes alone.
            pass
        except BaseException as error:
            for write in others:
                # What ends this thread, such as KeyboardInterrupt, must not end the others.
                write.error = _twin_of(error) if isinstance(error, Exception) else AnswerLost(_INTERRUPTED)
            raise
        finally:
            for write in others:
                write.called.set()
        return alone() if first.rows is None else first.rows

    def _hand_over(self) -> None:
        """Make the first waiting thread write for all that wait, at most `_MOST`. The others stay asleep
        until it calls them.
        """
        with self._lock:
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            self._is_busy = bool(batch)
            if batch:
                batch[0].batch = batch
                batch[0].called.set()


def _twin_of(error: Exception) -> Exception:
    """Return an error like `error`, for another thread to raise: raising one object in several threads mixes
    their tracebacks.
    """
    # Not by `copy`, which fails where __init__ takes other arguments than the error keeps.
    twin = type(error).__new__(type(error), *error.args)
    twin.__dict__.update(error.__dict__)
    twin.__cause__ = error.__cause__
    return twin
