"""A connection that has been idle for long is not trusted: whatever closed it would lose the next write."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

import pytest

from crmclient.dataverse.http.messages import Request
from crmclient.dataverse.http.pooled_connections import LONGEST_IDLE
from crmclient.dataverse.http.transport import AttemptFailed, Transport
from crmclient.dataverse.options import Options

# Sends one write, and returns the status of its answer.
Write: TypeAlias = Callable[[], int]


class Gateway(ThreadingHTTPServer):
    """Answers writes. From `forget_connections` on it ends those of earlier connections unanswered."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.generation = 0
        self.connections = 0

    def forget_connections(self) -> None:
        self.generation += 1


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Gateway

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1
        self.generation = self.server.generation

    def do_PATCH(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.generation != self.server.generation:
            self.close_connection = True
            return
        self.send_response(204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    server = Gateway()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def write(gateway: Gateway) -> Write:
    url = f"http://127.0.0.1:{gateway.server_port}"
    transport = Transport(Options(url))
    request = Request("PATCH", f"{url}/accounts(1)", body=b"{}")
    return lambda: transport.send(request, time.monotonic() + 60).status


def _wait(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    truly = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: truly() + seconds)


def test_a_write_after_a_long_pause_takes_a_new_connection(
    gateway: Gateway, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert write() == 204
    gateway.forget_connections()
    _wait(monkeypatch, LONGEST_IDLE + 1)

    assert write() == 204
    assert gateway.connections == 2


def test_writes_in_short_succession_share_a_connection(
    gateway: Gateway, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert write() == 204
    _wait(monkeypatch, LONGEST_IDLE / 2)

    assert write() == 204
    assert gateway.connections == 1
    # It was in use just now: only a pause counts, not its age.
    _wait(monkeypatch, LONGEST_IDLE * 0.75)
    assert write() == 204
    assert gateway.connections == 1

    gateway.forget_connections()
    with pytest.raises(AttemptFailed):
        write()
