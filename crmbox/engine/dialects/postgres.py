"""PostgreSQL: exact numeric types, server-side binding, and text loaders where Python's own types cost too
much.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, cast

import psycopg

from crmbox.engine import money
from crmbox.engine.dialects.base import (
    AtOnce,
    BatchNotWritten,
    Cursor,
    DbValue,
    Dialect,
    Row,
    Statements,
    Storage,
    Sum,
    TextSearch,
    UniqueViolation,
)
from crmbox.engine.like_patterns import AnyText, Characters, OneCharacter, Token
from crmbox.engine.names import quote
from crmbox.engine.revision import RAISE_AT_ONCE
from crmclient.prepared_statements import TextCursor, rows_of
from crmclient.query.ast import CalendarPart, DateGrouping

_PLACES: Final = {Storage.MONEY: money.MONEY_PLACES, Storage.DECIMAL: money.DECIMAL_PLACES}


class _UnpreparedCursor(TextCursor):
    """Never prepares statements, because Django's query log does not get the text of prepared ones."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> _UnpreparedCursor:
        super().execute(query, params, **{**options, "prepare": False})
        return self


class PostgreSQL(Dialect):
    """PostgreSQL by way of psycopg. `Dialect` says what each method does."""

    name = "postgresql"
    placeholder = "%s"
    descending_nulls = " NULLS LAST"
    nulls_first = " NULLS FIRST"
    begin_read = None
    begin_write = "BEGIN"
    # A writer needs only one statement when no other is at work, so the writers of a process take turns.
    turn = threading.Lock()
    gathers = True
    at_once = AtOnce(RAISE_AT_ONCE, "FROM raised", "raised.follows", "raised.row_version")
    column_types = {
        Storage.TEXT: "text",
        Storage.KEY: 'text COLLATE "C"',
        Storage.INTEGER: "integer",
        Storage.BIGINT: "bigint",
        Storage.BOOLEAN: "boolean",
        Storage.DOUBLE: "double precision",
        Storage.MONEY: "numeric(19,4)",
        Storage.DECIMAL: "numeric(23,10)",
        Storage.TIMESTAMP: "timestamp with time zone",
        Storage.DATE: "date",
        Storage.GUID: "uuid",
    }
    most_columns = 1_500

    # The types of elements of arrays, where they differ from those of columns.
    element_types = {
        Storage.KEY: "text",
        Storage.MONEY: "numeric",
        Storage.DECIMAL: "numeric",
    }

    def cursor(self, connection: Any) -> Cursor:
        return cast(Cursor, TextCursor(connection))

    def rows(self, connection: Any, sql: str, params: Sequence[DbValue]) -> list[Row]:
        return rows_of(connection, sql, params)

    def begin_with(self, connection: Any, statement: str) -> list[Row]:
        """Begin the transaction in one round trip. Several statements at once cannot be prepared."""
        cursor = TextCursor(connection)
        cursor.execute(f"{self.begin_write}; {statement}", prepare=False)
        # The first result is that of BEGIN.
        cursor.nextset()
        return cursor.fetchall()

    def write_at_once(self, connection: Any, sql: str, token: str, params: Sequence[DbValue]) -> list[Row]:
        """Run the one statement, which is a transaction. Its first parameter is that of RAISE_AT_ONCE."""
        return self.rows(connection, sql, (token, *params))

    def write_together(
        self, connection: Any, writes: Sequence[tuple[str, str, Sequence[DbValue]]]
    ) -> list[list[Row]]:
        """Run the writes as one transaction, in one round trip to the server. Return the rows of each.

        Raises BatchNotWritten when one of them fails, since none is written then.
        """
        cursors = [TextCursor(connection) for _ in writes]
        try:
            with connection.pipeline():
                TextCursor(connection).execute(self.begin_write)
                for cursor, (sql, token, params) in zip(cursors, writes, strict=True):
                    cursor.execute(sql, (token, *params))
                TextCursor(connection).execute("COMMIT")
        except psycopg.Error as error:
            if connection.closed:
                raise
            # After an error, the server skips everything up to the end of the pipeline, COMMIT included.
            TextCursor(connection).execute("ROLLBACK")
            raise BatchNotWritten from error
        return [cursor.fetchall() for cursor in cursors]

    def watched_cursor(self, wrapper: Any) -> Cursor:
        return cast(Cursor, wrapper.make_debug_cursor(_UnpreparedCursor(wrapper.connection)))

    def among(self, expression: str, storage: Storage) -> str:
        return f"{expression} = ANY(%s::{self.element_types.get(storage, self.column_types[storage])}[])"

    def list_parameter(self, values: Sequence[DbValue]) -> list[DbValue]:
        return list(values)

    def before_schema_change(self) -> Sequence[str]:
        """Limit the wait for locks. New readers wait behind an ALTER that waits, so it gives up soon."""
        return ("SET LOCAL lock_timeout = '5s'",)

    def add_columns(self, statements: Statements, columns: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """Add columns, each a name and a type, by one statement for each table."""
        for table, added in columns.items():
            clauses = (f"ADD COLUMN {quote(name)} {column_type}" for name, column_type in added)
            statements.execute(f"ALTER TABLE {quote(table)} {', '.join(clauses)}")

    def unique_violation(self, error: BaseException) -> UniqueViolation | None:
        if not isinstance(error, psycopg.errors.UniqueViolation):
            return None
        return UniqueViolation(index=error.diag.constraint_name)

    def approximate_count(self, table: str) -> str:
        return f"SELECT reltuples::bigint FROM pg_class WHERE oid = '{quote(table)}'::regclass"

    def is_of_other_metadata(self, error: BaseException) -> bool:
        return isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn)

    def create_search(self, search: TextSearch) -> Iterable[str]:
        return (
            "CREATE EXTENSION IF NOT EXISTS pg_trgm",
            f"CREATE INDEX {quote(search.name)} ON {quote(search.table)} "
            f"USING gin ({quote(search.key)} gin_trgm_ops)",
        )

    def drop_search(self, search: TextSearch) -> Iterable[str]:
        return (f"DROP INDEX IF EXISTS {quote(search.name)}",)

    def like(self, compared: str) -> str:
        return f"{compared} ~ %s"

    def like_parameter(self, pattern: Iterable[Token]) -> str:
        # `***:` says that an ordinary regular expression follows, whatever it begins with.
        return "***:^" + "".join(_regex(token) for token in pattern) + "$"

    def contains_any(self, value: str) -> str:
        # Options are stored as `|1|5|`.
        return f"string_to_array({value}, '|') && %s::text[]"

    def options_parameter(self, options: Sequence[int]) -> list[str]:
        return [str(option) for option in options]

    def within_any(self, expression: str, storage: Storage) -> str:
        # A span is a JSON list: its first moment, and the first moment after it.
        first, after = (f"(span ->> {index})::{self.column_types[storage]}" for index in (0, 1))
        within = f"{expression} >= {first} AND {expression} < {after}"
        return f"EXISTS (SELECT 1 FROM json_array_elements(%s::json) AS span WHERE {within})"

    def date_part(self, value: str, grouping: CalendarPart, storage: Storage) -> str:
        """Return the SQL of a part of a date as a whole number.

        Weeks begin on Sunday, and the first one on New Year.
        """
        day = value if storage is Storage.DATE else f"({value} AT TIME ZONE 'UTC')"
        if grouping is DateGrouping.WEEK:
            new_year_weekday = f"extract(dow from date_trunc('year', {day}))"
            return f"((extract(doy from {day}) - 1 + {new_year_weekday})::integer / 7 + 1)"
        return f"extract({grouping.value} from {day})::integer"

    def sum(self, value: str, storage: Storage) -> Sum:
        """Return SUM(`value`), and how its result becomes the number of the storage's type."""

        def combine(parts: Sequence[Any]) -> Decimal | int | float:
            # SUM over no values is NULL.
            total = parts[0] or 0
            if storage is Storage.DOUBLE:
                return float(total)
            if storage in _PLACES:
                # To and fro, so that the sum has exactly as many places as on SQLite.
                return money.unscaled(money.scaled(Decimal(total), _PLACES[storage]), _PLACES[storage])
            return int(total)

        return Sum((f"SUM({value})",), combine)


def _regex(token: Token) -> str:
    """Return a token of a LIKE pattern as a regular expression."""
    match token:
        case AnyText():
            return ".*"
        case OneCharacter():
            return "."
        case Characters(ranges, negated):
            inner = "".join(f"{re.escape(first)}-{re.escape(last)}" for first, last in ranges)
            return f"[{'^' if negated else ''}{inner}]"
    return re.escape(token)
