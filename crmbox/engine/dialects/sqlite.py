"""SQLite: integers for money, ordered text for decimals, ISO text for times."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from crmbox.engine import money
from crmbox.engine.dialects import sqlite_columns, sqlite_search
from crmbox.engine.dialects.base import (
    AtOnce,
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
from crmbox.engine.revision import RAISE_KNOWN, ROW_VERSION
from crmclient.query.ast import CalendarPart, DateGrouping

_LOW_BITS: Final = 2**32 - 1
"""The mask of the lower half of a 64-bit integer."""

_HALF_WIDTH: Final = money.ORDERED_WIDTH // 2
"""Digits of one half of a decimal's ordered text."""

_NOT_UNIQUE = re.compile(r"UNIQUE constraint failed: (.+)")


class SQLite(Dialect):
    """SQLite, with the types that it lacks kept as text and whole numbers.

    `Dialect` says what each method does.
    """

    name = "sqlite"
    placeholder = "?"
    descending_nulls = ""
    nulls_first = ""
    begin_read = "BEGIN"
    begin_write = "BEGIN IMMEDIATE"
    # A writer that finds the file locked sleeps and tries again; one that waits for this lock is woken.
    turn = threading.Lock()
    at_once = AtOnce("", "", "TRUE", ROW_VERSION)
    column_types = {
        Storage.TEXT: "TEXT",
        Storage.KEY: "TEXT",
        Storage.INTEGER: "INTEGER",
        Storage.BIGINT: "INTEGER",
        Storage.BOOLEAN: "INTEGER",
        Storage.DOUBLE: "REAL",
        Storage.MONEY: "INTEGER",
        Storage.DECIMAL: "TEXT",
        Storage.TIMESTAMP: "TEXT",
        Storage.DATE: "TEXT",
        Storage.GUID: "TEXT",
    }
    most_columns = 1_900

    def cursor(self, connection: Any) -> Cursor:
        cursor: Cursor = connection.cursor()
        return cursor

    def write_at_once(self, connection: Any, sql: str, token: str, params: Sequence[DbValue]) -> list[Row]:
        """Run two statements, because one changes only one table: the first raises the row version.

        Nothing is written, and there are no rows, when `token` is no longer that of the metadata.
        """
        rows: list[Row] = []
        connection.execute(self.begin_write)
        try:
            if connection.execute(RAISE_KNOWN, (token,)).rowcount:
                rows = connection.execute(sql, params).fetchall()
            if rows:
                connection.execute("COMMIT")
        finally:
            # The connection must not stay in a transaction, whatever ended the write.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        return rows

    def watched_cursor(self, wrapper: Any) -> Cursor:
        cursor: Cursor = wrapper.cursor()
        return cursor

    def for_watched(self, sql: str) -> str:
        return sql.replace("?", "%s")

    def among(self, expression: str, storage: Storage) -> str:
        return f"{expression} IN (SELECT value FROM json_each(?))"

    def list_parameter(self, values: Sequence[DbValue]) -> str:
        return json.dumps(list(values))

    def before_schema_change(self) -> Sequence[str]:
        return ()

    def add_columns(self, statements: Statements, columns: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        sqlite_columns.add(statements, columns)

    def unique_violation(self, error: BaseException) -> UniqueViolation | None:
        if not isinstance(error, sqlite3.IntegrityError):
            return None
        match = _NOT_UNIQUE.fullmatch(str(error))
        if match is None:
            return None
        # SQLite writes each column after its table and a dot.
        return UniqueViolation(columns=tuple(column.split(".", 1)[1] for column in match[1].split(", ")))

    def approximate_count(self, table: str) -> str:
        return f"SELECT MAX(rowid) FROM {quote(table)}"

    def is_of_other_metadata(self, error: BaseException) -> bool:
        return isinstance(error, sqlite3.OperationalError) and str(error).startswith("no such ")

    def create_search(self, search: TextSearch) -> Iterable[str]:
        return sqlite_search.create(search)

    def drop_search(self, search: TextSearch) -> Iterable[str]:
        return sqlite_search.drop(search)

    def found_by_search(self, search: TextSearch) -> str:
        return sqlite_search.select_found(search)

    def search_parameter(self, pattern: Iterable[Token]) -> str | None:
        return sqlite_search.phrase(pattern)

    def like(self, compared: str) -> str:
        return f"{compared} GLOB ?"

    def like_parameter(self, pattern: Iterable[Token]) -> str:
        return "".join(_glob(token) for token in pattern)

    def contains_any(self, value: str) -> str:
        # Options are stored as `|1|5|`.
        holds = f"instr({value}, '|' || wanted.value || '|')"
        return f"EXISTS (SELECT 1 FROM json_each(?) AS wanted WHERE {holds})"

    def options_parameter(self, options: Sequence[int]) -> str:
        return json.dumps(list(options))

    def within_any(self, expression: str, storage: Storage) -> str:
        # A span is a JSON list: its first moment, and the first moment after it.
        first, after = (f"json_extract(span.value, '$[{index}]')" for index in (0, 1))
        within = f"{expression} >= {first} AND {expression} < {after}"
        return f"EXISTS (SELECT 1 FROM json_each(?) AS span WHERE {within})"

    def date_part(self, value: str, grouping: CalendarPart, storage: Storage) -> str:
        """Return the SQL of a part of a date as a whole number. `value` is text that begins as 2026-03-31."""
        month = f"CAST(substr({value}, 6, 2) AS INTEGER)"
        match grouping:
            case DateGrouping.YEAR:
                return f"CAST(substr({value}, 1, 4) AS INTEGER)"
            case DateGrouping.QUARTER:
                return f"({month} + 2) / 3"
            case DateGrouping.MONTH:
                return month
            case DateGrouping.DAY:
                return f"CAST(substr({value}, 9, 2) AS INTEGER)"
            case DateGrouping.WEEK:
                return _week(value)

    def sum(self, value: str, storage: Storage) -> Sum:
        """Return the SQL of a sum in one or several pieces, and how these become the exact number."""
        if storage is Storage.DOUBLE:
            return Sum((f"SUM({value})",), lambda parts: float(parts[0] or 0))
        if storage is Storage.DECIMAL:
            return _decimal_sum(value)
        # SQLite's SUM fails beyond 64 bits, so the upper and the lower half are added for themselves.
        pieces = (f"SUM({value} >> 32)", f"SUM({value} & {_LOW_BITS})")
        places = money.MONEY_PLACES if storage is Storage.MONEY else None
        return Sum(pieces, _recombined(places))


def _glob(token: Token) -> str:
    """Return a token of a LIKE pattern as a pattern of GLOB, which is case-sensitive and has sets."""
    match token:
        case AnyText():
            return "*"
        case OneCharacter():
            return "?"
        case Characters(ranges, negated):
            return _glob_characters(ranges, negated=negated)
    return "".join(f"[{character}]" if character in "*?[" else character for character in token)


def _glob_characters(ranges: Sequence[tuple[str, str]], *, negated: bool) -> str:
    """Return a set of characters as GLOB writes it. Each range is its first and its last character."""
    # A caret in the first place would negate: alone it needs no set, and among others it comes last.
    if not negated and all(range == ("^", "^") for range in ranges):
        return "^"
    ordered = sorted(ranges, key=lambda range: range[0] == "^")
    inner = "".join(f"{first}-{last}" for first, last in ordered)
    return f"[{'^' if negated else ''}{inner}]"


def _week(value: str) -> str:
    """Return the SQL of the number of the week in which a date is. See `date_part`."""
    day = f"julianday(substr({value}, 1, 10))"
    new_year = f"julianday(substr({value}, 1, 4) || '-01-01')"
    # Julian days begin at noon, on a Monday: with a day and a half more, Sundays are the multiples of seven.
    weekday = f"(CAST({new_year} + 1.5 AS INTEGER) - 7 * (CAST({new_year} + 1.5 AS INTEGER) / 7))"
    return f"(CAST({day} - {new_year} AS INTEGER) + {weekday}) / 7 + 1"


def _recombined(places: int | None) -> Callable[[Sequence[Any]], Decimal | int]:
    """Return a function that makes a number of the sums of the upper and the lower 32 bits.

    `places` are the decimal places of money; None for whole numbers.
    """

    def combine(parts: Sequence[Any]) -> Decimal | int:
        high, low = parts
        total = ((high or 0) << 32) + (low or 0)
        return total if places is None else money.unscaled(total, places)

    return combine


def _decimal_sum(value: str) -> Sum:
    """Return the sum of decimals that are stored as ordered text (`money.ordered_text`).

    The digits are added in two halves, which fit SQLite's integers. A negative number n has the digits of
    ORDERED_NINES + n, so ORDERED_NINES is taken off for each of the negative ones, which are counted.
    """

    def combine(parts: Sequence[Any]) -> Decimal:
        high, low, negative = (part or 0 for part in parts)
        total = high * 10**_HALF_WIDTH + low - negative * money.ORDERED_NINES
        return money.unscaled(total, money.DECIMAL_PLACES)

    return Sum(
        (
            f"SUM(CAST(substr({value}, 2, {_HALF_WIDTH}) AS INTEGER))",
            f"SUM(CAST(substr({value}, {2 + _HALF_WIDTH}) AS INTEGER))",
            f"SUM({value} < '1')",
        ),
        combine,
    )
