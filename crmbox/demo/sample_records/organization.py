"""Business units, teams, security roles and users: Contoso's sales and service."""

from __future__ import annotations

import datetime as dt
from typing import Final, NamedTuple

from crmbox.demo.people import (
    CONTOSO,
    SALES,
    SALES_NORTH,
    SALES_SOUTH,
    SERVICE,
    stable_id,
)
from crmbox.demo.sample_records.script import DAYS, Script, user
from crmclient.values import Guid, Reference, Value

_UNITS: Final = (
    ("Sales", CONTOSO),
    ("Sales North", SALES),
    ("Sales South", SALES),
    ("Service", CONTOSO),
)
_TEAMS: Final = (
    ("Key Accounts", SALES),
    ("North Field", SALES_NORTH),
    ("South Field", SALES_SOUTH),
    ("Inside Sales", SALES),
    ("First Line", SERVICE),
    ("Experts", SERVICE),
)
_ROLES: Final = (
    "System Administrator",
    "Salesperson",
    "Sales Manager",
    "Customer Service Representative",
    "Basic User",
)
# A post is a title and the security role that comes with it.
_HEAD: Final = ("Vice President of Sales", "Sales Manager")
_MANAGER: Final = ("Sales Manager", "Sales Manager")
_REP: Final = ("Sales Representative", "Salesperson")
_INSIDE: Final = ("Inside Sales", "Salesperson")
_LEAD: Final = ("Head of Service", "Customer Service Representative")
_AGENT: Final = ("Service Agent", "Customer Service Representative")
_EXPERT: Final = ("Service Expert", "Customer Service Representative")
_ADMIN: Final = ("Administrator", "System Administrator")
_STAFF: Final = ("Staff", "Basic User")
_INTEGRATION: Final = ("Integration", "Basic User")


class _User(NamedTuple):
    """A user. `manager` is the full name of another one."""

    first_name: str
    last_name: str
    post: tuple[str, str]
    unit: Guid
    manager: str | None
    teams: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}"


_USERS: Final = tuple(
    _User(*row)
    for row in (
        ("Sofia", "Sales", _HEAD, SALES, None, ("Key Accounts",)),
        ("Max", "Manager", _MANAGER, SALES_NORTH, "Sofia Sales", ("Key Accounts",)),
        ("Rita", "Rep", _REP, SALES_NORTH, "Max Manager", ("Key Accounts", "North Field")),
        ("Nils", "Nørgaard", _REP, SALES_NORTH, "Max Manager", ("North Field",)),
        ("Käthe", "Weiß", _REP, SALES_NORTH, "Max Manager", ("North Field",)),
        ("Oisín", "Byrne", _REP, SALES_NORTH, "Max Manager", ("Inside Sales",)),
        ("Paweł", "Wójcik", _REP, SALES_NORTH, "Max Manager", ("North Field", "Inside Sales")),
        ("Carmen", "Ibáñez", _MANAGER, SALES_SOUTH, "Sofia Sales", ("Key Accounts",)),
        ("Élodie", "Garnier", _REP, SALES_SOUTH, "Carmen Ibáñez", ("South Field",)),
        ("Işıl", "Öztürk", _REP, SALES_SOUTH, "Carmen Ibáñez", ("South Field",)),
        ("يوسف", "منصور", _REP, SALES_SOUTH, "Carmen Ibáñez", ("South Field",)),
        ("Luca", "Ferrari", _REP, SALES_SOUTH, "Carmen Ibáñez", ("South Field", "Key Accounts")),
        ("さくら", "佐藤", _INSIDE, SALES, "Sofia Sales", ("Inside Sales",)),
        ("静", "陈", _INSIDE, SALES, "Sofia Sales", ("Inside Sales",)),
        ("Sam", "Support", _LEAD, SERVICE, None, ("Experts",)),
        ("Aya", "Agent", _AGENT, SERVICE, "Sam Support", ("First Line",)),
        ("Ben", "Okafor", _AGENT, SERVICE, "Sam Support", ("First Line",)),
        ("Chloé", "Faÿ", _AGENT, SERVICE, "Sam Support", ("First Line",)),
        ("Dmitri", "Ivanov", _EXPERT, SERVICE, "Sam Support", ("Experts",)),
        ("هدى", "الشريف", _EXPERT, SERVICE, "Sam Support", ("Experts", "First Line")),
        ("Ada", "Admin", _ADMIN, CONTOSO, None, ()),
        ("Finn", "Finance", _STAFF, CONTOSO, None, ()),
        ("Vera", "Vorstand", _STAFF, CONTOSO, None, ()),
        ("Portal", "Service", _INTEGRATION, CONTOSO, None, ()),
        ("Gregor", "Gone", _REP, SALES_NORTH, "Max Manager", ()),
    )
)
_LEFT: Final = frozenset({"Gregor Gone"})
"""Those who have left, and whose accounts are disabled."""


def _users_of(*posts: tuple[str, str]) -> tuple[Guid, ...]:
    return tuple(
        stable_id("systemuser", each.name) for each in _USERS if each.post in posts and each.name not in _LEFT
    )


SELLERS: Final = _users_of(_MANAGER, _REP, _INSIDE)
AGENTS: Final = _users_of(_AGENT, _EXPERT)


def write(script: Script) -> None:
    """Write the business units, teams, security roles and users, all from the day of foundation."""
    founded = script.today - dt.timedelta(days=DAYS)
    for name, parent in _UNITS:
        script.create("businessunit", name, {"name": name, "parentbusinessunitid": _unit(parent)}, founded)
    for name, unit in _TEAMS:
        script.create("team", name, {"name": name, "businessunitid": _unit(unit)}, founded)
    for name in _ROLES:
        script.create("role", name, {"name": name, "businessunitid": _unit(CONTOSO)}, founded)
    for number, each in enumerate(_USERS, start=1):
        # A mail address has ASCII letters only.
        account = (
            f"{each.first_name}.{each.last_name}".lower() if each.name.isascii() else f"user{number:02d}"
        )
        _write_user(script, each, f"{account}@contoso.example", founded)


def _write_user(script: Script, each: _User, address: str, founded: dt.datetime) -> None:
    """Write a user with a mail address, teams and a role."""
    title, role = each.post
    values: dict[str, Value] = {
        "firstname": each.first_name,
        "lastname": each.last_name,
        "title": title,
        "domainname": address,
        "internalemailaddress": address,
        "businessunitid": _unit(each.unit),
        "parentsystemuserid": user(stable_id("systemuser", each.manager)) if each.manager else None,
        "isdisabled": each.name in _LEFT,
    }
    id = script.create("systemuser", each.name, values, founded).id
    for team in each.teams:
        pair: dict[str, Value] = {"systemuserid": id, "teamid": stable_id("team", team)}
        script.associate("teammembership", f"{each.name}/{team}", pair)
    assigned: dict[str, Value] = {"systemuserid": id, "roleid": stable_id("role", role)}
    script.associate("systemuserroles", f"{each.name}/{role}", assigned)


def _unit(id: Guid) -> Reference:
    return Reference("businessunit", id)
