"""Statements that a PostgreSQL connection has prepared answer as all others do, and pass the cursor by."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import connection as suite
from psycopg import cursor

from crmbox.engine.connection import read_unit
from crmbox.engine.deadlines import Work
from crmbox.platform import EmbeddedPlatform
from crmclient.errors import DeadlineExceeded
from crmclient.platform import Call
from crmclient.prepared_statements import rows_of
from tests.crmbox.conftest import APART

pytestmark = pytest.mark.postgresql

# More often than psycopg waits until it prepares a statement.
OFTEN = 8


@pytest.fixture
def connection(db: None) -> Iterator[psycopg.Connection[Any]]:
    """A connection as the service has it."""
    with _connected() as connection:
        yield connection


def _connected() -> psycopg.Connection[Any]:
    suite.ensure_connection()
    params = {**suite.get_connection_params(), "autocommit": True, "prepare_threshold": 5}
    del params["cursor_factory"]
    return psycopg.connect(**params)


def test_a_statement_that_is_asked_often_passes_the_cursor_by(connection: psycopg.Connection[Any]) -> None:
    """The cursor takes two thirds of the processor time of a short statement."""
    assert [_steps_of_the_cursor(connection) > 0 for _ in range(OFTEN)] == [True] * 6 + [False] * 2


def _steps_of_the_cursor(connection: psycopg.Connection[Any]) -> int:
    """How often a statement calls a function of psycopg's cursor."""
    steps = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal steps
        steps += event == "call" and Path(frame.f_code.co_filename) == Path(cursor.__file__)

    sys.setprofile(count)
    try:
        assert rows_of(connection, "SELECT %s::text, %s + 1", ["one", 1]) == [("one", 2)]
    finally:
        sys.setprofile(None)
    return steps


def test_nothing_is_prepared_where_the_address_of_the_database_says_so(
    connection: psycopg.Connection[Any],
) -> None:
    """Such as `?prepare_threshold=None`, for poolers that know nothing of prepared statements."""
    connection.prepare_threshold = None
    assert all(_steps_of_the_cursor(connection) for _ in range(OFTEN))
    assert rows_of(connection, "SELECT count(*) FROM pg_prepared_statements") == [(0,)]


def test_values_of_every_type_are_the_same_before_and_after(connection: psycopg.Connection[Any]) -> None:
    sql = (
        "SELECT %s::uuid, %s::timestamptz, %s::date, %s::numeric(19, 4), %s::double precision, %s::boolean, "
        "%s::bigint, %s::text, %s::text, 7 = ANY(%s::integer[]), '100%%'"
    )
    id = str(uuid4())
    params = [id, "2026-11-27 10:00:00+00", "2026-11-27", Decimal("922337203685477.5807"), 0.1, True, 2**40]
    answers = [rows_of(connection, sql, [*params, "Grüße, 東京", None, [1, 7]]) for _ in range(OFTEN)]
    assert answers == [answers[0]] * OFTEN
    ((there, moment, day, money, *rest),) = answers[0]
    assert (there, moment[:13], day, money) == (id, "2026-11-27 10", "2026-11-27", params[3])
    assert rest == [0.1, True, 2**40, "Grüße, 東京", None, True, "100%"]


def test_a_statement_takes_values_of_other_types_at_any_time(connection: psycopg.Connection[Any]) -> None:
    values = [1, 40_000, 2**40, None, "5", Decimal("2.5")] * OFTEN
    assert [rows_of(connection, "SELECT %s::numeric", [value]) for value in values] == [
        [(None if value is None else Decimal(value),)] for value in values
    ]


def test_a_statement_without_rows_and_one_with_many(connection: psycopg.Connection[Any]) -> None:
    for count in [0, 3, 1000] * OFTEN:
        rows = rows_of(connection, "SELECT n FROM generate_series(1, %s) AS n", [count])
        assert rows == [(number,) for number in range(1, count + 1)]


def test_what_the_database_refuses_is_refused_in_the_same_words(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TEMPORARY TABLE one (id integer CONSTRAINT only_once UNIQUE)")
    insert = "INSERT INTO one VALUES (%s) RETURNING id"
    assert [rows_of(connection, insert, [number]) for number in range(OFTEN)] == [
        [(number,)] for number in range(OFTEN)
    ]
    with pytest.raises(psycopg.errors.UniqueViolation) as refused:
        rows_of(connection, insert, [0])
    assert (refused.value.sqlstate, refused.value.diag.constraint_name) == ("23505", "only_once")
    assert rows_of(connection, insert, [OFTEN]) == [(OFTEN,)]
    with pytest.raises(psycopg.DataError):
        rows_of(connection, "SELECT %s::text", ["\0"])


def test_a_transaction_begins_where_that_is_left_to_the_driver(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TEMPORARY TABLE two (id integer)")
    insert = "INSERT INTO two VALUES (%s) RETURNING id"
    for number in range(OFTEN):
        rows_of(connection, insert, [number])
    connection.autocommit = False
    rows_of(connection, insert, [100])
    rows_of(connection, insert, [101])
    connection.rollback()
    connection.autocommit = True
    assert rows_of(connection, "SELECT max(id) FROM two") == [(OFTEN - 1,)]


def test_a_rollback_makes_the_driver_forget_its_statements(connection: psycopg.Connection[Any]) -> None:
    for _ in range(3):
        assert [rows_of(connection, "SELECT 1") for _ in range(OFTEN)] == [[(1,)]] * OFTEN
        connection.execute("BEGIN")
        assert rows_of(connection, "SELECT 1") == [(1,)]
        connection.execute("ROLLBACK")


@pytest.mark.parametrize("change", ["ALTER TABLE {} ALTER COLUMN id TYPE text", "DEALLOCATE ALL"])
def test_a_statement_that_the_server_can_no_longer_run_is_asked_anew(
    connection: psycopg.Connection[Any], change: str
) -> None:
    """Another process has changed a table, or a pooler has lent another connection to the server."""
    table = f"prepared_{uuid4().hex}"
    connection.execute(f"CREATE TABLE {table} AS SELECT 1 AS id")
    try:
        for _ in range(OFTEN):
            assert rows_of(connection, f"SELECT id FROM {table}") == [(1,)]
        if change == "DEALLOCATE ALL":
            # Not by psycopg, which would know.
            connection.pgconn.exec_(change.encode())
        else:
            with _connected() as other:
                other.execute(change.format(table))
        assert int(rows_of(connection, f"SELECT id FROM {table}")[0][0]) == 1
        assert [rows_of(connection, "SELECT 1") for _ in range(OFTEN)] == [[(1,)]] * OFTEN
    finally:
        connection.execute(f"DROP TABLE {table}")


def test_a_connection_that_was_ended_says_so(connection: psycopg.Connection[Any]) -> None:
    for _ in range(OFTEN):
        rows_of(connection, "SELECT 1")
    with _connected() as other:
        other.execute("SELECT pg_terminate_backend(%s)", [connection.info.backend_pid])
    with pytest.raises(psycopg.OperationalError):
        rows_of(connection, "SELECT 1")
    assert connection.closed
    with pytest.raises(psycopg.OperationalError):
        rows_of(connection, "SELECT 1")


def test_a_prepared_statement_ends_at_the_deadline(apart: EmbeddedPlatform) -> None:
    def sleep(seconds: float) -> None:
        with read_unit(APART) as unit:
            unit.rows("SELECT pg_sleep(%s)", [seconds])

    for _ in range(OFTEN):
        sleep(0.0)
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded), Work(APART, Call(deadline=began + 0.3), None):
        sleep(60.0)
    assert time.monotonic() - began < 10
    sleep(0.0)
