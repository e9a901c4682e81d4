"""Pairs of endpoints that differ in nothing but the cache, made inside an installation's own process.

`python -c "… make('https://issuer.example/')"` with Django set up; it prints the accounts' ids as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from crmbox.demo import people
from designer.models import (
    Binding,
    Column,
    Endpoint,
    ExposedEntity,
    Input,
    Issuer,
    Module,
    Role,
    RoleRule,
    UserProperty,
)
from designer.platform import get_platform
from tests.row_rules import ruled
from tests.runtime.issuers import AUDIENCE
from tests.runtime.queries import accounts, where

OWNERS = {"Arles": people.RITA_REP, "Bern": people.MAX_MANAGER}
CITIES = sorted(OWNERS)
MINE = where('attribute="ownerid" operator="eq-userid"')
SHARE = {"cached": {"cache": {"seconds": 600}}, "asked": {}}
EVERYBODY = {"caller_types": ["user", "service"]}


def of_city(value: str) -> str:
    return where(f'attribute="address1_city" operator="eq" value="{value}"')


RULES: dict[str, list[tuple[str, list[str]]]] = {
    "none": [],
    "mine": [(MINE, [])],
    "of a property": [(of_city("@user.Job"), [])],
    "by role": [("", ["sales-manager"]), (of_city("Arles"), ["sales-rep"])],
    "by role and user": [(MINE, ["sales-rep"]), (of_city("Arles"), [])],
    "of a claim": [(of_city("@user.claims.city"), [])],
}
NAME = {"attribute": "name"}
SHAPES: dict[str, list[dict[str, str]]] = {
    "plain": [NAME, {"attribute": "ownerid"}],
    "of the user": [NAME, {"name": "me", "expression": "string(user.id)"}],
    "of the roles": [NAME, {"name": "few", "expression": "'sales-rep' in user.roles"}],
    "of a claim": [NAME, {"name": "place", "expression": "string(user.claims.city)"}],
    "of a property": [NAME, {"name": "job", "expression": "string(user.Job)"}],
    "with labels": [NAME, {"attribute": "industrycode", "name": "industry"}],
}


def query(which: str, rule: str, shape: str) -> str:
    """The path of a list; `which` of the pair says whether it is cached."""
    return f"/api/rule{list(RULES).index(rule)}/queries/{which}{list(SHAPES).index(shape)}"


def read(which: str, rule: str, id: str) -> str:
    return f"/api/{which}{list(RULES).index(rule)}/accounts/{id}"


def make(issuer: str) -> None:
    platform = get_platform()
    for city, owner in OWNERS.items():
        platform.update("systemuser", owner, {"jobtitle": city})
    UserProperty.objects.create(name="Job", kind="field", attribute="jobtitle")
    provider = Issuer.objects.create(
        name="provider", issuer=issuer, audiences=[AUDIENCE], caller_type="service", readable_claims=["city"]
    )
    RoleRule.objects.create(issuer=provider, position=0, claim="roles", as_named=True)
    for number, rule in enumerate(RULES):
        _queries(_module(f"rule{number}", rule).module)
        for which, more in SHARE.items():
            entity = _module(f"{which}{number}", rule)
            settings = {"labels": True, **more}
            row = Endpoint.objects.create(
                kind="read", module=entity.module, entity=entity, settings=settings, **EVERYBODY
            )
            _shaped(row, [*SHAPES["with labels"], *SHAPES["of the user"][1:]])
    _update()
    values: list[dict[str, Any]] = [
        {"name": f"Kept {at}", "address1_city": city} for at, city in enumerate(CITIES * 2)
    ]
    sys.stdout.write(json.dumps([str(platform.create("account", each).id) for each in values]))


def _module(segment: str, rule: str) -> ExposedEntity:
    module = Module.objects.create(segment=segment, title=segment)
    entity: ExposedEntity = ExposedEntity.objects.create(module=module, segment="accounts", entity="account")
    for filter, roles in RULES[rule]:
        ruled(entity, filter, *Role.objects.filter(name__in=roles).values_list("name", flat=True))
    return entity


def _queries(module: Module) -> None:
    conditions = where(
        'attribute="name" operator="like" value="Kept%"',
        'attribute="address1_city" operator="eq" value="@city"',
    )
    fetch = accounts(f'{conditions}<order attribute="name"/>', columns="<all-attributes/>")
    for which, more in SHARE.items():
        for at, (shape, columns) in enumerate(SHAPES.items()):
            settings = {"query": fetch, "labels": shape == "with labels", **more}
            row = Endpoint.objects.create(
                kind="paginated-query", module=module, name=f"{which}{at}", settings=settings, **EVERYBODY
            )
            Input.objects.create(endpoint=row, name="city")
            _shaped(row, columns)


def _shaped(endpoint: Endpoint, columns: list[dict[str, str]]) -> None:
    for at, column in enumerate(columns):
        Column.objects.create(endpoint=endpoint, position=at, **column)


def _update() -> None:
    """`/api/sales/moved/{id}` changes what rules and columns look at, whatever the rules are."""
    module = Module.objects.get(segment="sales")
    entity = ExposedEntity.objects.create(module=module, segment="moved", entity="account")
    row = Endpoint.objects.create(kind="update", module=module, entity=entity)
    for name, attribute, type in (
        ("name", "name", "String"),
        ("city", "address1_city", "String"),
        ("owner", "ownerid", "EntityReference"),
        ("industry", "industrycode", "OptionSet"),
    ):
        Input.objects.create(endpoint=row, name=name, type=type)
        Binding.objects.create(endpoint=row, attribute=attribute, source="input", value=name)
