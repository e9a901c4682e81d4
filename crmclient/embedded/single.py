"""Writes that are one statement: a third of the trips, and the version's lock is held for none of them.

The rule stays that whoever writes has the version's lock and sees all that was written before. A single
statement takes the lock if it is free, and writes only if nobody has written since its view of the data was
taken. Where it cannot, it writes nothing, and a WriteUnit waits for its turn as ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, ProgrammingError, connections

from crmclient.embedded.connection import Unit, whole_second
from crmclient.embedded.dialects import dialect_of
from crmclient.embedded.dialects.base import Row
from crmclient.embedded.failures import translated
from crmclient.embedded.loading import latest_snapshot
from crmclient.embedded.snapshot import Snapshot


class SingleUnit(Unit):
    """`snapshot` is what this process knew last: the statement finds out whether that is still so."""

    def __init__(self, alias: str, snapshot: Snapshot) -> None:
        super().__init__(alias)
        self.snapshot = snapshot
        self.now = whole_second()

    def write(self, sql: str, params: Sequence[Any]) -> list[Row]:
        """The rows of a statement that begins with RAISE_AT_ONCE, whose own parameter is added here.

        No row: nothing was written, and a WriteUnit does it or finds out why not. Raises NotUnique beside
        the platform's errors.
        """
        self._await_turn()
        try:
            with self._wrapper.wrap_database_errors:
                return self._run(sql, (self.snapshot.revision.token, *params)).fetchall()
        except ProgrammingError:
            # What is known here is gone there, such as a column.
            return []
        except Exception as error:
            raise translated(error, self.dialect) from error
        finally:
            self._end_turn()


def single_unit(alias: str = DEFAULT_DB_ALIAS) -> SingleUnit | None:
    """None where a write takes several statements: within somebody else's transaction, say."""
    wrapper = connections[alias]
    dialect = dialect_of(wrapper.vendor)
    if not dialect.writes_at_once or wrapper.connection is None or wrapper.in_atomic_block:
        return None
    if wrapper.execute_wrappers or wrapper.queries_logged:
        return None
    snapshot = latest_snapshot(dialect)
    return None if snapshot is None else SingleUnit(alias, snapshot)
