"""SQLite: a trigger per table and kind of statement, fired for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from designer.triggers.tables import KEPT_CHANGES

_EVENTS = {"insert": ("NEW",), "update": ("OLD", "NEW"), "delete": ("OLD",)}


def statements(tables: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the statements that install the triggers, and raise the revision once.

    `tables`: for each table, the column with the id of an endpoint; None: a row may concern any endpoint.
    """
    for table, column in tables.items():
        for event, rows in _EVENTS.items():
            trigger = f"{table}_{event}_raises_revision"
            endpoints = [f"{row}.{column}" for row in rows] if column else ["NULL"]
            yield f"DROP TRIGGER IF EXISTS {trigger}"
            body = " ".join(f"{step};" for step in _raise(endpoints, "NULL" if column else f"'{table}'"))
            yield f"CREATE TRIGGER {trigger} AFTER {event.upper()} ON {table} BEGIN {body} END"
    yield from _raise(["NULL"])


def _raise(endpoints: list[str], part: str = "NULL") -> Iterator[str]:
    """Yield the statements of a trigger: raise the revision, note the change, and remove old notes.

    `endpoints` and `part` are SQL: the ids of changed endpoints, and the name of a table that concerns all.
    """
    # A flushed database has lost the row.
    yield "INSERT OR IGNORE INTO designer_revision (id, number, token) VALUES (1, 0, '')"
    yield "UPDATE designer_revision SET number = number + 1, token = lower(hex(randomblob(16))) WHERE id = 1"
    notes = " UNION ".join(
        f"SELECT number, token, {endpoint}, {part} FROM designer_revision WHERE id = 1"  # noqa: S608  names of ours
        for endpoint in endpoints
    )
    yield f"INSERT INTO designer_change (number, token, endpoint, part) {notes}"
    yield (
        "DELETE FROM designer_change WHERE number <= "  # noqa: S608  a number of ours
        f"(SELECT number - {KEPT_CHANGES} FROM designer_revision WHERE id = 1)"
    )
