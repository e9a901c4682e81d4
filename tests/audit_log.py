"""The audit log in tests: old entries, and a log that can be emptied."""

from __future__ import annotations

import datetime as dt

from django.db import connection

from designer.models import AuditEntry
from designer.triggers.append_only import AUDIT_TABLE


def entry_of(when: dt.datetime) -> AuditEntry:
    """An entry that was written at `when`: no way of the product writes one with another time than now."""
    entry = AuditEntry.objects.order_by("-pk").first()
    id = 1 if entry is None else entry.pk + 1
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {AUDIT_TABLE} (id, at, account, address, action, subject, detail) "
            "VALUES (%s, %s, 'somebody', '', 'login', '', '')",
            [id, connection.ops.adapt_datetimefield_value(when)],
        )
    return AuditEntry.objects.get(pk=id)


def let_be_emptied() -> None:
    """Until the next migration, the database lets go of entries."""
    with connection.cursor() as cursor:
        for event in ("update", "insert", "delete", "truncate"):
            on = f" ON {AUDIT_TABLE}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {AUDIT_TABLE}_{event}_refused{on}")
