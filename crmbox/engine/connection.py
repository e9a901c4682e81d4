"""Units of work on Django's own connection: one transaction, one snapshot of the metadata.

A second connection would be locked out by the service's own transactions and would not see their rows. The
hot path takes the driver's cursor; Django's is used when its query log or an execute wrapper wants to see
the statements. Statements are always drained: a half-read one would pin an old view of the data.

Inside an open `atomic()` a unit joins it, a write under a savepoint of its own. Otherwise a unit opens and
ends a plain transaction; `atomic()` itself would take the write lock even to read. Such units do not nest.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from crmbox.engine.dialects import dialect_of
from crmbox.engine.dialects.base import Cursor, Row
from crmbox.engine.failures import as_platform_error
from crmbox.engine.revision import RAISE_VERSION, READ_REVISION, Revision
from crmbox.engine.snapshot import Snapshot
from crmbox.engine.snapshot_store import snapshot_at
from crmclient.errors import Unavailable

_TURN_SECONDS = 1.0
"""How long a writer waits for the other writers of its process."""


class Unit:
    """A view of the data, read through SQL text of the engine's own making with values as parameters."""

    snapshot: Snapshot

    def __init__(self, database: BaseDatabaseWrapper, *, watched: bool | None = None) -> None:
        """Prepare a unit without touching the database. `watched`: what `is_watched` said, where known."""
        self.alias = database.alias
        self._wrapper = database
        self.dialect = dialect_of(database.vendor)
        # Computed once: it reads Django's settings, which are slow, and a unit is short.
        self._is_watched = is_watched(database) if watched is None else watched
        # Whether the unit began the transaction itself and so ends it; False inside an open `atomic()`.
        self._owns_transaction = False
        # The lock that lets the writers of this process write one after the other, while this unit holds it.
        self._turn: threading.Lock | None = None

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Return every row of a statement. Raises the platform's errors."""
        try:
            with self._wrapper.wrap_database_errors:
                return self._fetch(sql, params)
        except Exception as error:
            raise as_platform_error(error, self.dialect) from error

    def execute(self, sql: str, params: Sequence[Any] = ()) -> int:
        """Run a statement, and return the number of rows it touched.

        Raises NotUnique beside the platform's errors.
        """
        try:
            with self._wrapper.wrap_database_errors:
                return self._cursor_of(sql, params).rowcount
        except Exception as error:
            raise as_platform_error(error, self.dialect) from error

    def _fetch(self, sql: str, params: Sequence[Any]) -> list[Row]:
        """Return the rows of a statement, by the shortest way; by Django's cursor where somebody watches."""
        if self._is_watched:
            return self._cursor_of(sql, params).fetchall()
        self._refuse_a_broken_transaction()
        return self.dialect.rows(self._wrapper.connection, sql, params)

    def _cursor_of(self, sql: str, params: Sequence[Any]) -> Cursor:
        """Run a statement by the quickest cursor; by Django's where its log or a wrapper watches."""
        if self._is_watched:
            cursor = self.dialect.watched_cursor(self._wrapper)
            cursor.execute(self.dialect.for_watched(sql), params)
        else:
            self._refuse_a_broken_transaction()
            cursor = self.dialect.cursor(self._wrapper.connection)
            cursor.execute(sql, params)
        return cursor

    def _refuse_a_broken_transaction(self) -> None:
        """Raise TransactionManagementError as Django's cursor does. The driver's cursor would not know."""
        if self._wrapper.needs_rollback:
            self._wrapper.validate_no_broken_transaction()

    def _control(self, statement: str) -> None:
        """Run a statement that begins or ends a transaction. Neither Django's log nor its wrappers see it."""
        try:
            with self._wrapper.wrap_database_errors:
                self.dialect.cursor(self._wrapper.connection).execute(statement, ())
        except Exception as error:
            raise as_platform_error(error, self.dialect) from error

    def _rollback(self) -> None:
        """Roll back without hiding the error that led here. A connection that cannot roll back is closed."""
        try:
            self._control("ROLLBACK")
        except Exception:
            self._wrapper.close()

    def _connect(self) -> None:
        """Open Django's connection if it is not open, or no longer works."""
        try:
            # Asks the database only where this is the first use of the connection in a request.
            self._wrapper.close_if_health_check_failed()
            if self._wrapper.connection is None:
                self._wrapper.ensure_connection()
        except Exception as error:
            raise as_platform_error(error, self.dialect) from error

    def _revision_row(self, statement: str) -> Row:
        """Return the only row of a statement of `engine.revision`. Raises Unavailable without one."""
        return _only_row(self.rows(statement))

    def _await_turn(self) -> None:
        """Wait for the other writers of this process, up to a second; then the database orders the writes."""
        turn = self.dialect.turn
        if turn is not None and turn.acquire(timeout=_TURN_SECONDS):
            self._turn = turn

    def _end_turn(self) -> None:
        """Let the next writer of this process write, if this unit holds the turn."""
        if self._turn is not None:
            self._turn.release()
            self._turn = None


