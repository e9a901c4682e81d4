"""Database triggers that raise the configuration's revision.

Admin, ORM, bulk, fixture and raw SQL edits all count, in the transaction of the edit itself. SQLite drops the
triggers when a migration remakes a table, so they are put back after every migration.
"""

from __future__ import annotations

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction

from designer.triggers import postgresql, sqlite
from designer.triggers.tables import REVISION_TABLES, WATCHED

_STATEMENTS = {"sqlite": sqlite.statements, "postgresql": postgresql.statements}


def put_back(using: str = DEFAULT_DB_ALIAS, **signal: Any) -> None:
    """Install every trigger, and count the migration as a change of everything: rows may have changed."""
    connection = connections[using]
    if using != DEFAULT_DB_ALIAS or not REVISION_TABLES | WATCHED.keys() <= _tables(connection):
        return
    with transaction.atomic(using), connection.cursor() as cursor:
        for statement in _STATEMENTS[connection.vendor](WATCHED):
            cursor.execute(statement)


def _tables(connection: Any) -> set[str]:
    return set(connection.introspection.table_names())
