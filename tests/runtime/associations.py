"""An endpoint that makes users members of teams, beside the demo's own, and what it does seen from behind."""

from __future__ import annotations

from typing import Any

from crmbox.demo import people
from crmclient import Guid, Reference
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from designer.models import Endpoint, ExposedEntity, Module
from designer.platform import get_platform
from tests.row_rules import only_rule

TEAMS = "/api/sales/teams"
MEMBERS = "teammembership_association"
RITA, MAX = people.RITA_REP, people.MAX_MANAGER


def associations(**settings: Any) -> Endpoint:
    """`PUT` and `DELETE /api/sales/teams/{id}/members/{relatedId}`, without roles or row rules."""
    module = Module.objects.get(segment="sales")
    teams, _ = ExposedEntity.objects.get_or_create(
        module=module, segment="teams", defaults={"entity": "team"}
    )
    ExposedEntity.objects.get_or_create(module=module, segment="people", defaults={"entity": "systemuser"})
    made: Endpoint = Endpoint.objects.create(
        kind="associate",
        entity=teams,
        name="members",
        settings={"relationship": MEMBERS, "related": "people", **settings},
    )
    return made


def only(segment: str, *conditions: str) -> None:
    """Give the exposed entity a row rule of FetchXML conditions."""
    rule = f"<filter>{''.join(f'<condition {each}/>' for each in conditions)}</filter>"
    only_rule(rule, segment=segment, module="sales")


def a_team(name: str = "Field") -> Guid:
    unit = Reference("businessunit", people.SALES)
    return get_platform().create("team", {"name": name, "businessunitid": unit}).id


def members(team: Guid) -> list[str]:
    same = Condition("teamid", Operator.EQ, (team,))
    rows = get_platform().query(Query("teammembership", (Column("systemuserid"),), Filter((same,)))).rows
    return sorted(str(row["systemuserid"]) for row in rows)


def path(team: Guid, user: Guid) -> str:
    return f"{TEAMS}/{team}/members/{user}"
