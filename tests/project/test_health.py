from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.signals import request_finished, request_started
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries

from project.application import Application
from project.health import readiness
from tests.read_only import read_only
from tests.servers import Site


def test_a_living_process_says_so_without_the_database(client: Client) -> None:
    answer = client.get("/health/live")
    assert (answer.status_code, answer.json()) == (200, {"status": "live"})
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    """No test sees what the database said to another."""
    readiness.forget()
    yield
    readiness.forget()


@pytest.mark.django_db
def test_ready_costs_a_write_once_in_a_while_and_nothing_in_between(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assert client.get("/health/ready").status_code == 200
    readiness.forget()
    # The write, and the savepoint around it.
    with django_assert_num_queries(3):
        for _ in range(20):
            assert client.get("/health/ready").json() == {"status": "ready"}


@pytest.mark.django_db
def test_a_database_that_takes_no_writes_is_not_ready(client: Client) -> None:
    assert client.get("/health/ready").status_code == 200
    readiness.forget()
    with read_only():
        assert client.get("/health/ready").status_code == 503
    assert client.get("/health/live").status_code == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_a_server_says_that_it_lives_without_a_look_at_the_database(method: str) -> None:
    application = Application()
    told: list[object] = []
    answered: list[str] = []

    def listen(**kwargs: object) -> None:
        told.append(kwargs)

    signals = (request_started, request_finished)
    for signal in signals:
        signal.connect(listen)
    try:
        environ = RequestFactory().generic(method, "/health/live", HTTP_HOST="testserver").environ
        body = b"".join(application(environ, lambda status, headers: answered.append(status)))
    finally:
        for signal in signals:
            signal.disconnect(listen)
    assert answered == ["405 Method Not Allowed" if method == "POST" else "200 OK"]
    assert body == (b'{"status": "live"}' if method == "GET" else b"")
    assert told == []


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_health_is_only_read(client: Client, method: str) -> None:
    assert getattr(client, method)("/health/live").status_code == 405


@pytest.mark.processes
def test_a_server_is_ready_from_the_moment_the_migrations_are_applied(empty_site: Site) -> None:
    server = empty_site.start(until="/health/live")
    before = server.request("GET", "/health/ready")
    assert (before.status_code, before.json()) == (503, {"status": "unavailable"})
    empty_site.manage("migrate")
    assert server.request("GET", "/health/ready").status_code == 200


@pytest.mark.processes
def test_a_server_without_its_database_lives_but_is_not_ready(empty_site: Site) -> None:
    server = empty_site.start(until="/health/live", DATABASE_URL="postgres://nobody@127.0.0.1:9/none")
    answer = server.request("GET", "/health/ready")
    assert (answer.status_code, answer.json()) == (503, {"status": "unavailable"})
    assert "127.0.0.1:9" not in answer.text
