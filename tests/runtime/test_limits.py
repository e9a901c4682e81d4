"""Rate limits of callers and addresses."""

from __future__ import annotations

import pytest
from limits.storage import storage_from_string
from pytest_django import Settings

from runtime.http import limits
from tests.callers import Caller

OPTIONS = "/optionsets/priorities"


@pytest.fixture(autouse=True)
def _fresh_counters(settings: Settings) -> None:
    if url := settings.PORTICO["CACHE_URL"]:
        storage_from_string(url).reset()
    limits._limiter.cache_clear()


def test_an_address_is_limited_without_a_token(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 3}
    statuses = [anonymous.get(OPTIONS).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    refused = anonymous.get(OPTIONS)
    assert refused.json()["code"] == "too_many_requests"
    assert 1 <= int(refused["Retry-After"]) <= 60


def test_a_caller_is_limited_on_whatever_address(rita: Caller, max: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "CALLER_RATE": 2, "ADDRESS_RATE": 1}
    assert [rita.get(OPTIONS).status_code for _ in range(3)] == [200, 200, 429]
    assert max.get(OPTIONS).status_code == 200


@pytest.mark.parametrize(
    "dodge", [{"x_forwarded_for": "10.9.8.7"}, {"forwarded": "for=10.9.8.7"}, {"x_real_ip": "10.9.8.7"}]
)
def test_headers_do_not_dodge_the_limit(anonymous: Caller, settings: Settings, dodge: dict[str, str]) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 1}
    assert anonymous.get(OPTIONS).status_code == 200
    assert anonymous.get(OPTIONS, **dodge).status_code == 429
    assert anonymous.get(OPTIONS + "/", **dodge).status_code == 429


def test_invalid_tokens_count_against_their_address(portico: None, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 2}
    guesses = [Caller(f"a.b.{number}").get(OPTIONS).status_code for number in range(4)]
    assert guesses == [401, 401, 429, 429]


def test_tokens_are_limited_by_address_too(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 1}
    body = {"username": "rep", "password": "demo"}
    assert [anonymous.post("/api/token", body).status_code for _ in range(2)] == [200, 429]


def test_zero_switches_a_limit_off(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 0}
    assert {anonymous.get(OPTIONS).status_code for _ in range(80)} == {200}


def test_without_its_shared_store_the_limit_still_holds(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 2, "CACHE_URL": "redis://127.0.0.1:1/0"}
    assert [anonymous.get(OPTIONS).status_code for _ in range(3)] == [200, 200, 429]


def test_an_ipv6_network_is_one_client(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 2, "TRUSTED_PROXIES": 1}
    found = [anonymous.get(OPTIONS, x_forwarded_for=f"2001:db8::{number}").status_code for number in range(4)]
    assert found == [200, 200, 429, 429]
    assert anonymous.get(OPTIONS, x_forwarded_for="2001:db8:0:1::1").status_code == 200


def test_the_document_is_limited_too(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 1}
    assert [anonymous.get("/api/openapi.yaml").status_code for _ in range(2)] == [200, 429]
