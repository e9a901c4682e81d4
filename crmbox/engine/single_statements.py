"""Reads and writes of one statement, which finds out by itself whether the metadata known here is still true.

A read is one view of the data anyway. That it finds nothing can also mean that the metadata has changed: then
a ReadUnit asks again, and says what there is to say.

Writes look nothing up before: what they need of other records, their statement finds by itself. They are
made ready before the version's lock is taken, and hold it for as long as one statement takes. The rule stays
that whoever writes has that lock and sees all that was written before. PostgreSQL, where the statement is the
whole trip, takes the lock only if it is free, and writes only if nobody has written since the statement's
view of the data was taken. Where that is not so, where the metadata has changed, and where something that is
pointed at is missing, nothing is written, and a WriteUnit does it or says why not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, ProgrammingError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from crmbox.engine.connection import Unit, is_watched, whole_second
from crmbox.engine.dialects import dialect_of
from crmbox.engine.dialects.base import Row
from crmbox.engine.failures import as_platform_error
from crmbox.engine.gathered_writes import GroupCommit, Write
from crmbox.engine.snapshot import Snapshot
from crmbox.engine.snapshot_store import latest_snapshot


class SingleRead(Unit):
    """A read of one statement. `snapshot` is the latest that this process knows."""

    def __init__(self, database: BaseDatabaseWrapper, snapshot: Snapshot) -> None:
        super().__init__(database, watched=False)
        self.snapshot = snapshot

    @property
    def token(self) -> str:
        """The parameter of the condition IS_KNOWN."""
        return self.snapshot.revision.token

    def rows_if_known(self, sql: str, params: Sequence[Any]) -> list[Row]:
        """Return the rows of a statement with the condition IS_KNOWN. Without rows, a ReadUnit
        finds out why.
        """
        try:
            with self._wrapper.wrap_database_errors:
                return self._fetch(sql, params)
        except DatabaseError as error:
            # A table or column of the snapshot is missing: the metadata has changed.
            if self.dialect.is_of_other_metadata(error.__cause__ or error):
                return []
            raise as_platform_error(error, self.dialect) from error
        except Exception as error:
            raise as_platform_error(error, self.dialect) from error


class SingleUnit(Unit):
    """A write of one statement. `snapshot` is the latest that this process knows; the statement checks it."""

    def __init__(self, database: BaseDatabaseWrapper, snapshot: Snapshot) -> None:
        super().__init__(database, watched=False)
        self.snapshot = snapshot
        self.now = whole_second()

    def write(self, sql: str, params: Sequence[Any]) -> list[Row]:
        """Return the rows of a statement made with the dialect's `at_once`; none: nothing was written.

        Raises NotUnique beside the platform's errors.
        """
        write = Write(sql, self.snapshot.revision.token, params)
        try:
            with self._wrapper.wrap_database_errors:
                # Concurrent writers of this process may be sent to the server in one transaction.
                if self.dialect.gathers:
                    return _group_commit(self.alias).write(
                        write, lambda: self._write_alone(write), self._write_together
                    )
                return self._write_alone(write)
        except ProgrammingError:
            # The database no longer has something of the snapshot, such as a column.
            return []
        except Exception as error:
            raise as_platform_error(error, self.dialect) from error

    def _write_alone(self, write: Write) -> list[Row]:
        """Return the rows of a write that is a transaction of its own."""
        self._await_turn()
        try:
            connection = self._wrapper.connection
            return self.dialect.write_at_once(connection, write.sql, write.token, write.params)
        finally:
            self._end_turn()

    def _write_together(self, writes: Sequence[Write]) -> list[list[Row]]:
        """Return the rows of each of several writes that are one transaction. Raises BatchNotWritten."""
        self._await_turn()
        try:
            statements = [(write.sql, write.token, write.params) for write in writes]
            return self.dialect.write_together(self._wrapper.connection, statements)
        finally:
            self._end_turn()


@cache
def _group_commit(alias: str) -> GroupCommit:
    """Return the writers of the database `alias` in this process."""
    return GroupCommit()


def single_unit(alias: str = DEFAULT_DB_ALIAS) -> SingleUnit | None:
    """Return a unit for one statement; None inside a transaction, or when somebody watches each statement."""
    database = connections[alias]
    snapshot = _usable_snapshot(database)
    return None if snapshot is None else SingleUnit(database, snapshot)


def single_read(alias: str = DEFAULT_DB_ALIAS) -> SingleRead | None:
    """Return a unit for one statement that reads, as `single_unit` does for writing."""
    database = connections[alias]
    snapshot = _usable_snapshot(database)
    return None if snapshot is None else SingleRead(database, snapshot)


def _usable_snapshot(database: BaseDatabaseWrapper) -> Snapshot | None:
    """Return the latest snapshot of this process; None where a single statement cannot be used.

    That is inside a transaction, without an open connection, while Django's query log or an execute wrapper
    watches the statements, and before the first snapshot is loaded.
    """
    if database.in_atomic_block:
        return None
    # Closes a connection that no longer works, where Django's settings ask for this check.
    database.close_if_health_check_failed()
    if database.connection is None or is_watched(database):
        return None
    return latest_snapshot(dialect_of(database.vendor))
