"""What tests ask of the database, noted in one pass so that the next need not ask all of it again.

The pass on SQLite notes the statements of each test (`--note-statements=FOLDER`). Many tests of the studio's
pages send the same statements about the configuration as others do: on another database they tell nothing
new. The pass on PostgreSQL (`--of-storage --noted-statements=FOLDER`) runs as many of them as send each
statement three times. Tests that never opened a page, or that did more than that, all stay.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.signals import request_started
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

TIMES = 3
# Noted beside the statements of a test that has opened pages of the studio.
PAGES = "pages"
# The same of one that has called the API, used rows of the platform, or started or asked another process:
# what it saw depends on more than these statements.
MORE = "more"
_STUDIO = "/admin/"
_ROWS_OF_THE_PLATFORM = '"e_'
_ELSEWHERE = frozenset({"subprocess.Popen", "socket.connect"})
# What differs between two calls of one statement: numbers, values, and how many there are of them.
_VALUES = re.compile(r"(%s|\d+|'[^']*'|(?<== )NULL)(, ?(%s|\d+|'[^']*'|NULL))*")
_ROWS = re.compile(r"\(\?\)(, \(\?\))+")


class StatementNotes:
    """Notes what each test has the database do, and writes it to `file` when the session ends."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._of_test: set[str] = set()
        self._tests: dict[str, list[str]] = {}
        self._shapes: dict[str, str] = {}
        connection_created.connect(self._listen, weak=False)
        request_started.connect(self._request, weak=False)
        sys.addaudithook(self._audit)

    def _listen(self, connection: BaseDatabaseWrapper, **_: Any) -> None:
        if self._statement not in connection.execute_wrappers:
            connection.execute_wrappers.append(self._statement)
        # The CRM in the box asks the driver itself, past the wrappers.
        if isinstance(connection.connection, sqlite3.Connection):
            connection.connection.set_trace_callback(self._driven)

    def _driven(self, sql: str) -> None:
        if _ROWS_OF_THE_PLATFORM in sql:
            self._of_test.add(MORE)

    def _statement(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
        shape = self._shapes.get(sql) or self._shapes.setdefault(sql, _shape(str(sql)))
        try:
            answer = execute(sql, params, many, context)
        except Exception as error:
            # PostgreSQL takes nothing more in a transaction of which a statement has failed.
            self._of_test.add(f"{type(error).__name__}: {shape}")
            raise
        self._of_test.add(shape)
        return answer

    def _request(self, environ: Mapping[str, Any] | None = None, **_: Any) -> None:
        is_page = environ is not None and str(environ.get("PATH_INFO", "")).startswith(_STUDIO)
        self._of_test.add(PAGES if is_page else MORE)

    def _audit(self, event: str, _arguments: Any) -> None:
        if event in _ELSEWHERE:
            self._of_test.add(MORE)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._of_test.clear()
        try:
            return (yield)
        finally:
            self._tests[item.nodeid] = sorted(self._of_test)

    def pytest_sessionfinish(self) -> None:
        if self._tests:
            self._file.write_text(json.dumps(self._tests), encoding="utf-8")


def _shape(sql: str) -> str:
    return _ROWS.sub("(?)", _VALUES.sub("?", sql))


def sent_by_others(names: Iterable[str], folder: Path) -> set[str]:
    """Return those of the tests `names` that only open pages of the studio, and send only statements that
    enough others send.

    `folder` has the notes of an earlier pass. A test of which there is no note is not among them.
    """
    noted: dict[str, list[str]] = {}
    for file in sorted(folder.glob("*.json")):
        noted |= json.loads(file.read_text(encoding="utf-8"))
    sent: Counter[str] = Counter()
    candidates = []
    for name in names:
        statements = noted.get(name, ())
        if PAGES in statements and MORE not in statements:
            candidates.append((name, statements))
        else:
            sent.update(statements)
    found = set()
    for name, statements in candidates:
        if all(sent[statement] >= TIMES for statement in statements):
            found.add(name)
        else:
            sent.update(statements)
    return found
