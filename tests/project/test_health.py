from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.servers import Site


def test_a_living_process_says_so_without_the_database(client: Client) -> None:
    answer = client.get("/health/live")
    assert (answer.status_code, answer.json()) == (200, {"status": "live"})
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.django_db
def test_ready_costs_one_query_once_the_migrations_are_seen(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assert client.get("/health/ready").status_code == 200
    with django_assert_num_queries(1):
        assert client.get("/health/ready").json() == {"status": "ready"}


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
