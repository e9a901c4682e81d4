"""The configuration's revision: one query at the start of every request tells whether it has changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from crmclient.prepared_statements import rows_of
from designer.configuration import Revision

# The row is missing in a flushed database; the question still gets an answer.
_QUESTION = (
    "SELECT revision.number, revision.token, {local}, {more} "
    "FROM (SELECT 1 AS one) AS always LEFT JOIN designer_revision AS revision ON revision.id = 1"
)


def read_revision(local_revision_sql: str | None = None) -> tuple[Revision, str | None]:
    """Return the configuration's revision and, by the same query, a local platform's metadata revision.

    `local_revision_sql` is a scalar expression over the configuration's database, which a local platform has
    as an attribute of that name. Without one, the second result is None. The revision of an empty
    configuration is (0, "").
    """
    revision, local, _ = read_revision_and("NULL", local_revision_sql)
    return revision, local


def read_revision_and(more: str, local_revision_sql: str | None = None) -> tuple[Revision, str | None, Any]:
    """Return the results of `read_revision`, and that of the scalar SQL expression `more`, by one query."""
    number, token, local, extra = _only_row(_question_sql(local_revision_sql or "NULL", more))
    return Revision(number or 0, token or ""), local, extra


@lru_cache(maxsize=8)
def _question_sql(local: str, more: str) -> str:
    """Return the SQL of the query for the revision. `local` and `more` are SQL expressions."""
    return _QUESTION.format(local=local, more=more)


def _only_row(sql: str) -> Sequence[Any]:
    """Return the one row of a query, by the shortest way to the driver. A connection that died since the
    thread's last request is opened again.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    # Whoever logs or wraps queries sees only those that go through Django's cursor.
    if connection.queries_logged or connection.execute_wrappers:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            row: Sequence[Any] = cursor.fetchone()
            return row
    # Django's cursor costs several times the query itself.
    if connection.connection is None:
        connection.ensure_connection()
    try:
        answer = _first_row(connection, sql)
    except (OperationalError, InterfaceError):
        if connection.in_atomic_block or connection.is_usable():
            raise
        # A connection that died since the thread's last request shows it here, before anything was done.
        connection.close()
        connection.ensure_connection()
        answer = _first_row(connection, sql)
    # Django need not check the connection again during this request.
    connection.health_check_done = True  # type: ignore[attr-defined]  # the stubs lack it
    return answer


def _first_row(connection: BaseDatabaseWrapper, sql: str) -> Sequence[Any]:
    """Return the first row of a query, on an open connection. Raises the database errors of Django."""
    with connection.wrap_database_errors:
        # On PostgreSQL, Django's own cursor fills in values itself, so nothing is ever prepared.
        if connection.vendor == "postgresql":
            return rows_of(connection.connection, sql)[0]
        # The driver's own cursor, too: every request asks this, and Django's takes longer than the query.
        answer: Sequence[Any] = connection.connection.cursor().execute(sql).fetchone()
        return answer
