"""`/metrics`: for this machine, and for who has the token."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client

from project.observability.platform_observer import PlatformMetrics


def far(**headers: str) -> int:
    """The status that another machine gets."""
    return Client(REMOTE_ADDR="203.0.113.7").get("/metrics", headers=headers).status_code


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_has_several_addresses(address: str) -> None:
    assert Client(REMOTE_ADDR=address).get("/metrics").status_code == 200


@pytest.fixture
def token(settings: Any) -> str:
    settings.PORTICO = {**django_settings.PORTICO, "METRICS_TOKEN": "let me see"}
    return "let me see"


def test_this_machine_reads_what_was_counted() -> None:
    metrics = PlatformMetrics()
    metrics.attempted("GET", "503", 0.02)
    metrics.retried("503")
    metrics.waited(0.1, admitted=False)
    metrics.circuit(open=True)

    answer = Client().get("/metrics")

    assert answer.status_code == 200
    text = answer.content.decode()
    assert 'portico_platform_attempt_seconds_count{method="GET",outcome="503"}' in text
    assert 'portico_platform_retries_total{reason="503"}' in text
    assert 'portico_platform_wait_seconds_count{admitted="no"}' in text
    assert "portico_platform_circuit_open 1.0" in text


def test_another_machine_needs_the_token(token: str) -> None:
    assert far() == 403
    for wrong in ("", "Bearer ", "Bearer let me", f"Basic {token}", "Bearer é"):
        assert far(Authorization=wrong) == 403
    assert far(Authorization=f"Bearer {token}") == 200


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded"])
def test_who_comes_through_a_proxy_is_not_this_machine(name: str) -> None:
    assert Client().get("/metrics", headers={name: "203.0.113.7"}).status_code == 403


def test_no_token_means_that_none_is_taken() -> None:
    assert far(Authorization="Bearer ") == 403
