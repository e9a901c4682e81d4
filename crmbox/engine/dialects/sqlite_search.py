"""Pieces of text on SQLite: a full-text index of trigrams beside the table, kept by triggers.

The index holds numbers of its own, not the table's rowids: VACUUM may give a table without an integer key
others. It holds no text either: the table does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from crmbox.engine.dialects.base import TextSearch
from crmbox.engine.like_patterns import Token
from crmbox.engine.names import quote

_SHORTEST: Final = 3
"""Characters of a piece that trigrams can find."""


def create(search: TextSearch) -> Iterator[str]:
    """Yield the statements that make and fill the index of one text column, and the triggers that keep it.

    The table `numbers` gives each record with a text a number, which is the rowid of its text in `index`.
    """
    index, numbers, table = _index(search), _numbers(search), quote(search.table)
    id, key = quote(search.id), quote(search.key)
    add = (
        f"INSERT INTO {numbers} (id) SELECT new.{id} WHERE new.{key} IS NOT NULL; "
        f"INSERT INTO {index} (rowid, piece) SELECT number, new.{key} FROM {numbers} WHERE id = new.{id}; "
    )
    # The index does not hold the text, so a deletion must give it the old text.
    remove = (
        f"INSERT INTO {index} ({index}, rowid, piece) "
        f"SELECT 'delete', number, old.{key} FROM {numbers} WHERE id = old.{id}; "
        f"DELETE FROM {numbers} WHERE id = old.{id}; "
    )
    yield f"CREATE TABLE {numbers} (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)"
    yield (
        f"CREATE VIRTUAL TABLE {index} USING "
        "fts5(piece, content='', columnsize=0, tokenize='trigram case_sensitive 1')"
    )
    yield f"INSERT INTO {numbers} (id) SELECT {id} FROM {table} WHERE {key} IS NOT NULL"
    yield (
        f"INSERT INTO {index} (rowid, piece) "
        f"SELECT number, {key} FROM {numbers} JOIN {table} ON {table}.{id} = {numbers}.id"
    )
    # Filled at once, the index is left in many pieces, and each search would look into all of them: a million
    # texts were searched in a fifth of the time after this.
    yield f"INSERT INTO {index} ({index}) VALUES ('optimize')"
    # The letters in the triggers' names stand for add, change and delete.
    yield _trigger(search, "a", "AFTER INSERT", add)
    yield _trigger(search, "c", f"AFTER UPDATE OF {key}", remove + add, f"WHEN old.{key} IS NOT new.{key} ")
    yield _trigger(search, "d", "AFTER DELETE", remove)


def drop(search: TextSearch) -> Iterator[str]:
    # One letter for each trigger that `create` makes.
    for which in "acd":
        yield f"DROP TRIGGER IF EXISTS {quote(f'{search.name}_{which}')}"
    yield f"DROP TABLE IF EXISTS {_index(search)}"
    yield f"DROP TABLE IF EXISTS {_numbers(search)}"


def select_found(search: TextSearch) -> str:
    """Return a select of the ids of the records that match its parameter: see `phrase`."""
    index, numbers = _index(search), _numbers(search)
    return (
        f"SELECT {numbers}.id FROM {index} JOIN {numbers} ON {numbers}.number = {index}.rowid "
        f"WHERE {index} MATCH ?"
    )


def phrase(pattern: Iterable[Token]) -> str | None:
    """Return the longest piece of text that matching texts contain, quoted as FTS5 takes it; None when all
    are too short.
    """
    pieces = [token for token in pattern if isinstance(token, str) and len(token) >= _SHORTEST]
    longest = max(pieces, key=len, default=None)
    return None if longest is None else '"' + longest.replace('"', '""') + '"'


def _trigger(search: TextSearch, which: str, moment: str, body: str, condition: str = "") -> str:
    """Return the statement that makes a trigger. `which` ends its name, `moment` says when it runs `body`."""
    name = quote(f"{search.name}_{which}")
    return f"CREATE TRIGGER {name} {moment} ON {quote(search.table)} {condition}BEGIN {body}END"


def _index(search: TextSearch) -> str:
    """Return the quoted name of the full-text table."""
    return quote(search.name)


def _numbers(search: TextSearch) -> str:
    """Return the quoted name of the table that numbers the records."""
    return quote(f"{search.name}_n")
