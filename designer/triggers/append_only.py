"""The audit log is append-only: the database refuses updates, and deletions before an entry's time is up.

That holds for the studio, the ORM and raw SQL. The owner of the table can drop the triggers.
"""

from __future__ import annotations

from collections.abc import Iterator

AUDIT_TABLE = "designer_auditentry"

CHANGED = "audit entries cannot be changed"
KEPT = "audit entries cannot be deleted before AUDIT_DAYS are over"

_FUNCTION = "designer_audit_is_append_only"


def sqlite(days: int) -> Iterator[str]:
    """Yield the statements for SQLite. Entries are kept for `days`; 0: forever."""
    # The time as text in the form in which Django stores it.
    oldest = f"strftime('%Y-%m-%d %H:%M:%f', 'now', '-{days} days')"
    is_kept = f"OLD.at >= {oldest}" if days else "1"
    # SQLite's REPLACE deletes what is in its way without a trigger for deletions.
    id_exists = f"EXISTS (SELECT 1 FROM {AUDIT_TABLE} WHERE id = NEW.id)"  # noqa: S608  names of ours
    for event, condition, message in (
        ("UPDATE", "1", CHANGED),
        ("INSERT", id_exists, CHANGED),
        ("DELETE", is_kept, KEPT),
    ):
        trigger = f"{AUDIT_TABLE}_{event.lower()}_refused"
        yield f"DROP TRIGGER IF EXISTS {trigger}"
        yield (
            f"CREATE TRIGGER {trigger} BEFORE {event} ON {AUDIT_TABLE} WHEN {condition} "
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        )


def postgresql(days: int) -> Iterator[str]:
    """Yield the statements for PostgreSQL. Entries are kept for `days`; 0: forever."""
    is_kept = f"{{at}} >= now() - interval '{days} days'" if days else "true"
    yield f"""
CREATE OR REPLACE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        RAISE EXCEPTION '{CHANGED}' USING ERRCODE = 'integrity_constraint_violation';
    ELSIF TG_OP = 'TRUNCATE' THEN
        IF EXISTS (SELECT 1 FROM {AUDIT_TABLE} WHERE {is_kept.format(at="at")}) THEN
            RAISE EXCEPTION '{KEPT}' USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NULL;
    ELSIF {is_kept.format(at="OLD.at")} THEN
        RAISE EXCEPTION '{KEPT}' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
END
$body$"""  # noqa: S608  names of ours
    for event, level in (("UPDATE", "ROW"), ("DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
        trigger = f"{AUDIT_TABLE}_{event.lower()}_refused"
        yield f"DROP TRIGGER IF EXISTS {trigger} ON {AUDIT_TABLE}"
        yield (
            f"CREATE TRIGGER {trigger} BEFORE {event} ON {AUDIT_TABLE} "
            f"FOR EACH {level} EXECUTE FUNCTION {_FUNCTION}()"
        )
