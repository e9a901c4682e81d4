"""How often a request waits for PostgreSQL, counted on the way there."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
import requests

from tests.servers import Server, Site

pytestmark = [pytest.mark.processes, pytest.mark.postgresql]

# What a service does meanwhile, such as counting calls, has trips of its own: the quickest of these had none.
GOES = 8


class Relay:
    """A way to PostgreSQL on `port` that counts round trips: how often something is sent after an answer."""

    def __init__(self, listener: socket.socket, target: tuple[str, int]) -> None:
        self.port: int = listener.getsockname()[1]
        self.trips = 0
        self._listener = listener
        self._target = target

    def run(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as server:
            answered = threading.Event()
            answered.set()

            def ask() -> None:
                while sent := client.recv(65536):
                    if answered.is_set():
                        answered.clear()
                        self.trips += 1
                    server.sendall(sent)
                server.shutdown(socket.SHUT_WR)

            asking = threading.Thread(target=ask, daemon=True)
            asking.start()
            while received := server.recv(65536):
                answered.set()
                client.sendall(received)


@pytest.fixture
def relay(site: Site) -> Iterator[Relay]:
    url = urlsplit(site.environment["DATABASE_URL"])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        relay = Relay(listener, (url.hostname or "127.0.0.1", url.port or 5432))
        threading.Thread(target=relay.run, daemon=True).start()
        yield relay
        listener.shutdown(socket.SHUT_RDWR)


def _through(site: Site, relay: Relay) -> Server:
    """One worker with one thread, whose database is at the end of `relay`."""
    url = urlsplit(site.environment["DATABASE_URL"])
    user = url.netloc.rpartition("@")[0]
    there = url._replace(netloc=f"{user}@127.0.0.1:{relay.port}" if user else f"127.0.0.1:{relay.port}")
    return site.start(
        DATABASE_URL=there.geturl(), WORKERS="1", THREADS="1", CALLER_RATE="0", ADDRESS_RATE="0"
    )


def test_reads_lists_and_creates_wait_for_the_database_twice(site: Site, relay: Relay) -> None:
    """The configuration's revision, and the record or the rows."""
    server = _through(site, relay)
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {server.token('rep')}"

    def create() -> requests.Response:
        return session.post(f"{server.url}/api/sales/accounts", json={"name": "Counted"})

    path = create().headers["Location"]

    def read() -> requests.Response:
        return session.get(server.url + path)

    def first_page() -> requests.Response:
        return session.get(f"{server.url}/api/sales/queries/accounts")

    assert {ask.__name__: _trips(ask, relay) for ask in (create, read, first_page)} == {
        "create": 2,
        "read": 2,
        "first_page": 2,
    }


def _trips(ask: Callable[[], requests.Response], relay: Relay) -> int:
    ask()
    counted = []
    for _ in range(GOES):
        before = relay.trips
        assert ask().status_code == 200
        counted.append(relay.trips - before)
    return min(counted)
