"""Rate limits of callers and addresses."""

from __future__ import annotations

import pytest
from django.test import Client
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


LOGIN = {"username": "rep", "password": "demo"}


def test_logins_and_refreshes_are_limited_by_address_together(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "LOGIN_RATE": 2}
    logged_in = anonymous.post("/api/token", LOGIN)
    renewed = anonymous.post("/api/token/refresh", {"refresh": logged_in.json()["refresh"]})
    assert (logged_in.status_code, renewed.status_code) == (200, 200)
    for path in ("/api/token", "/api/token/refresh"):
        refused = anonymous.post(path, LOGIN)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
        assert 1 <= int(refused["Retry-After"]) <= 60


def test_anonymous_calls_of_an_office_leave_logging_in_possible(
    anonymous: Caller, settings: Settings
) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 2, "LOGIN_RATE": 2}
    assert [anonymous.get(OPTIONS).status_code for _ in range(4)] == [200, 200, 429, 429]
    logged_in = anonymous.post("/api/token", LOGIN)
    assert logged_in.status_code == 200
    renewed = anonymous.post("/api/token/refresh", {"refresh": logged_in.json()["refresh"]})
    assert renewed.status_code == 200


def test_logins_leave_anonymous_calls_possible(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 2, "LOGIN_RATE": 1}
    assert [anonymous.post("/api/token", LOGIN).status_code for _ in range(3)] == [200, 429, 429]
    assert [anonymous.get(OPTIONS).status_code for _ in range(2)] == [200, 200]


def test_logins_of_the_studio_are_of_the_same_bucket(portico: None, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "LOGIN_RATE": 2}
    studio, form = Client(), {"username": "admin", "password": "wrong"}
    assert studio.post("/admin/login/", form).status_code == 200
    assert Caller().post("/api/token", LOGIN).status_code == 200
    refused = studio.post("/admin/login/", form)
    assert refused.status_code == 429
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert "Too many logins" in refused.content.decode()
    # Looking at the form is no login.
    assert studio.get("/admin/login/").status_code == 200


def test_zero_switches_a_limit_off(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 0}
    assert {anonymous.get(OPTIONS).status_code for _ in range(80)} == {200}


def test_without_its_shared_store_the_limit_still_holds(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 2, "CACHE_URL": "redis://127.0.0.1:1/0"}
    assert [anonymous.get(OPTIONS).status_code for _ in range(3)] == [200, 200, 429]


def test_an_ipv6_network_is_one_client(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 2, "TRUSTED_PROXIES": 1}
    statuses = [
        anonymous.get(OPTIONS, x_forwarded_for=f"2001:db8::{number}").status_code for number in range(4)
    ]
    assert statuses == [200, 200, 429, 429]
    assert anonymous.get(OPTIONS, x_forwarded_for="2001:db8:0:1::1").status_code == 200


def test_the_document_is_limited_too(anonymous: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 1}
    assert [anonymous.get("/api/openapi.yaml").status_code for _ in range(2)] == [200, 429]
