"""Clients that stop in the middle, on a server with the default settings, and nothing in front of it.

However many of them there are, health and an option set answer within two seconds, and all else goes on.
"""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from tests.forked import SLOW_PASSWORDS
from tests.servers import ANSWER_SECONDS, Server, Site, copied

pytestmark = pytest.mark.processes

MANY = 40
# More than the connections that the server program would hold by itself.
VERY_MANY = 1200
MOST_SECONDS = 2.0
QUICK = ["/health/live", "/health/ready", "/optionsets/priorities"]
ACCOUNTS = "/api/sales/accounts"
MEGABYTE = 1024 * 1024
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 4096


@pytest.fixture(scope="module")
def server(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The default instance, but for the rates of anonymous requests and logins, which the tests' own are."""
    with copied(_prepared, tmp_path_factory.mktemp("default") / "data", "default") as site:
        yield site.start(ADDRESS_RATE="0", LOGIN_RATE="0")


@pytest.fixture(scope="module")
def impatient(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits a second for who is too slow."""
    with copied(_prepared, tmp_path_factory.mktemp("impatient") / "data", "impatient") as site:
        yield site.start(ADDRESS_RATE="0", CLIENT_PATIENCE="1")


@pytest.fixture(scope="module")
def lenient(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that is content with a byte a second."""
    with copied(_prepared, tmp_path_factory.mktemp("lenient") / "data", "lenient") as site:
        yield site.start(ADDRESS_RATE="0", CLIENT_PATIENCE="4", CLIENT_RATE="1")


@pytest.fixture(scope="module")
def unhurried(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose requests may wait: a slow machine works on many passwords for longer than 30 seconds."""
    with copied(_prepared, tmp_path_factory.mktemp("unhurried") / "data", "unhurried") as site:
        waiting = {"REQUEST_DEADLINE": str(ANSWER_SECONDS), "WORKER_PATIENCE": "0", SLOW_PASSWORDS: "1"}
        yield site.start(ADDRESS_RATE="0", LOGIN_RATE="0", **waiting)


@contextmanager
def connected(
    server: Server, request: bytes, count: int, *, receive: int = 0
) -> Iterator[list[socket.socket]]:
    """`count` connections that have sent `request`; with `receive` bytes of room for what is answered."""
    target = urlsplit(server.url)
    with ExitStack() as stack:
        opened = []
        for _ in range(count):
            client = stack.enter_context(socket.socket())
            if receive:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
            client.settimeout(60)
            client.connect((str(target.hostname), target.port))
            client.sendall(request)
            opened.append(client)
        yield opened


def head(method: str, path: str, token: str, *lines: str) -> bytes:
    own = [f"{method} {path} HTTP/1.1", "Host: here", f"Authorization: Bearer {token}", *lines]
    return "\r\n".join([*own, "", ""]).encode()


def quick_enough(server: Server) -> bool:
    """Whether health and an option set answer in time, in one of three rounds: a busy machine spoils some."""
    return any(_slowest(server) < MOST_SECONDS for _ in range(3))


def _slowest(server: Server) -> float:
    most = 0.0
    for path in QUICK * 2:
        began = time.monotonic()
        assert server.request("GET", path).status_code == 200
        most = max(most, time.monotonic() - began)
    return most


def create(server: Server, token: str, name: str) -> str:
    headers = {"Authorization": f"Bearer {token}"}
    answer = server.request("POST", ACCOUNTS, json={"name": name}, headers=headers)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def upload(server: Server, token: str, megabytes: int) -> str:
    """The path of a file of that size."""
    path = f"{ACCOUNTS}/{create(server, token, 'Has a file')}/files/contract"
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Disposition": "attachment; filename=a.pdf",
        "Content-Type": "application/pdf",
    }
    answer = server.request(
        "POST", path, data=(PDF * (megabytes + 1))[: megabytes * MEGABYTE], headers=headers
    )
    assert answer.status_code == 200, answer.text
    return path


def end_of(client: socket.socket) -> bytes:
    """All that still comes on a connection that the server ends."""
    received = b""
    try:
        while piece := client.recv(MEGABYTE):
            received += piece
    except (ConnectionResetError, TimeoutError):
        pass
    return received


def test_senders_that_stop_in_a_body_stop_nobody(server: Server) -> None:
    token = server.token("rep")
    json = head("POST", ACCOUNTS, token, "Content-Type: application/json", "Content-Length: 50") + b"{"
    large = (
        head("POST", ACCOUNTS, token, "Content-Type: application/json", f"Content-Length: {MEGABYTE}") + b"{"
    )
    path = f"{ACCOUNTS}/{create(server, token, 'One')}/files/contract"
    named = "Content-Disposition: attachment; filename=a.pdf"
    file = head("POST", path, token, named, f"Content-Length: {20 * MEGABYTE}") + PDF[:10]
    with (
        connected(server, json, MANY),
        connected(server, large, MANY),
        connected(server, file, MANY),
    ):
        assert quick_enough(server)
        create(server, token, "Another")
        assert server.request("GET", "/admin/login/").status_code == 200


def test_a_sender_that_is_too_slow_is_told_and_leaves_nothing(impatient: Server) -> None:
    token = impatient.token("rep")
    path = f"{ACCOUNTS}/{create(impatient, token, 'One')}/files/contract"
    named = "Content-Disposition: attachment; filename=a.pdf"
    for request in (
        head("POST", ACCOUNTS, token, "Content-Type: application/json", "Content-Length: 50") + b"{",
        head("POST", path, token, named, f"Content-Length: {20 * MEGABYTE}") + PDF[:10],
    ):
        with connected(impatient, request, 1) as (client,):
            answer = end_of(client)
        assert answer.startswith(b"HTTP/1.1 408 "), answer
        assert b'"code":"too_slow"' in answer
    assert impatient.request("GET", path, headers={"Authorization": f"Bearer {token}"}).status_code == 404


def test_a_sender_that_drips_is_too_slow(impatient: Server) -> None:
    token = impatient.token("rep")
    request = head("POST", ACCOUNTS, token, "Content-Type: application/json", "Content-Length: 5000")
    with connected(impatient, request, 1) as (client,):
        client.settimeout(0.1)
        answer = b""
        for _ in range(300):
            client.sendall(b" ")
            try:
                answer = client.recv(1000)
                break
            except TimeoutError:
                continue
    assert answer.startswith(b"HTTP/1.1 408 "), answer


def test_connections_of_senders_that_drip_a_large_body_are_ended(impatient: Server) -> None:
    token = impatient.token("rep")
    path = f"{ACCOUNTS}/{create(impatient, token, 'One')}/files/contract"
    named = "Content-Disposition: attachment; filename=a.pdf"
    request = head("POST", path, token, named, f"Content-Length: {20 * MEGABYTE}")
    with connected(impatient, request, MANY) as clients:
        give_up = time.monotonic() + 60
        while any(_is_open(impatient, client) for client in clients):
            assert time.monotonic() < give_up
            for client in clients:
                with suppress(OSError):
                    client.sendall(b" ")
            time.sleep(0.1)


def test_a_slow_sender_that_keeps_the_least_rate_is_served(lenient: Server) -> None:
    token = lenient.token("rep")
    body = b'{"name": "Slow but steady"}'
    request = head("POST", ACCOUNTS, token, "Content-Type: application/json", f"Content-Length: {len(body)}")
    with connected(lenient, request, 1) as (client,):
        for byte in body:
            client.sendall(bytes([byte]))
            time.sleep(0.2)
        assert client.recv(1000).startswith(b"HTTP/1.1 200 ")


def test_readers_that_take_nothing_stop_nobody(server: Server) -> None:
    token = server.token("rep")
    path = upload(server, token, 20)
    with connected(server, head("GET", path, token), MANY, receive=4096):
        assert quick_enough(server)
        answer = server.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        assert len(answer.content) == 20 * MEGABYTE


@pytest.mark.parametrize("path", ["a file", "/api/openapi.json"])
def test_a_reader_that_takes_nothing_is_ended(impatient: Server, path: str) -> None:
    token = impatient.token("rep")
    if path == "a file":
        path = upload(impatient, token, 20)
    bearer = {"Authorization": f"Bearer {token}"}
    give_up = time.monotonic() + 120
    while (answer := impatient.request("GET", path, headers=bearer)).status_code != 200:
        assert time.monotonic() < give_up, answer.text
    whole = len(answer.content)
    with connected(impatient, head("GET", path, token), 1, receive=4096) as (client,):
        give_up = time.monotonic() + 60
        while _is_held(impatient, client):
            assert time.monotonic() < give_up
            time.sleep(0.1)
        client.settimeout(1)
        assert len(end_of(client)) < whole


def test_a_reader_that_pauses_but_keeps_the_least_rate_gets_all(lenient: Server) -> None:
    token = lenient.token("rep")
    path = upload(lenient, token, 5)
    with connected(lenient, head("GET", path, token, "Connection: close"), 1, receive=4096) as (client,):
        received = 0
        began = time.monotonic()
        while piece := client.recv(MEGABYTE // 4):
            received += len(piece)
            if time.monotonic() - began < 5:
                time.sleep(0.02)
    assert received > 5 * MEGABYTE


def test_half_open_headers_stop_nobody(server: Server) -> None:
    with (
        connected(server, b"GET /health/live HTTP/1.1\r\nHost: he", VERY_MANY // 2),
        connected(server, b"", VERY_MANY // 2),
    ):
        assert quick_enough(server)


def test_half_open_headers_are_ended(impatient: Server) -> None:
    with connected(impatient, b"GET /health/live HTTP/1.1\r\nHost: he", 3) as clients:
        for client in clients:
            end_of(client)


def test_an_address_keeps_so_many_connections_and_those_in_use_are_the_last_to_go(site: Site) -> None:
    server = site.start(ADDRESS_CONNECTIONS="10")
    token = server.token("rep")
    used = head("POST", ACCOUNTS, token, "Content-Type: application/json", "Content-Length: 50") + b"{"
    with (
        connected(server, used, 3) as busy,
        connected(server, b"GET /health/live HTTP/1.1\r\nHost: he", 30) as idle,
    ):
        give_up = time.monotonic() + 60
        while sum(_is_open(server, client) for client in idle) > 7:
            assert time.monotonic() < give_up
            time.sleep(0.1)
        assert all(_is_open(server, client) for client in busy)
        assert server.request("GET", "/health/live").status_code == 200


def test_connections_of_a_proxy_are_not_counted(site: Site) -> None:
    server = site.start(ADDRESS_CONNECTIONS="10", TRUSTED_PROXIES="1")
    with connected(server, b"GET /health/live HTTP/1.1\r\nHost: he", 30) as idle:
        time.sleep(3)
        assert all(_is_open(server, client) for client in idle)


def _is_held(server: Server, client: socket.socket) -> bool:
    """Whether the server's machine knows the connection still, be it for bytes that nobody takes."""
    own, other = (f"{port:04X}" for port in (client.getsockname()[1], urlsplit(server.url).port))
    for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
        local, remote = line.split()[1:3]
        if local.endswith(f":{other}") and remote.endswith(f":{own}"):
            return True
    return False


def _is_open(server: Server, client: socket.socket) -> bool:
    """Whether the server's side of the connection is open, without reading anything of what it sent."""
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
    established = 1
    return info[0] == established


def test_refusals_come_before_a_large_body_is_sent(server: Server) -> None:
    """A sender that waits to be told to go on is refused at once, or told to go on."""
    token = server.token("rep")
    path = f"{ACCOUNTS}/{create(server, token, 'One')}/files/contract"
    named = ["Content-Disposition: attachment; filename=a.pdf", "Content-Type: application/pdf"]
    waits = [*named, f"Content-Length: {len(PDF)}", "Expect: 100-continue"]
    with connected(server, head("POST", path, "wrong", *waits), 1) as (client,):
        assert client.recv(1000).startswith(b"HTTP/1.1 401 ")
    with connected(server, head("POST", path, token, *waits), 1) as (client,):
        assert client.recv(1000).startswith(b"HTTP/1.1 100 ")
        client.sendall(PDF)
        assert client.recv(1000).startswith(b"HTTP/1.1 200 ")
    with connected(
        server, head("POST", "/api/nobody/knows", token, f"Content-Length: {50 * MEGABYTE}"), 1
    ) as (client,):
        assert client.recv(1000).startswith(b"HTTP/1.1 404 ")


def test_an_upload_counts_once_against_the_rate(site: Site) -> None:
    server = site.start(CALLER_RATE="4", BODY_LIMIT="1000")
    token = server.token("rep")
    path = upload(server, token, 1)
    headers = {"Authorization": f"Bearer {token}", "Content-Disposition": "attachment; filename=a.pdf"}
    assert server.request("POST", path, data=PDF, headers=headers).status_code == 200
    assert server.request("GET", path, headers=headers).status_code == 200
    assert server.request("GET", path, headers=headers).status_code == 429


@pytest.mark.parametrize("path", ["/api/token", "/api/token/", "/api/%74oken", "/admin/login/"])
def test_many_who_log_in_at_once_hold_up_nobody_else(unhurried: Server, path: str) -> None:
    session = requests.Session()
    session.get(f"{unhurried.url}/admin/login/", timeout=60)
    form = {
        "username": "designer" if "admin" in path else "rep",
        "password": "demo",
        "csrfmiddlewaretoken": session.cookies["csrftoken"],
    }
    if "admin" not in path:
        del form["csrfmiddlewaretoken"]
    cookies = {"csrftoken": session.cookies["csrftoken"]}

    def log_in(_: int) -> int:
        answer = unhurried.request("POST", path, data=form, cookies=cookies, allow_redirects=False)
        return answer.status_code

    with ThreadPoolExecutor(MANY) as people:
        logins = [people.submit(log_in, number) for number in range(MANY)]
        next(as_completed(logins))
        for quick in QUICK:
            assert unhurried.request("GET", quick).status_code == 200
        # All of that while most were still waiting for their turn.
        still_waiting = sum(not login.done() for login in logins)
        statuses = {login.result() for login in logins}

    assert statuses == {302 if "admin" in path else 200}
    assert still_waiting > MANY // 2


def test_requests_of_one_connection_are_answered_in_turn(server: Server) -> None:
    token = server.token("rep")
    body = b'{"name": "In turn"}'
    create_one = (
        head("POST", ACCOUNTS, token, "Content-Type: application/json", f"Content-Length: {len(body)}") + body
    )
    last = head("GET", "/health/live", token, "Connection: close")
    with connected(server, (create_one + head("GET", "/nowhere", token)) * 5 + last, 1) as (client,):
        answers = end_of(client)
    statuses = [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"404"] * 5 + [b"200"]


CHUNKED = (
    b"POST /api/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
)


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (b"GET /health/live HTTP/1.1\r\n\r\n", 400),
        (b"GET /optionsets/priorities HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET /admin/login/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET /health/live HTTP/1.0\r\n\r\n", 200),
        (b"GET /a%ffb HTTP/1.1\r\nHost: a\r\n\r\n", 404),
        (b"GET /health/live HTTP/1.1\r\nHost: a\r\nX-Long: " + b"x" * 700_000 + b"\r\n\r\n", 431),
        (CHUNKED, 411),
    ],
)
def test_odd_requests_get_an_answer(server: Server, lines: bytes, status: int) -> None:
    with connected(server, lines, 1) as (client,):
        answer = http.client.HTTPResponse(client)
        answer.begin()
        assert answer.status == status


def test_http_2_is_left_to_a_proxy(server: Server) -> None:
    with connected(server, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 1) as (client,):
        answer = end_of(client)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")


def test_a_body_that_finds_no_room_is_read_to_its_end_so_that_its_sender_sees_the_answer(
    site: Site, full: Path
) -> None:
    server = site.start(UPLOAD_FOLDER=str(full))
    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    rows = server.request("GET", "/api/sales/queries/accounts?pageSize=1", headers=headers).json()["data"]
    sent = {
        **headers,
        "Content-Type": "application/pdf",
        "Content-Disposition": "attachment; filename=contract.pdf",
    }
    path = f"{ACCOUNTS}/{rows[0]['id']}/files/contract"
    for _ in range(5):
        answer = server.request("POST", path, headers=sent, data=PDF * 9)
        assert (answer.status_code, answer.json()["code"]) == (507, "insufficient_storage")
    assert list(full.iterdir()) == []
