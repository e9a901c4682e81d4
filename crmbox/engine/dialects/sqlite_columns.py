"""Many new columns on SQLite, which reads its whole schema again after each `ALTER TABLE`.

The stored text of `CREATE TABLE` is changed instead, once for each table, and the schema read once at the
end. `ADD COLUMN` does nothing else: rows that are shorter than their table have NULL in its last columns.
https://www.sqlite.org/lang_altertable.html describes the way, under "Making Other Kinds Of Table Schema
Changes".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from crmbox.engine.dialects.base import Statements
from crmbox.engine.names import quote

_FEW: Final = 8
"""Up to so many columns are added by `ALTER TABLE`, even if the schema is large."""

_APPEND: Final = (
    "UPDATE sqlite_master SET sql = substr(sql, 1, length(sql) - 1) || ? "
    "WHERE type = 'table' AND name = ? AND substr(sql, -1) = ')'"
)

NewColumns: TypeAlias = Mapping[str, Sequence[tuple[str, str]]]
"""The name and type of each new column, by its table."""


def add(statements: Statements, columns: NewColumns) -> None:
    """Add columns to the tables that have them in `columns`, in a transaction."""
    are_few = sum(map(len, columns.values())) <= _FEW
    for statement in _alterations(columns if are_few else _add_to_schema(statements, columns)):
        statements.execute(statement)


def _alterations(columns: NewColumns) -> Iterator[str]:
    for table, added in columns.items():
        for name, column_type in added:
            yield f"ALTER TABLE {quote(table)} ADD COLUMN {quote(name)} {column_type}"


def _add_to_schema(statements: Statements, columns: NewColumns) -> NewColumns:
    """Append columns to the stored text of CREATE TABLE. Return those that `ALTER TABLE` has to add instead.

    These are all of them where the SQLite library forbids changes of the stored schema, and else those of
    tables whose text does not end with the list of columns, such as after WITHOUT ROWID.
    """
    not_appended: dict[str, Sequence[tuple[str, str]]] = {}
    statements.execute("PRAGMA writable_schema = ON")
    try:
        if statements.rows("PRAGMA writable_schema") != [(1,)]:
            return columns
        for table, added in columns.items():
            text = "".join(f", {quote(name)} {column_type}" for name, column_type in added)
            # No row is touched where the text of the table does not end with a bracket.
            if statements.execute(_APPEND, (f"{text})", table)) != 1:
                not_appended[table] = added
        # Another version makes other connections read the schema anew; `RESET` makes this one do so.
        [(version,)] = statements.rows("PRAGMA schema_version")
        statements.execute(f"PRAGMA schema_version = {version + 1}")
    finally:
        statements.execute("PRAGMA writable_schema = RESET")
    # Asked before the transaction ends, SQLite fails here if it cannot read what was written.
    statements.rows("SELECT count(*) FROM sqlite_master")
    return not_appended
