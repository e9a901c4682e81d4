"""Prepared statements on PostgreSQL, run by the shortest way through its driver.

psycopg's cursor takes a dozen steps in Python for each statement, and gives up the interpreter between them.
That is two thirds of the processor time of a short one, and a request of the API runs two. So psycopg counts
and prepares the statements of a connection as ever. What it has prepared is run here by one call of libpq,
which waits for the whole answer without the interpreter's lock.

The only module that knows which statements psycopg has prepared, which it does not document; its release is
pinned, and a test holds that the short way is taken.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import errors, pq
from psycopg._queries import PostgresQuery
from psycopg.adapt import AdaptersMap, PyFormat, Transformer
from psycopg.types.string import TextLoader

Row: TypeAlias = tuple[Any, ...]

_NO_LONGER_USABLE: Final = frozenset({"0A000", "26000"})
"""What the server says when a table has other types by now, and when it does not have the statement (any
more).
"""


def _text_adapters() -> AdaptersMap:
    """Return psycopg's rules for reading values, but with GUIDs, times and dates read as text."""
    adapters = AdaptersMap(psycopg.adapters)
    for type_name in ("uuid", "timestamptz", "date"):
        adapters.register_loader(type_name, TextLoader)
    return adapters


_ADAPTERS: Final = _text_adapters()


class TextCursor(psycopg.Cursor[Any]):
    """Reads GUIDs and times as text."""

    @property
    def adapters(self) -> AdaptersMap:
        return _ADAPTERS


class _Context:
    """What psycopg adapts values by: nothing of a connection, whose encoding is always UTF-8."""

    adapters = _ADAPTERS
    connection = None


class _OfThread(threading.local):
    """One transformer for each thread. It remembers how to write and to read each type that it has seen."""

    def __init__(self) -> None:
        self.transformer = Transformer(_Context())


_of_thread = _OfThread()


def rows_of(connection: Any, sql: str, params: Sequence[Any] = ()) -> list[Row]:
    """Return the rows of a statement on a connection of psycopg, as `TextCursor` does. Raises its errors."""
    rows = None
    # Without autocommit, the first statement has to begin a transaction: the cursor does that.
    if connection.autocommit or connection.pgconn.transaction_status != pq.TransactionStatus.IDLE:
        rows = _rows_if_prepared(connection, sql, params)
    return TextCursor(connection).execute(sql, params).fetchall() if rows is None else rows


def _rows_if_prepared(connection: Any, sql: str, params: Sequence[Any]) -> list[Row] | None:
    """Return the rows of a statement that psycopg has prepared; None for any other."""
    prepared = connection._prepared
    # In `_to_flush` is what psycopg has still to tell the server: perhaps to forget all statements.
    if not prepared._names or prepared._to_flush:
        return None
    transformer = _of_thread.transformer
    query, formats = _numbered(sql, len(params))
    values = transformer.dump_sequence(params, formats)
    # psycopg keeps the statement's name by this key.
    key = (query, transformer.types or ())
    name = prepared._names.get(key)
    if name is None:
        return None
    # It forgets what was not asked for the longest time.
    prepared._names.move_to_end(key)
    with connection.lock:
        result = connection.pgconn.exec_prepared(name, values, transformer.formats)
    if result.status != pq.ExecStatus.TUPLES_OK:
        error = _error_of(connection, result)
        if (
            error.sqlstate in _NO_LONGER_USABLE
            and connection.pgconn.transaction_status == pq.TransactionStatus.IDLE
        ):
            # Nothing was done, and no transaction is broken: psycopg runs the statement, and counts it anew.
            del prepared._names[key]
            return None
        raise error
    transformer.set_pgresult(result)
    try:
        return transformer.load_rows(0, result.ntuples, tuple)
    finally:
        # Otherwise the thread would keep the whole answer in memory.
        transformer.set_pgresult(None)


def _error_of(connection: Any, result: Any) -> errors.Error:
    """Return psycopg's error for a failed result. A connection that has ended has no result to tell."""
    if connection.closed:
        return errors.OperationalError(connection.pgconn.get_error_message())
    return errors.error_from_result(result)


@lru_cache(maxsize=1024)
def _numbered(sql: str, count: int) -> tuple[bytes, list[PyFormat]]:
    """Return a statement with numbers for its `count` placeholders, as psycopg sends it, and the formats in
    which their values are sent: psycopg chooses.
    """
    query = PostgresQuery(Transformer(_Context()))
    query.convert(sql, [None] * count)
    return query.query, [PyFormat.AUTO] * count
