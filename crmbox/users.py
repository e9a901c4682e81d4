"""System users with their business unit, teams and roles, and security roles."""

from __future__ import annotations

from crmbox.engine.connection import Unit
from crmbox.engine.names import quote
from crmbox.engine.snapshot import Snapshot, StoredEntity, cached_by_snapshot
from crmbox.records.retrieve import retrieve
from crmclient.metadata import PlatformUser, SecurityRole
from crmclient.values import Guid, Reference

_USER_COLUMNS = ("fullname", "isdisabled", "businessunitid")


def user(unit: Unit, id: Guid) -> PlatformUser:
    """Return a user, with teams and roles sorted by name. Raises RecordNotFound."""
    record = retrieve(unit, "systemuser", id, _USER_COLUMNS)
    values = record.values
    business_unit = values["businessunitid"]
    teams = unit.rows(_members_sql(unit.snapshot, "team", "teammembership"), (record.id,))
    roles = unit.rows(_members_sql(unit.snapshot, "role", "systemuserroles"), (record.id,))
    return PlatformUser(
        id=record.id,
        full_name=str(values["fullname"] or ""),
        disabled=bool(values["isdisabled"]),
        business_unit_id=business_unit.id if isinstance(business_unit, Reference) else "",
        team_ids=tuple(id for id, _ in teams),
        team_names=tuple(name for _, name in teams),
        security_roles=tuple(name for _, name in roles),
    )


def security_roles(unit: Unit) -> list[SecurityRole]:
    """Return all security roles, sorted by name."""
    stored = unit.snapshot.entity("role")
    sql = (
        f"SELECT {_column(stored, 'roleid')}, {_column(stored, 'name')} FROM {quote(stored.table)} t "
        f"ORDER BY t.{quote(stored.columns['name'].comparable)}, {_column(stored, 'roleid')}"
    )
    return [SecurityRole(id, name) for id, name in unit.rows(sql)]


@cached_by_snapshot(64)
def _members_sql(snapshot: Snapshot, entity: str, intersect: str) -> str:
    """Return a query for the id and name of the records of `entity` that a user is associated with, sorted by
    name as names are compared, then by id.

    `intersect` is the intersect entity, whose column for the record has the name of the record's primary id.
    The parameter is the id of the user.
    """
    stored, pairs = snapshot.entity(entity), snapshot.entity(intersect)
    key = stored.entity.primary_id
    return (
        f"SELECT {_column(stored, key)}, {_column(stored, 'name')} FROM {quote(stored.table)} t "
        f"JOIN {quote(pairs.table)} p ON p.{quote(pairs.columns[key].name)} = {_column(stored, key)} "
        f"WHERE p.{quote(pairs.columns['systemuserid'].name)} = {snapshot.dialect.placeholder} "
        f"ORDER BY t.{quote(stored.columns['name'].comparable)}, {_column(stored, key)}"
    )


def _column(stored: StoredEntity, name: str) -> str:
    """Return a column of the table that the query calls `t`."""
    return f"t.{quote(stored.columns[name].name)}"