class ReadUnit(Unit):
    """A unit for reading: `with read_unit() as unit:`."""

    def __enter__(self) -> ReadUnit:
        """Begin a read transaction where the dialect has one, and load the snapshot of the metadata."""
        self._connect()
        # None: the dialect reads without a transaction. Inside an `atomic()`, one is open already.
        begin = self.dialect.begin_read
        if begin is not None and not self._wrapper.in_atomic_block:
            self._control(begin)
            self._owns_transaction = True
        try:
            number, token = self._revision_row(READ_REVISION)
            self.snapshot = snapshot_at(Revision(number, token), self.dialect, self.rows)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._end()

    def _end(self) -> None:
        # A read has nothing to commit.
        if self._owns_transaction:
            self._rollback()


class WriteUnit(Unit):
    """A unit for writing: `with write_unit() as unit:`. It commits at the end, or rolls back after an error.

    `version` is the row version of everything written in the unit, `now` the time of all of it, in whole
    seconds.
    """

    version: int
    now: dt.datetime

    def __init__(self, database: BaseDatabaseWrapper) -> None:
        super().__init__(database)
        self._atomic: transaction.Atomic | None = None
        self._after_commit: list[Callable[[], object]] = []

    def after_commit(self, action: Callable[[], object]) -> None:
        """Run `action` when the outermost transaction has committed."""
        if self._atomic is not None:
            transaction.on_commit(action, using=self.alias)
        else:
            self._after_commit.append(action)

    def __enter__(self) -> WriteUnit:
        """Begin a transaction, or a savepoint in an open one, and take the next row version in it."""
        self._connect()
        if self._wrapper.in_atomic_block:
            # An `atomic()` inside another one makes a savepoint, so that only this unit is rolled back.
            self._atomic = transaction.atomic(using=self.alias)
            self._atomic.__enter__()
        else:
            self._await_turn()
            self._owns_transaction = True
        try:
            self._take_version()
        except BaseException as error:
            self._end(error)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(error)
        # Inside an open `atomic()` there are none: Django runs them when that has committed.
        if error is None:
            for action in self._after_commit:
                action()

    def _take_version(self) -> None:
        """Begin the transaction, and set `version`, `now` and the snapshot of the metadata in it."""
        number, token, self.version = self._begin()
        self.now = whole_second()
        self.snapshot = snapshot_at(Revision(number, token), self.dialect, self.rows)

    def _begin(self) -> Row:
        """Begin the transaction, unless one is open, and raise the version.

        Return the row of the revision: the number and the token of the metadata, and the new row version.
        """
        if not self._owns_transaction:
            return self._revision_row(RAISE_VERSION)
        if self._is_watched:
            # Two statements, so that Django's log shows the second; else both go in one round trip.
            self._control(self.dialect.begin_write)
            return self._revision_row(RAISE_VERSION)
        try:
            with self._wrapper.wrap_database_errors:
                rows = self.dialect.begin_with(self._wrapper.connection, RAISE_VERSION)
        except Exception as error:
            raise as_platform_error(error, self.dialect) from error
        return _only_row(rows)

    def _end(self, error: BaseException | None) -> None:
        """Commit, or roll back after an error, and let the next write begin."""
        try:
            if self._atomic is not None:
                kind = type(error) if error is not None else None
                self._atomic.__exit__(kind, error, None)
            elif error is None:
                self._commit()
            else:
                self._rollback()
        finally:
            self._end_turn()

    def _commit(self) -> None:
        """Commit. A transaction that cannot be committed is rolled back."""
        try:
            self._control("COMMIT")
        except BaseException:
            self._rollback()
            raise


def is_watched(wrapper: BaseDatabaseWrapper) -> bool:
    """Whether Django's query log or an execute wrapper wants to see each statement."""
    return bool(wrapper.execute_wrappers or wrapper.queries_logged)


def whole_second() -> dt.datetime:
    """Return the present time in whole seconds, as records have it."""
    return dt.datetime.fromtimestamp(int(time.time()), dt.UTC)


def _only_row(rows: list[Row]) -> Row:
    """Return the row of the revision. Raises Unavailable where no migration has made it."""
    if not rows:
        raise Unavailable("The store is not set up: run `manage.py migrate`.")
    return rows[0]


def read_unit(alias: str = DEFAULT_DB_ALIAS) -> ReadUnit:
    return ReadUnit(connections[alias])


def write_unit(alias: str = DEFAULT_DB_ALIAS) -> WriteUnit:
    return WriteUnit(connections[alias])
