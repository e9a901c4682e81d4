"""Requests that no client sends by itself, byte by byte, to a server without a proxy in front of it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.servers import Server, Site, copied

pytestmark = pytest.mark.processes

SECONDS = 30
PATH = "/optionsets/priorities"
LEADS = "/api/sales/leads"
HOST = "Host: localhost"
CLOSE = "Connection: close"
JSON = "Content-Type: application/json"
# What would follow on the connection, if a body ended sooner than its sender says.
SMUGGLED = "GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def server(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with copied(_prepared, tmp_path_factory.mktemp("raw") / "data", "raw") as site:
        yield site.start(ADDRESS_RATE="0")


def _ask(server: Server, *lines: str, body: str = "") -> tuple[list[int], bytes]:
    """Send `lines` as the head of a request, and read until the server closes: each status, and all bytes."""
    where = urlsplit(server.url)
    received = b""
    with socket.create_connection((str(where.hostname), where.port or 80), timeout=SECONDS) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n" + body).encode("latin-1"))
        try:
            while piece := connection.recv(65536):
                received += piece
        except ConnectionResetError:
            pass
    starts = [line for line in received.split(b"\r\n") if line.startswith(b"HTTP/1.")]
    return [int(line.split()[1]) for line in starts], received


def _get(path: str = PATH, version: str = "1.1") -> str:
    return f"GET {path} HTTP/{version}"


@pytest.mark.parametrize("path", [PATH, "/health/live", "/api/docs", "/admin/login/", "/"])
@pytest.mark.parametrize(
    "hosts",
    [
        [],
        [HOST, HOST],
        [HOST, "Host: other.example"],
        ["Host: "],
        ["Host: a b"],
        ["Host: a/b"],
        ["Host: a,b"],
    ],
    ids=["none", "twice", "two", "empty", "space", "slash", "comma"],
)
def test_a_request_that_does_not_name_one_host_is_400(server: Server, hosts: list[str], path: str) -> None:
    statuses, received = _ask(server, _get(path), *hosts, CLOSE)
    assert statuses == [400]
    assert b'"code":"bad_host"' in received


def test_http_1_0_needs_no_host(server: Server) -> None:
    assert _ask(server, _get(version="1.0"))[0] == [200]


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1", "[::1]:80", "my_service"])
def test_every_usual_host_is_answered(server: Server, host: str) -> None:
    assert _ask(server, _get(), f"Host: {host}", CLOSE)[0] == [200]


@pytest.mark.parametrize("target", ["http://localhost", "http://other.example", "https://localhost:1"])
def test_an_absolute_address_is_the_same_resource(server: Server, target: str) -> None:
    assert _ask(server, _get(target + PATH), HOST, CLOSE)[0] == [200]
    assert _ask(server, _get(target + "/api/context"), HOST, CLOSE)[0] == [401]


@pytest.mark.parametrize(("line", "status"), [("CONNECT localhost:80", 405), ("OPTIONS *", 404)])
def test_a_target_that_is_no_path_is_refused(server: Server, line: str, status: int) -> None:
    assert _ask(server, f"{line} HTTP/1.1", HOST, CLOSE)[0] == [status]


@pytest.mark.parametrize(
    "upgrade",
    [
        ["Connection: Upgrade, HTTP2-Settings, close", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"],
        ["Connection: Upgrade, close", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="],
    ],
    ids=["h2c", "websocket"],
)
def test_no_other_protocol_is_spoken(server: Server, upgrade: list[str]) -> None:
    statuses, received = _ask(server, _get(), HOST, "Sec-WebSocket-Version: 13", *upgrade)
    assert statuses == [200]
    assert b"101 " not in received


def test_http_2_without_asking_ends_the_connection(server: Server) -> None:
    assert _ask(server, "PRI * HTTP/2.0", body="SM\r\n\r\n")[0] in ([], [400], [505])


@pytest.mark.parametrize(
    "headers",
    [
        [f"X-Long: {'a' * 300_000}"],
        [f"Authorization: Bearer {'a' * 300_000}"],
        [f"X-Many-{number}: {'a' * 3000}" for number in range(100)],
        [f"X-Many-{number}: a" for number in range(3000)],
    ],
    ids=["one", "token", "hundred", "three thousand"],
)
def test_headers_of_300_kb_are_refused(server: Server, headers: list[str]) -> None:
    assert _ask(server, _get(), HOST, *headers, CLOSE)[0] == [431]
    assert _ask(server, _get(), HOST, CLOSE)[0] == [200]


def test_headers_below_the_limit_are_taken(server: Server) -> None:
    assert _ask(server, _get(), HOST, f"X-Long: {'a' * 60_000}", CLOSE)[0] == [200]


@pytest.mark.parametrize(
    ("lengths", "body", "status"),
    [
        (["Content-Length: 6", "Transfer-Encoding: chunked"], "0\r\n\r\n", 411),
        (["Transfer-Encoding: chunked", "Content-Length: 6"], "0\r\n\r\n", 411),
        (["Content-Length: 2", "Content-Length: 40"], "{}", 400),
        (["Content-Length: 2, 40"], "{}", 400),
        (["Content-Length: +2"], "{}", 400),
        (["Content-Length : 2"], "{}", 400),
        (["Content-Length: 2", "Transfer-Encoding: xchunked"], "{}", 400),
        (["Content-Length: 2", "X-A: a", " folded"], "{}", 400),
    ],
    ids=["length and chunks", "chunks and length", "two", "list", "sign", "space", "unknown", "folded"],
)
def test_a_body_of_two_lengths_smuggles_nothing(
    server: Server, lengths: list[str], body: str, status: int
) -> None:
    statuses, _ = _ask(server, f"POST {LEADS} HTTP/1.1", HOST, JSON, *lengths, body=body + SMUGGLED)
    assert statuses == [status]
