from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from crmbox.demo.people import RITA_REP
from tests.servers import Site
from tests.webapi.crm import Crm, service


def test_requests_are_counted_for_each_user(site: Site) -> None:
    crm = service(site.start_crm(CRM_SERVER_LIMITS="3,1200,52"))
    left = [crm.send("GET", "WhoAmI").headers["x-ms-ratelimit-burst-remaining-xrm-requests"] for _ in "abc"]
    assert left == ["2", "1", "0"]
    refused = crm.send("GET", "WhoAmI")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "0x80072322")
    assert 0 < int(refused.headers["Retry-After"]) <= 300
    # What is left is told with a refusal, too.
    assert refused.headers["x-ms-ratelimit-burst-remaining-xrm-requests"] == "0"
    assert 0 < float(refused.headers["x-ms-ratelimit-time-remaining-xrm-requests"]) <= 1200
    assert crm.acting_as(MSCRMCallerID=RITA_REP).send("GET", "WhoAmI").status_code == 200


def test_the_time_that_requests_take_is_counted(site: Site) -> None:
    crm = service(site.start_crm(CRM_SERVER_LIMITS="6000,1,52"))
    statuses = set()
    for _ in range(200):
        answer = crm.send("GET", "accounts?$top=2000")
        statuses.add(answer.status_code)
        if answer.status_code == 429:
            assert answer.json()["error"]["code"] == "0x80072321"
            break
    assert statuses == {200, 429}


def test_requests_at_once_are_limited(site: Site) -> None:
    crm = service(site.start_crm(CRM_SERVER_LIMITS="6000,1200,2"))
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: crm.send("GET", "contacts?$top=2000"), range(48)))
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert refused[0].json()["error"]["code"] == "0x80072326"
    assert "Retry-After" in refused[0].headers
    assert any(answer.status_code == 200 for answer in answers)


@pytest.mark.parametrize("limits", ["many", "1,2,0"])
def test_limits_that_are_none_stop_the_start(site: Site, limits: str) -> None:
    code, output = site.run("crmserver", "--port", "1", CRM_SERVER_LIMITS=limits)
    assert code != 0
    assert "6000,1200,52" in output


def test_nothing_is_counted_without_limits(crm: Crm) -> None:
    answer: requests.Response = crm.send("GET", "WhoAmI")
    assert not any(name.startswith("x-ms-ratelimit") for name in answer.headers)
