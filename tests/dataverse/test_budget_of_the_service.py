"""Whom the service serves when the platform's budget is short, and what it tells the others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest

from crmbox.demo.people import FIRST_ACCOUNT, MAX_MANAGER
from tests.dataverse.reaching import settings_for
from tests.servers import Server, Site, copied

pytestmark = pytest.mark.processes

ANONYMOUS = "/api/portal/queries/articles"
ACCOUNT = f"/api/sales/accounts/{FIRST_ACCOUNT}"


@pytest.fixture
def crm_site(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with copied(_prepared, tmp_path_factory.mktemp("crm") / "data", "budget_crm") as site_copy:
        yield site_copy


def statuses(server: Server, method: str, path: str, times: int, **options: object) -> Counter[int]:
    return Counter(server.request(method, path, **options).status_code for _ in range(times))


def test_anonymous_callers_who_flood_leave_the_others_their_shares(site: Site, crm_site: Site) -> None:
    crm = crm_site.start_crm(CRM_SERVER_LIMITS="300,1200,52")
    rates = {"ADDRESS_RATE": "0", "CALLER_RATE": "0"}
    server = site.start(**settings_for(crm), **rates, CRM_BUDGET="300,0")
    headers = {"Authorization": f"Bearer {server.token('manager')}"}
    # Now the metadata is known.
    first = server.request("GET", ACCOUNT, headers=headers)
    assert first.status_code == 200, (first.text, server.output())
    assert server.request("GET", ANONYMOUS).status_code == 200

    flood = statuses(server, "GET", ANONYMOUS, 300)
    refused = server.request("GET", ANONYMOUS)

    assert set(flood) == {200, 503}
    assert flood[200] > 100
    assert refused.json()["code"] == "platform_throttled"
    assert 0 < int(refused.headers["Retry-After"]) <= 310
    assert statuses(server, "GET", ACCOUNT, 15, headers=headers) == {200: 15}
    written = statuses(server, "PATCH", ACCOUNT, 5, headers=headers, json={"phone": "1"})
    assert written == {204: 5}
    assert "asks for a pause" not in server.output()


def test_more_clients_are_more_budget(site: Site, crm_site: Site) -> None:
    second = {"client_id": "second", "client_secret": "demo"}
    crm = crm_site.start_crm(
        CRM_SERVER_LIMITS="120,1200,52", CRM_SERVER_CLIENTS=json.dumps([{**second, "user": MAX_MANAGER}])
    )
    rates = {"ADDRESS_RATE": "0", "CALLER_RATE": "0"}
    server = site.start(
        **settings_for(crm),
        **rates,
        CRM_BUDGET="120,0",
        CRM_SHARES="0,0,0,0",
        CRM_CLIENTS=json.dumps([second]),
    )
    assert server.request("GET", ANONYMOUS).status_code == 200

    flood = statuses(server, "GET", ANONYMOUS, 260)

    assert 130 < flood[200] < 240
    assert "asks for a pause" not in server.output()
