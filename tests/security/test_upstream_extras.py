"""A platform that sends more than it was asked for: 12 of what THREAT_MODEL.md lists."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from crmbox.platform import EmbeddedPlatform
from crmclient import Guid
from crmclient.platform import SERVICE_CALL, Call
from crmclient.query.ast import ALL, Page, Query
from crmclient.values import QueryResult, Record
from designer.platform import get_platform
from runtime.serving import served
from tests.callers import Caller, account

SECRET = "what nobody asked for"
MORE = {"creditlimit_secret": SECRET, "description": SECRET, "telephone3": SECRET}


class TalkativePlatform(EmbeddedPlatform):
    """Adds attributes to every record and row."""

    asked: ClassVar[list[str]] = []

    def retrieve(self, entity: str, id: Guid, columns: Sequence[str], *, call: Call = SERVICE_CALL) -> Record:
        self.asked.append(entity)
        record = super().retrieve(entity, id, columns, call=call)
        return replace(record, values={**MORE, **record.values})

    def query(self, query: Query, page: Page = ALL, *, call: Call = SERVICE_CALL) -> QueryResult:
        self.asked.append(query.entity)
        result = super().query(query, page, call=call)
        return replace(result, rows=[{**MORE, **row} for row in result.rows])


@pytest.fixture
def rita(portico: None, settings: Any) -> Iterator[Caller]:
    caller = account("rep")
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}.{TalkativePlatform.__name__}"}
    get_platform.cache_clear()
    served._served = None
    yield caller
    served._served = None
    get_platform.cache_clear()


@pytest.mark.parametrize("path", ["/api/sales/accounts/{id}", "/api/sales/queries/accounts", "/api/context"])
def test_12_answers_hold_only_what_is_configured(rita: Caller, path: str) -> None:
    TalkativePlatform.asked.clear()
    id = rita.post("/api/sales/accounts", {"name": "Contoso"}).json()["id"]

    answer = rita.get(path.format(id=id))

    assert answer.status_code == 200
    assert TalkativePlatform.asked
    assert SECRET not in json.dumps(answer.json())
