"""Database triggers: they raise the configuration's revision, and keep the audit log as it was written.

Admin, ORM, bulk, fixture and raw SQL edits all count, in the transaction of the edit itself. SQLite drops the
triggers when a migration remakes a table, so they are put back after every migration.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction

from designer.triggers import append_only, postgresql, sqlite
from designer.triggers.tables import REVISION_TABLES, WATCHED

_STATEMENTS = {"sqlite": sqlite.statements, "postgresql": postgresql.statements}
_KEEPS_AUDIT_LOG = {"sqlite": append_only.sqlite, "postgresql": append_only.postgresql}


def put_back(using: str = DEFAULT_DB_ALIAS, **signal: Any) -> None:
    """Install every trigger, and raise the revision: a migration may have changed any row.

    Does nothing for other databases, and until the migrations have made all tables that triggers need.
    """
    connection = connections[using]
    needed = {append_only.AUDIT_TABLE} | REVISION_TABLES | WATCHED.keys()
    if using != DEFAULT_DB_ALIAS or not needed <= _tables(connection):
        return
    with transaction.atomic(using), connection.cursor() as cursor:
        for statement in _STATEMENTS[connection.vendor](WATCHED):
            cursor.execute(statement)
        for statement in _KEEPS_AUDIT_LOG[connection.vendor](settings.PORTICO["AUDIT_DAYS"]):
            cursor.execute(statement)


def _tables(connection: Any) -> set[str]:
    """Return the names of the tables that the database has."""
    return set(connection.introspection.table_names())
