"""Endpoints that find the demo's accounts by their number, which is an alternate key."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import quote

from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from designer.models import Binding, Endpoint, ExposedEntity, Input
from designer.models import Column as AnsweredColumn
from designer.platform import get_platform

KEY = "accountnumber"
NUMBERS = "/api/sales/accounts/keys/number"


def _exposed() -> ExposedEntity:
    exposed_entity: ExposedEntity = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    return exposed_entity


def upserts(**settings: Any) -> Endpoint:
    """`PUT /api/sales/accounts/keys/number/{value}` of a name, which is needed, and a phone number."""
    made: Endpoint = Endpoint.objects.create(
        kind="upsert", entity=_exposed(), name="number", settings={"key": KEY, **settings}
    )
    for position, (name, attribute, required) in enumerate(
        (("name", "name", True), ("phone", "telephone1", False))
    ):
        Input.objects.create(endpoint=made, name=name, type="String", required=required, position=position)
        Binding.objects.create(endpoint=made, attribute=attribute, source="input", value=name)
    return made


def reads(**settings: Any) -> Endpoint:
    """`GET /api/sales/accounts/keys/number/{value}` of the id and the name."""
    made: Endpoint = Endpoint.objects.create(
        kind="read-by-key", entity=_exposed(), name="number", settings={"key": KEY, **settings}
    )
    for position, (attribute, name) in enumerate((("accountid", "id"), ("name", "name"), (KEY, "number"))):
        AnsweredColumn.objects.create(endpoint=made, attribute=attribute, name=name, position=position)
    return made


def a_number() -> str:
    """One that no account has."""
    return f"K-{uuid.uuid4().hex[:12]}"


def path(number: str) -> str:
    return f"{NUMBERS}/{quote(number, safe='')}"


def found(number: str, *columns: str) -> list[dict[str, Any]]:
    """The accounts with that number, seen from behind."""
    same = Filter((Condition(KEY, Operator.EQ, (number,)),))
    return get_platform().query(Query("account", tuple(map(Column, columns or ("name",))), same)).rows
