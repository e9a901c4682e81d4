"""Records for tests, and short forms of what they ask for."""

from __future__ import annotations

import uuid

from crmclient import Guid, Platform, Reference, Value
from crmclient.query.ast import Column, Condition, Filter, FilterItem, Operator, Query

WOOL = ("100% Wool", "100_Wool", "[Draft] Wool", "Wool", "wööl", "O'Wool")
"""The names of the accounts of the fixture `wool`."""

NOBODY = "00000000-0000-4000-8000-00000000dead"


def unique(text: str) -> str:
    return f"{text} {uuid.uuid4()}"


def account(platform: Platform, **values: Value) -> Guid:
    return platform.create("account", {"name": "Contoso Test", **values}).id


def contact(platform: Platform, **values: Value) -> Reference:
    values = {"firstname": "Ada", "lastname": "Lovelace", **values}
    return Reference("contact", platform.create("contact", values).id)


def read(platform: Platform, entity: str, id: Guid, column: str) -> Value:
    return platform.retrieve(entity, id, [column]).values[column]


def accounts(*conditions: FilterItem, columns: tuple[str, ...] = ("name",), **parts: object) -> Query:
    return Query("account", tuple(map(Column, columns)), Filter(conditions), **parts)  # type: ignore[arg-type]


def named(name: str) -> Condition:
    return Condition("name", Operator.EQ, (name,))


def family(platform: Platform) -> tuple[str, Guid, list[Guid]]:
    """An account's name and id, and the ids of two contacts that belong to it."""
    name = unique("Parent")
    id = account(platform, name=name)
    children = [
        contact(platform, firstname=first, parentcustomerid=Reference("account", id)).id
        for first in ("Ada", "Bea")
    ]
    return name, id, children
