"""A change that is too large for one transaction: PostgreSQL holds a lock on every table and index that a
transaction makes, and has room for a few thousand.

New tables are made first, some in each transaction. Nothing knows them until the last transaction, which
writes all definitions at once: a change that is broken off has changed nothing. The tables that it leaves are
listed, and go with the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections

from crmbox.engine.connection import ReadUnit, WriteUnit, write_unit
from crmbox.engine.failures import NotUnique
from crmbox.engine.names import quote
from crmbox.engine.revision import new_token
from crmbox.metadata.change import make_tables, write
from crmbox.metadata.draft import Draft
from crmclient.errors import InvalidDefinition

TABLES: Final = 40
"""New tables in one transaction."""

_KIND: Final = "staged"
"""The kind of the rows that list new tables in the table of definitions."""

# `{0}` is the dialect's placeholder.
_LIST: Final = "INSERT INTO crm_definition (kind, name, token, document) VALUES ({0}, {0}, {0}, '')"
_STAGED: Final = "SELECT name FROM crm_definition WHERE kind = {0}"
_FORGET: Final = "DELETE FROM crm_definition WHERE kind = {0} AND name = {0}"
_TAKE: Final = "DELETE FROM crm_definition WHERE kind = {0} AND token = {0}"

Show = Callable[[str, int, int], None]
"""Shows progress: what is done, how many of it so far, and how many in all."""
Item = TypeVar("Item")


def draft_of(unit: ReadUnit) -> Draft:
    """Return a working copy of the present metadata."""
    return Draft(unit.snapshot, connections[unit.alias].introspection.table_names())


def carry_out(draft: Draft, show: Show, alias: str = DEFAULT_DB_ALIAS) -> None:
    """Carry out the changes of `draft`, which must be complete: all or nothing.

    Raises InvalidDefinition when the metadata or the records have changed in a way that forbids it.
    """
    # New tables are listed under this token until the last transaction takes them over.
    token = new_token()
    try:
        _make_tables(draft.new_tables, token, show, alias)
        with write_unit(alias) as unit:
            _adopt_tables(unit, draft, token)
            write(unit, draft)
    except NotUnique as error:
        clear(alias)
        raise InvalidDefinition("Records that exist have the same values in a new key.") from error
    except BaseException:
        clear(alias)
        raise


def clear(alias: str = DEFAULT_DB_ALIAS) -> None:
    """Drop the new tables that changes which were broken off have left, some in each transaction."""
    with write_unit(alias) as unit:
        staged = [name for (name,) in unit.rows(_sql(unit, _STAGED), (_KIND,))]
    for part in _parts(staged):
        with write_unit(alias) as unit:
            for table in part:
                unit.execute(f"DROP TABLE IF EXISTS {quote(table)}")
                unit.execute(_sql(unit, _FORGET), (_KIND, table))


def _adopt_tables(unit: WriteUnit, draft: Draft, token: str) -> None:
    """Take the new tables of this change off the list of those that `clear` drops.

    Raises InvalidDefinition when the metadata was changed meanwhile, and when another import has dropped some
    of the tables.
    """
    if unit.snapshot.revision.token != draft.revision.token:
        raise InvalidDefinition("The metadata was changed meanwhile. Run the import again.")
    if unit.execute(_sql(unit, _TAKE), (_KIND, token)) != len(draft.new_tables):
        raise InvalidDefinition("Another import ran meanwhile. Run the import again.")


def _make_tables(new_tables: Mapping[str, Sequence[str]], token: str, show: Show, alias: str) -> None:
    """Make the tables, some in each transaction, and list them under the `token` of this change."""
    done = 0
    for part in _parts(new_tables.items()):
        with write_unit(alias) as unit:
            make_tables(unit, (statements for _, statements in part))
            for table, _ in part:
                unit.execute(_sql(unit, _LIST), (_KIND, table, token))
        done += len(part)
        show("Tables made", done, len(new_tables))


def _sql(unit: WriteUnit, statement: str) -> str:
    return statement.format(unit.dialect.placeholder)


def _parts(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items in lists of at most TABLES."""
    rest = iter(items)
    while part := list(islice(rest, TABLES)):
        yield part
