"""Whose address counts, with and without proxies in front."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from django.test import RequestFactory
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from runtime.http.addresses import client_address

PEER = "10.0.0.1"


def address(settings: Any, proxies: int, forwarded: str | None = None, peer: str = PEER) -> str:
    settings.PORTICO = {**settings.PORTICO, "TRUSTED_PROXIES": proxies}
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return client_address(RequestFactory().get("/", headers=headers, REMOTE_ADDR=peer))


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, None, PEER),
        (0, "192.0.2.1", PEER),
        (1, "192.0.2.1", "192.0.2.1"),
        (1, "198.51.100.9, 192.0.2.1", "192.0.2.1"),
        (2, "198.51.100.9, 192.0.2.1, 203.0.113.5", "192.0.2.1"),
        (2, "192.0.2.1", PEER),
        (1, None, PEER),
        (1, "", PEER),
        (1, "unknown", PEER),
        (1, "192.0.2.1,", PEER),
        (1, "192.0.2.1:4711", "192.0.2.1"),
        (1, "[2001:db8::1]:4711", "2001:db8::1"),
        (1, "2001:0DB8:0::1", "2001:db8::1"),
        (1, "::ffff:192.0.2.1", "192.0.2.1"),
        (1, "fe80::1%eth0", PEER),
        (1, "192.0.2.1\x00", PEER),
        (1, "192.0.2.300", PEER),
    ],
)
def test_the_address_is_what_the_trusted_proxies_wrote(
    settings: Any, proxies: int, forwarded: str | None, expected: str
) -> None:
    assert address(settings, proxies, forwarded) == expected


@pytest.mark.parametrize("proxies", [0, 1])
@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:c000:201", "192.0.2.1"),
        ("::ffff:0:192.0.2.1", "::ffff:0:192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1%eth0"),
    ],
)
def test_ipv4_at_a_socket_of_ipv6_is_ipv4(settings: Any, proxies: int, peer: str, expected: str) -> None:
    assert address(settings, proxies, peer=peer) == expected


def test_a_unix_socket_is_this_machine(settings: Any) -> None:
    assert address(settings, 0, peer="") == "127.0.0.1"


@examples(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(claimed=st.text(st.characters(exclude_categories=["Cs"]), max_size=50))
def test_what_a_client_claims_changes_nothing_behind_a_proxy(settings: Any, claimed: str) -> None:
    assert address(settings, 1, f"{claimed}, 192.0.2.1") == "192.0.2.1"


@examples(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(forwarded=st.text(max_size=50))
def test_the_answer_is_always_an_address(settings: Any, forwarded: str) -> None:
    ipaddress.ip_address(address(settings, 1, forwarded))
