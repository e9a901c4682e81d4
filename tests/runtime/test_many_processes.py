"""Idempotency and rate limits with several processes, one that dies, and a Redis that goes away."""

from __future__ import annotations

import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.dying import LAST_WORDS
from tests.servers import Server, Site, until_not

pytestmark = pytest.mark.processes
ACCOUNTS = "/api/sales/accounts"
OPTIONS = "/optionsets/priorities"


def _post(server: Server, token: str, name: str, key: str) -> requests.Response:
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": key}
    return server.request("POST", ACCOUNTS, json={"name": name}, headers=headers)


def _named(server: Server, token: str, name: str) -> int:
    """How many accounts have that name. Who asks has made them, so that no rule hides one."""
    answer = server.request(
        "GET",
        "/api/sales/queries/accounts",
        params={"name": name},
        headers={"Authorization": f"Bearer {token}"},
    )
    return int(answer.json()["count"])


def test_one_key_sent_to_two_processes_at_once_makes_one_record(site: Site) -> None:
    servers = [site.start(CALLER_RATE="0"), site.start(CALLER_RATE="0")]
    token = servers[0].token("rep")
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda number: _post(servers[number % 2], token, "Only one", "same"), range(16))
        )
    statuses = Counter(answer.status_code for answer in answers)
    assert statuses.keys() <= {200, 409}
    ids = {answer.json()["id"] for answer in answers if answer.status_code == 200}
    assert len(ids) == 1
    assert all(answer.json()["code"] == "in_flight" for answer in answers if answer.status_code == 409)
    fresh = [answer for answer in answers if answer.ok and "Idempotency-Replayed" not in answer.headers]
    assert len(fresh) == 1
    assert _named(servers[0], token, "Only one") == 1


def test_a_process_killed_between_platform_and_answer_does_not_double_the_record(site: Site) -> None:
    patience = {"REQUEST_DEADLINE": "5", "CALLER_RATE": "0"}
    dying = site.start(PLATFORM="tests.dying.platform", **patience)
    healthy = site.start(**patience)
    token = healthy.token("rep")
    with pytest.raises(requests.ConnectionError):
        _post(dying, token, LAST_WORDS, "killed")
    early = _post(healthy, token, LAST_WORDS, "killed")
    assert (early.status_code, early.json()["code"]) == (409, "in_flight")

    answer = until_not(409, lambda: _post(healthy, token, LAST_WORDS, "killed"))
    assert answer.status_code == 200, answer.text
    assert _named(healthy, token, LAST_WORDS) == 1
    again = _post(healthy, token, LAST_WORDS, "killed")
    assert again.json() == answer.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    assert _named(healthy, token, LAST_WORDS) == 1


def _until_refused(servers: list[Server], most: int) -> int:
    """How many requests, sent to the servers in turn, are answered before the first 429."""
    for number in range(most):
        answer = servers[number % len(servers)].request("GET", OPTIONS)
        if answer.status_code == 429:
            assert int(answer.headers["Retry-After"]) >= 1
            return number
        assert answer.status_code == 200
    return most


def test_limits_hold_across_processes_and_go_on_here_when_redis_is_gone(
    site: Site, store: subprocess.Popen[bytes]
) -> None:
    assert isinstance(store.args, list)
    shared = {"CACHE_URL": f"redis://127.0.0.1:{store.args[-1]}/0", "ADDRESS_RATE": "40"}
    servers = [site.start(**shared), site.start(**shared)]
    before = _until_refused(servers, 100)
    # Health checks of the start are not counted; a window may have ended on the way.
    assert 40 <= before < 80
    store.kill()
    store.wait(10)
    assert servers[0].request("GET", OPTIONS).status_code == 200
    alone = _until_refused(servers[:1], 100)
    assert 30 <= alone <= 80
    assert "counted per process" in servers[0].output()


def test_the_first_requests_may_come_at_once(site: Site, store: subprocess.Popen[bytes]) -> None:
    assert isinstance(store.args, list)
    server = site.start(CACHE_URL=f"redis://127.0.0.1:{store.args[-1]}/0")
    with ThreadPoolExecutor(12) as callers:
        answers = list(callers.map(lambda _: server.request("GET", OPTIONS), range(12)))
    assert [answer.status_code for answer in answers] == [200] * 12


def test_a_key_works_without_redis(site: Site, store: subprocess.Popen[bytes]) -> None:
    assert isinstance(store.args, list)
    server = site.start(CACHE_URL=f"redis://127.0.0.1:{store.args[-1]}/0")
    token = server.token("rep")
    store.kill()
    store.wait(10)
    first, second = (_post(server, token, "Kept in the database", "kept") for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()
    assert second.headers["Idempotency-Replayed"] == "true"
