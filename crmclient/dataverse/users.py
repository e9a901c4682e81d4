"""System users with what surrounds them, and security roles: queries like any other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from crmclient.errors import MissingPrivilege
from crmclient.metadata import PlatformUser, SecurityRole
from crmclient.platform import SERVICE_CALL, Call
from crmclient.query.ast import ALL, Column, Condition, Filter, Link, Operator, Order, Page, Query
from crmclient.values import Guid, QueryResult, Record, Reference, Value

logger = logging.getLogger(__name__)

_COLUMNS: Final = ("fullname", "isdisabled", "businessunitid")
_OBJECT_ID: Final = "azureactivedirectoryobjectid"

Ask = Callable[[Query, Page, Call], QueryResult]
Retrieve = Callable[[str, Guid, tuple[str, ...], Call], Record]


def user(id: Guid, ask: Ask, retrieve: Retrieve) -> PlatformUser:
    """Teams and roles come in the order of their names. Raises RecordNotFound."""
    record = retrieve("systemuser", id, _COLUMNS, SERVICE_CALL)
    values = record.values
    business_unit = values["businessunitid"]
    teams = _unless_denied(ask, _tied("team", "teammembership", record.id))
    roles = _unless_denied(ask, _tied("role", "systemuserroles", record.id))
    return PlatformUser(
        record.id,
        str(values["fullname"] or ""),
        bool(values["isdisabled"]),
        business_unit.id if isinstance(business_unit, Reference) else "",
        tuple(str(row["teamid"]) for row in teams),
        tuple(str(row["name"] or "") for row in teams),
        tuple(str(row["name"] or "") for row in roles),
    )


def object_id(retrieve: Retrieve, id: Guid, call: Call) -> Guid | None:
    """A user's object id in Entra ID, if it has one. Raises RecordNotFound."""
    found = retrieve("systemuser", id, (_OBJECT_ID,), call).values[_OBJECT_ID]
    return None if found is None else str(found)


def security_roles(ask: Ask) -> list[SecurityRole]:
    query = Query("role", (Column("roleid"), Column("name")), orders=(Order("name"),))
    return [
        SecurityRole(str(row["roleid"]), str(row["name"] or "")) for row in ask(query, ALL, SERVICE_CALL).rows
    ]


def _unless_denied(ask: Ask, query: Query) -> Sequence[Mapping[str, Value]]:
    """No rows where the service's own account may not read any: without teams or roles a user may do less."""
    try:
        return ask(query, ALL, SERVICE_CALL).rows
    except MissingPrivilege as error:
        logger.warning("what users are tied to is not known: %s", error)
        return ()


def _tied(entity: str, intersect: str, user: Guid) -> Query:
    """What a user is tied to through an intersect entity."""
    key = f"{entity}id"
    mine = Filter((Condition("systemuserid", Operator.EQ, (user,)),))
    return Query(
        entity,
        (Column(key), Column("name")),
        links=(Link(intersect, key, key, "tie", filter=mine),),
        orders=(Order("name"),),
    )
