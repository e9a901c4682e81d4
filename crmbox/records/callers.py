"""Checks that the user on whose behalf a call acts is enabled."""

from __future__ import annotations

from crmbox.engine.connection import Unit
from crmbox.engine.names import quote
from crmbox.engine.snapshot import Snapshot
from crmclient.errors import AccessDenied
from crmclient.values import Guid


def check_caller(unit: Unit, caller: Guid | None) -> None:
    """Check that the caller is an enabled user; None is the service itself. Raises AccessDenied."""
    if caller is not None:
        [[enabled]] = unit.rows(f"SELECT {is_enabled(unit.snapshot)}", (caller,))
        refuse_disabled(enabled, caller)


def is_enabled(snapshot: Snapshot) -> str:
    """Return an SQL expression, with a user's id as its parameter, for whether the user is enabled."""
    users = snapshot.entity("systemuser")
    return (
        f"EXISTS (SELECT 1 FROM {quote(users.table)} "
        f"WHERE {quote(users.id_column.name)} = {snapshot.dialect.placeholder} "
        f"AND {quote(users.columns['isdisabled'].name)} IS NOT TRUE)"
    )


def refuse_disabled(enabled: bool, caller: Guid) -> None:
    """Raise AccessDenied unless `enabled`."""
    if not enabled:
        raise AccessDenied(f"{caller} is no enabled user of the platform.")
