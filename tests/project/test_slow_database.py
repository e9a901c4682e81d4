"""A database that keeps callers waiting: who waits is told so at the deadline, and all else goes on."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
import requests

from project.health import PATIENCE
from tests.servers import Server, Site, until_not

pytestmark = pytest.mark.processes

THREADS = 4
INDUSTRIES = "/sales/accounts/optionsets/industries"


def test_a_write_that_waits_for_a_lock_is_answered_at_its_deadline(site: Site) -> None:
    server = site.start(REQUEST_DEADLINE="2")
    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    with locked(site):
        answer = create(server, headers)
        assert (answer.status_code, answer.json()["code"]) == (504, "platform_timeout")
        keyed = create(server, {**headers, "Idempotency-Key": "again"})
        assert keyed.status_code in (503, 504)
    assert create(server, headers).status_code == 200
    assert create(server, {**headers, "Idempotency-Key": "again"}).status_code == 200


# On SQLite nobody can keep readers waiting.
@pytest.mark.postgresql
def test_a_read_that_waits_for_a_lock_is_answered_at_its_deadline(site: Site) -> None:
    server = site.start(REQUEST_DEADLINE="2")
    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    assert search(server, headers).status_code == 200
    with locked(site):
        answer = search(server, headers)
        assert (answer.status_code, answer.json()["code"]) == (504, "platform_timeout")
    with locked(site, "designer_revision"):
        answer = search(server, headers)
        assert (answer.status_code, answer.json()["code"]) == (504, "timeout")
    assert search(server, headers).status_code == 200


def test_what_needs_no_records_is_answered_while_the_platform_keeps_everybody_waiting(site: Site) -> None:
    server = site.start(THREADS=str(THREADS), CALLER_RATE="0", ADDRESS_RATE="0")
    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    paths = (INDUSTRIES, "/api/context", "/api/openapi.json", "/health/ready", "/health/live")
    for path in paths:
        assert server.request("GET", path, headers=headers).status_code == 200, path
    with ThreadPoolExecutor(8 * THREADS) as pool, locked(site):
        waiting = [pool.submit(create, server, headers) for _ in range(8 * THREADS)]
        refused(waiting)
        for path in paths:
            assert server.request("GET", path, headers=headers).status_code == 200, path
        # SQLite has one lock for all writes.
        if "DATABASE_URL" in os.environ:
            assert server.token("manager")
        # All of that while as many as may were still waiting.
        assert sum(not answer.done() for answer in waiting) >= THREADS


# On SQLite nobody can keep readers waiting.
@pytest.mark.postgresql
def test_waiting_for_a_thread_counts_towards_the_deadline(site: Site) -> None:
    """Two threads check passwords. What waits behind them is told so when its own time is over."""
    server = site.start(REQUEST_DEADLINE="2")
    assert server.token("rep")
    with ThreadPoolExecutor(10) as pool, locked(site, "auth_user"):
        began = time.monotonic()
        waiting = [pool.submit(log_in, server) for _ in range(10)]
        answers = [answer.result() for answer in waiting]
        # Two after the other, each with its own time, would take ten seconds.
        assert time.monotonic() - began < 8
    assert {answer.status_code for answer in answers} <= {503, 504}
    late = [answer for answer in answers if "too busy" in answer.json()["detail"]]
    assert late
    assert {answer.headers["Retry-After"] for answer in late} == {"1"}
    assert server.token("rep")


@pytest.mark.postgresql
def test_pages_of_the_studio_end_at_the_deadline_and_keep_no_threads(site: Site) -> None:
    server = site.start(REQUEST_DEADLINE="2", THREADS=str(THREADS))
    assert server.request("GET", "/admin/login/").status_code == 200
    with ThreadPoolExecutor(4 * THREADS) as pool, locked(site, "django_session"):
        began = time.monotonic()
        waiting = [pool.submit(open_studio, server) for _ in range(2 * THREADS)]
        answers = [answer.result() for answer in waiting]
        assert time.monotonic() - began < 8
    assert {answer.status_code for answer in answers} == {504}
    assert "did not answer in time" in answers[0].text
    assert open_studio(server).status_code == 200


@pytest.mark.postgresql
def test_health_says_in_time_that_its_own_write_is_kept_waiting(site: Site) -> None:
    server = site.start()
    with locked(site, "portico_claim"):
        # For a moment it says what it knew before.
        answer = until_not(200, lambda: server.request("GET", "/health/ready"))
        assert answer.status_code == 503
        assert answer.elapsed.total_seconds() < PATIENCE + 2
    assert until_not(503, lambda: server.request("GET", "/health/ready")).status_code == 200


def log_in(server: Server) -> requests.Response:
    return server.request("POST", "/api/token", json={"username": "rep", "password": "demo"})


def open_studio(server: Server) -> requests.Response:
    """Open the studio with a session that nobody knows: the answer is the login."""
    return server.request("GET", "/admin/", cookies={"sessionid": "a" * 32})


def refused(waiting: list[Future[requests.Response]]) -> None:
    """Wait until a call was sent away: every place is taken then."""
    while not any(answer.done() for answer in waiting):
        time.sleep(0.01)
    first = next(answer.result() for answer in waiting if answer.done())
    assert (first.status_code, first.json()["code"]) == (503, "platform_unavailable")
    assert first.headers["Retry-After"] == "1"


def create(server: Server, headers: dict[str, str]) -> requests.Response:
    return server.request("POST", "/api/sales/accounts", json={"name": "Waits"}, headers=headers)


def search(server: Server, headers: dict[str, str]) -> requests.Response:
    return server.request("GET", "/api/sales/queries/accounts", headers=headers)


@contextmanager
def locked(site: Site, table: str = "") -> Iterator[None]:
    """Somebody else has a lock: on PostgreSQL of a table, by default that of accounts, on SQLite of all."""
    if "DATABASE_URL" not in site.environment:
        other = sqlite3.connect(site.database, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        yield
        other.close()
        return
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        connection.execute(f'LOCK TABLE "{table or accounts(connection)}" IN ACCESS EXCLUSIVE MODE')
        yield
        connection.rollback()


def accounts(connection: psycopg.Connection[Any]) -> str:
    row = connection.execute(
        "SELECT document::json->>'table' FROM crm_definition WHERE name = 'account' AND kind = 'entity'"
    ).fetchone()
    assert row
    return str(row[0])
