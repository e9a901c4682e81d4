"""The demo's CRM, its records as plain Python, and what a FetchXML text gives there."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
from pytest_django import DjangoDbBlocker

from crmbox.demo.people import RITA_REP
from crmbox.platform import EmbeddedPlatform
from crmclient.metadata import AttributeType
from crmclient.query.ast import Column, Query
from crmclient.query.calendar import Calendar
from crmclient.query.fetchxml import parse
from crmclient.query.resolving import Circumstances, prepare

Row: TypeAlias = dict[str, Any]
Fetch: TypeAlias = Callable[..., list[Row]]

NOW = dt.datetime.now(dt.UTC)
_READ = (
    "account", "contact", "lead", "opportunity", "incident",
    "systemuser", "team", "teammembership", "role", "systemuserroles",
)  # fmt: skip


@dataclass(frozen=True)
class Demo:
    """Every record of the demo, as rows of all their attributes."""

    rows: dict[str, list[Row]]

    def __getitem__(self, entity: str) -> list[Row]:
        return self.rows[entity]

    def by_id(self, entity: str) -> dict[str, Row]:
        return {row[f"{entity}id"]: row for row in self.rows[entity]}


@pytest.fixture(scope="session")
def demo(_demo: None, django_db_blocker: DjangoDbBlocker) -> Demo:
    with django_db_blocker.unblock():
        crm = EmbeddedPlatform()
        return Demo({entity: _all(crm, entity) for entity in _READ})


@pytest.fixture
def crm(portico: None) -> EmbeddedPlatform:
    return EmbeddedPlatform()


@pytest.fixture
def fetch(crm: EmbeddedPlatform) -> Fetch:
    """The rows of a FetchXML text, asked by Rita."""

    def rows(text: str, /, *, calendar: Calendar | None = None, **parameters: object) -> list[Row]:
        prepared = prepare(parse(text), crm.attributes, calendar or Calendar())
        circumstances = Circumstances(NOW, parameters, crm.user(RITA_REP), {"city": "Kyiv"})
        return crm.query(prepared.resolve(circumstances)).rows

    return rows


def _all(crm: EmbeddedPlatform, entity: str) -> list[Row]:
    files = {AttributeType.FILE, AttributeType.IMAGE}
    names = [name for name, attribute in crm.attributes(entity).items() if attribute.type not in files]
    return crm.query(Query(entity, tuple(Column(name) for name in names))).rows
