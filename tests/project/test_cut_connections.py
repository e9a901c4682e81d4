"""Connections that the database has ended meanwhile: whoever asks next is answered as if nothing had been."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
import requests

from tests.dataverse.reaching import credentials
from tests.servers import Site

# SQLite has no connections to cut.
pytestmark = [pytest.mark.processes, pytest.mark.postgresql]

THREADS = 4
AT_ONCE = 2 * THREADS


def test_every_thread_of_the_service_answers_after_its_connection_was_cut(site: Site) -> None:
    server = site.start(THREADS=str(THREADS), CALLER_RATE="0", ADDRESS_RATE="0")
    token = server.token("rep")
    headers = {"Authorization": f"Bearer {token}"}
    body = {"name": "Cut off", "industry": 1}

    def read() -> requests.Response:
        return server.request("GET", "/api/context", headers=headers)

    def create() -> requests.Response:
        keyed = {**headers, "Idempotency-Key": os.urandom(8).hex()}
        return server.request("POST", "/api/sales/accounts", json=body, headers=keyed)

    def log_in() -> requests.Response:
        return server.request("POST", "/api/token", json={"username": "rep", "password": "demo"})

    def open_studio() -> requests.Response:
        return server.request("GET", "/admin/login/")

    def ready() -> requests.Response:
        return server.request("GET", "/health/ready")

    for ask in (read, create, log_in, open_studio, ready):
        expected = _statuses(ask)
        assert len(expected) == 1, expected
        assert min(expected) < 500
        for _ in range(2):
            cut(site)
            assert _statuses(ask) == expected


def test_every_thread_of_the_crm_server_answers_after_its_connection_was_cut(site: Site) -> None:
    server = site.start_crm("--threads", str(THREADS))
    headers = {"Authorization": f"Bearer {credentials(server.url).fetch(20).text}"}

    def read() -> requests.Response:
        return server.request("GET", "/api/data/v9.2/accounts?$top=1", headers=headers)

    def create() -> requests.Response:
        return server.request("POST", "/api/data/v9.2/accounts", json={"name": "Cut"}, headers=headers)

    for ask in (read, create):
        assert max(_statuses(ask)) < 300
        for _ in range(2):
            cut(site)
            assert max(_statuses(ask)) < 300


def cut(site: Site) -> None:
    """End all connections of the site's database, as its administrator would."""
    with psycopg.connect(site.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def _statuses(ask: Callable[[], requests.Response]) -> set[int]:
    """The statuses of so many requests at once that every thread has had some."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = [pool.submit(ask) for _ in range(AT_ONCE)]
        return {answer.result().status_code for answer in answers}
