"""System users with what surrounds them, and security roles."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.http.messages import reading
from crmclient.errors import AccessDenied, MissingPrivilege, RecordNotFound, Refused
from crmclient.metadata import PlatformUser, SecurityRole, UserReports
from crmclient.outages import Outage
from crmclient.platform import SERVICE_CALL, Call
from crmclient.query.ast import ALL, Column, Condition, Filter, Link, LinkType, Operator, Order, Page, Query
from crmclient.sentences import Sentence
from crmclient.values import Guid, QueryResult, Record, Reference, Value, parse_guid

logger = logging.getLogger(__name__)

_unreadable_ties = Outage(
    logger,
    "what users are tied to is not known: the service's own account lacks a privilege",
    "what users are tied to is known again",
)

_COLUMNS: Final = ("fullname", "isdisabled", "businessunitid")
_SELECTED: Final = "systemuserid,fullname,isdisabled,_businessunitid_value"
_EXPANDED: Final = (
    "teammembership_association($select=teamid,name;$orderby=name),"
    "systemuserroles_association($select=roleid,name;$orderby=name)"
)
_BY_PARTS_SECONDS: Final = 600.0
"""For so long users are read by several requests after one request for everything was refused."""
_OBJECT_ID: Final = "azureactivedirectoryobjectid"

Ask = Callable[[Query, Page, Call], QueryResult]
Retrieve = Callable[[str, Guid, tuple[str, ...], Call], Record]


class Users:
    """Reads a user with teams and security roles, by one request if the service's account may read all of
    these.

    `ask` runs a query, as `Queries.run` does; `retrieve` reads a record, as `Records.retrieve` does.
    """

    def __init__(self, api: Api, ask: Ask, retrieve: Retrieve) -> None:
        self._api = api
        self._ask = ask
        self._retrieve = retrieve
        self._by_parts_until = 0.0

    def user(self, id: Guid) -> PlatformUser:
        """Return a user, with teams and roles in the order of their names. Raises RecordNotFound."""
        if time.monotonic() >= self._by_parts_until:
            try:
                return self._read_at_once(id)
            except (MissingPrivilege, AccessDenied, Refused):
                # What may be read of it is asked for by itself. A privilege may be granted later.
                self._by_parts_until = time.monotonic() + _BY_PARTS_SECONDS
        return self._read_by_parts(id)

    def _read_at_once(self, id: Guid) -> PlatformUser:
        """Read a user with its teams and roles in one request. Raises RecordNotFound."""
        try:
            id = parse_guid(id)
        except (TypeError, ValueError):
            raise RecordNotFound("systemuser", str(id)) from None
        row = self._api.get(
            paths.with_query(f"systemusers({id})", {"$select": _SELECTED, "$expand": _EXPANDED}),
            Subject(Kind.RECORD, "systemuser", id),
            SERVICE_CALL,
        )
        with reading(Sentence("the platform's user")):
            teams, roles = row["teammembership_association"], row["systemuserroles_association"]
            return PlatformUser(
                id=parse_guid(row["systemuserid"]),
                full_name=str(row.get("fullname") or ""),
                disabled=bool(row.get("isdisabled")),
                business_unit_id=str(row.get("_businessunitid_value") or "").lower(),
                team_ids=tuple(parse_guid(team["teamid"]) for team in teams),
                team_names=tuple(str(team.get("name") or "") for team in teams),
                security_roles=tuple(str(role.get("name") or "") for role in roles),
            )

    def _read_by_parts(self, id: Guid) -> PlatformUser:
        """Read a user by several requests. Teams and roles that may not be read are left out."""
        record = self._retrieve("systemuser", id, _COLUMNS, SERVICE_CALL)
        values = record.values
        business_unit = values["businessunitid"]
        teams = _rows_if_permitted(self._ask, _tied_records_query("team", "teammembership", record.id))
        roles = _rows_if_permitted(self._ask, _tied_records_query("role", "systemuserroles", record.id))
        return PlatformUser(
            id=record.id,
            full_name=str(values["fullname"] or ""),
            disabled=bool(values["isdisabled"]),
            business_unit_id=business_unit.id if isinstance(business_unit, Reference) else "",
            team_ids=tuple(str(row["teamid"]) for row in teams),
            team_names=tuple(str(row["name"] or "") for row in teams),
            security_roles=tuple(str(row["name"] or "") for row in roles),
        )


class AskForAll(Protocol):
    """Runs a query, and returns all of its rows."""

    def __call__(self, query: Query, page: Page = ALL, *, call: Call = SERVICE_CALL) -> QueryResult: ...


def reports(ask: AskForAll, id: Guid, call: Call) -> UserReports:
    """Return the users who report to a user, and the teams of all of them, by one query."""
    rows = ask(reports_query(id), call=call).rows
    # A user without teams has a row without a team; one with several teams has several rows.
    users, teams = ({row[key] for row in rows} - {None} for key in ("systemuserid", "tie.teamid"))
    return UserReports(tuple(sorted(map(str, users))), tuple(sorted(map(str, teams))))


def reports_query(id: Guid) -> Query:
    """Return a query for everybody below a user in the hierarchy of managers, with a row for each of their
    teams.
    """
    tie = Link(
        entity="teammembership",
        from_attribute="systemuserid",
        to_attribute="systemuserid",
        alias="tie",
        type=LinkType.OUTER,
        columns=(Column("teamid"),),
    )
    return Query(
        "systemuser",
        (Column("systemuserid"),),
        Filter((Condition("systemuserid", Operator.UNDER, (id,)),)),
        (tie,),
    )


def object_id(retrieve: Retrieve, id: Guid, call: Call) -> Guid | None:
    """Return a user's object id in Entra ID; None if the user has none. Raises RecordNotFound."""
    identifier = retrieve("systemuser", id, (_OBJECT_ID,), call).values[_OBJECT_ID]
    return None if identifier is None else str(identifier)


def security_roles(ask: Ask) -> list[SecurityRole]:
    """Return all security roles, by name."""
    query = Query("role", (Column("roleid"), Column("name")), orders=(Order("name"),))
    return [
        SecurityRole(str(row["roleid"]), str(row["name"] or "")) for row in ask(query, ALL, SERVICE_CALL).rows
    ]


def _rows_if_permitted(ask: Ask, query: Query) -> Sequence[Mapping[str, Value]]:
    """Return the rows of a query; none when the service's own account may not read them.

    Without teams or roles, a user may do less, not more.
    """
    try:
        rows = ask(query, ALL, SERVICE_CALL).rows
    except MissingPrivilege as error:
        _unreadable_ties.failed(privilege=error.privilege)
        return ()
    _unreadable_ties.worked()
    return rows


def _tied_records_query(entity: str, intersect: str, user: Guid) -> Query:
    """Return the query for the records that a user is tied to through an intersect entity."""
    key = f"{entity}id"
    of_this_user = Filter((Condition("systemuserid", Operator.EQ, (user,)),))
    return Query(
        entity,
        (Column(key), Column("name")),
        links=(Link(intersect, key, key, "tie", filter=of_this_user),),
        orders=(Order("name"),),
    )
