"""SQLite: integers for money, ordered text for decimals, ISO text for times."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Sequence
from typing import Any

from crmbox.engine.dialects.base import AtOnce, Cursor, DbValue, Dialect, Row, Storage, UniqueViolation
from crmbox.engine.revision import RAISE_KNOWN, ROW_VERSION

_COLUMNS = re.compile(r"UNIQUE constraint failed: (.+)")


class SQLite(Dialect):
    name = "sqlite"
    placeholder = "?"
    nulls_first = ""
    begin_read = "BEGIN"
    begin_write = "BEGIN IMMEDIATE"
    # A writer that finds the file locked sleeps and looks again; one that waits here is woken.
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

    def cursor(self, connection: Any) -> Cursor:
        cursor: Cursor = connection.cursor()
        return cursor

    def write_at_once(self, connection: Any, sql: str, token: str, params: Sequence[DbValue]) -> list[Row]:
        """SQLite changes one table in a statement, so that the version is raised by another."""
        rows: list[Row] = []
        connection.execute(self.begin_write)
        try:
            if connection.execute(RAISE_KNOWN, (token,)).rowcount:
                rows = connection.execute(sql, params).fetchall()
            if rows:
                connection.execute("COMMIT")
        finally:
            # Whatever ended it, the connection is free again.
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

    def unique_violation(self, error: BaseException) -> UniqueViolation | None:
        if not isinstance(error, sqlite3.IntegrityError):
            return None
        found = _COLUMNS.fullmatch(str(error))
        if found is None:
            return None
        return UniqueViolation(columns=tuple(column.split(".", 1)[1] for column in found[1].split(", ")))
