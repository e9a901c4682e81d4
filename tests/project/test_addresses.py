from __future__ import annotations

import socket

import pytest

from project.addresses import CannotListen, address_to_listen_on, is_loopback, url_of
from tests.servers import free_port


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machines_own_addresses_are_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_addresses_that_others_reach_are_not(host: str) -> None:
    assert not is_loopback(host)


def test_a_free_port_can_be_listened_on() -> None:
    assert address_to_listen_on("127.0.0.1", free_port()) == "127.0.0.1"


@pytest.mark.parametrize("shared", [False, True])
def test_a_taken_port_is_refused_with_another_to_try(shared: bool) -> None:
    with socket.socket() as other:
        if shared:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(CannotListen, match=f"Port {port} .* taken .* PORT="):
            address_to_listen_on("127.0.0.1", port)


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(CannotListen, match=r"192\.0\.2\.1 is no address of this machine"):
        address_to_listen_on("192.0.2.1", 8000)


def test_a_name_that_does_not_resolve_is_refused() -> None:
    with pytest.raises(CannotListen, match=r"HOST=nowhere\.invalid"):
        address_to_listen_on("nowhere.invalid", 8000)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:81"),
        ("0.0.0.0", "http://127.0.0.1:81"),
        ("::", "http://[::1]:81"),
        ("localhost", "http://localhost:81"),
    ],
)
def test_the_printed_url_opens_on_this_machine(host: str, url: str) -> None:
    assert url_of(host, 81) == url
