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
from crmbox.engine.failures import translated
from crmbox.engine.gathered_writes import Gathering, Write
from crmbox.engine.snapshot import Snapshot
from crmbox.engine.snapshot_store import latest_snapshot


class SingleRead(Unit):
    """`snapshot` is what this process knew last."""

    def __init__(self, database: BaseDatabaseWrapper, snapshot: Snapshot) -> None:
        super().__init__(database, watched=False)
        self.snapshot = snapshot

    @property
    def token(self) -> str:
        """What the condition IS_KNOWN takes."""
        return self.snapshot.revision.token

    def found(self, sql: str, params: Sequence[Any]) -> list[Row]:
        """The rows of a statement with the condition IS_KNOWN; none: a ReadUnit finds out why."""
        try:
            with self._wrapper.wrap_database_errors:
                return self._run(sql, params).fetchall()
        except DatabaseError as error:
            if self.dialect.is_of_other_metadata(error.__cause__ or error):
                return []
            raise translated(error, self.dialect) from error
        except Exception as error:
            raise translated(error, self.dialect) from error


class SingleUnit(Unit):
    """`snapshot` is what this process knew last: the statement finds out whether that is still so."""

    def __init__(self, database: BaseDatabaseWrapper, snapshot: Snapshot) -> None:
        super().__init__(database, watched=False)
        self.snapshot = snapshot
        self.now = whole_second()

    def write(self, sql: str, params: Sequence[Any]) -> list[Row]:
        """The rows of a statement made with the dialect's `at_once`; none: nothing was written.

        Raises NotUnique beside the platform's errors.
        """
        write = Write(sql, self.snapshot.revision.token, params)
        try:
            with self._wrapper.wrap_database_errors:
                if self.dialect.gathers:
                    return _gathering(self.alias).write(write, lambda: self._alone(write), self._together)
                return self._alone(write)
        except ProgrammingError:
            # What is known here is gone there, such as a column.
            return []
        except Exception as error:
            raise translated(error, self.dialect) from error

    def _alone(self, write: Write) -> list[Row]:
        self._await_turn()
        try:
            connection = self._wrapper.connection
            return self.dialect.write_at_once(connection, write.sql, write.token, write.params)
        finally:
            self._end_turn()

    def _together(self, writes: Sequence[Write]) -> list[list[Row]]:
        self._await_turn()
        try:
            statements = [(write.sql, write.token, write.params) for write in writes]
            return self.dialect.write_together(self._wrapper.connection, statements)
        finally:
            self._end_turn()


@cache
def _gathering(alias: str) -> Gathering:
    return Gathering()


def single_unit(alias: str = DEFAULT_DB_ALIAS) -> SingleUnit | None:
    """None where it is not ours to begin and end a transaction, or somebody wants to see each statement."""
    database = connections[alias]
    snapshot = _known(database)
    return None if snapshot is None else SingleUnit(database, snapshot)


def single_read(alias: str = DEFAULT_DB_ALIAS) -> SingleRead | None:
    """As `single_unit`."""
    database = connections[alias]
    snapshot = _known(database)
    return None if snapshot is None else SingleRead(database, snapshot)


def _known(database: BaseDatabaseWrapper) -> Snapshot | None:
    if database.in_atomic_block:
        return None
    database.close_if_health_check_failed()
    if database.connection is None or is_watched(database):
        return None
    return latest_snapshot(dialect_of(database.vendor))
