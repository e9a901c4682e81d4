"""The worker's TCP connections as the kernel sees them: who reads nothing, and how many an address has.

The server program bounds neither. So a thread looks once a second at all sockets of this process, and shuts
those down that must go; the server program then finds them closed. It costs requests nothing. Linux only:
elsewhere nothing is watched.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from project.server.pace import Limits
from runtime.http.addresses import network, unwrapped

# Of Linux's struct tcp_info, which only grows at its end.
_UNACKNOWLEDGED, _SINCE_DATA, _ACKNOWLEDGED, _NOT_SENT, _SIZE = 24, 52, 120, 144, 148
_NOW = struct.pack("ii", 1, 0)


class Connection(NamedTuple):
    """`client` is (address, port); `silent` is milliseconds without data from it; `taken` is bytes it has.

    `has_more` says that it has not received all that was sent.
    """

    client: tuple[str, str]
    descriptor: int
    silent: int
    taken: int
    has_more: bool


@dataclass(slots=True)
class _Reader:
    since: float
    taken: int


class Watch:
    """Ends readers slower than `limits`, and what one address has more than `most` connections (0: no limit).

    `busy` are the clients whose requests are being answered: the last to go.
    """

    def __init__(self, port: int, limits: Limits, most: int) -> None:
        self._port = port
        self._limits = limits
        self._most = most
        self._readers: dict[tuple[str, str], _Reader] = {}

    def start(self, busy: Collection[tuple[str, str]]) -> None:
        if sys.platform == "linux":
            threading.Thread(
                target=self._look_again_and_again, args=[busy], name="watch", daemon=True
            ).start()

    def end(self, client: tuple[str, str]) -> None:
        """Shut the client's connection down, if it is still there."""
        if sys.platform == "linux":
            for connection in connections(self._port):
                if connection.client == client:
                    _shut(connection, self._port)

    def _look_again_and_again(self, busy: Collection[tuple[str, str]]) -> None:
        pause = threading.Event()
        while not pause.wait(1):
            self.look(list(connections(self._port)), busy)

    def look(self, found: list[Connection], busy: Collection[tuple[str, str]]) -> None:
        for connection in (*self._slow(found), *self._too_many(found, busy)):
            _shut(connection, self._port)

    def _slow(self, found: list[Connection]) -> Iterator[Connection]:
        now = time.monotonic()
        readers, self._readers = self._readers, {}
        for connection in found:
            if not connection.has_more:
                continue
            reader = readers.get(connection.client)
            if reader is None:
                reader = _Reader(now, connection.taken)
                self._bound_for_good(connection)
            if now - reader.since >= self._limits.patience:
                if connection.taken - reader.taken < self._limits.least:
                    yield connection
                    continue
                reader = _Reader(now, connection.taken)
            self._readers[connection.client] = reader

    def _bound_for_good(self, connection: Connection) -> None:
        """What is in the kernel's hands only, once the server program has closed its side, ends too."""
        with suppress(OSError), _own(connection, self._port) as own:
            own.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(self._limits.patience * 1000))

    def _too_many(self, found: list[Connection], busy: Collection[tuple[str, str]]) -> Iterator[Connection]:
        if not self._most or len(found) <= self._most:
            return
        of_address: defaultdict[str, list[Connection]] = defaultdict(list)
        for connection in found:
            of_address[network(unwrapped(connection.client[0]))].append(connection)
        for own in of_address.values():
            own.sort(key=lambda connection: (connection.client in busy, -connection.silent))
            yield from own[: max(0, len(own) - self._most)]


def connections(port: int) -> Iterator[Connection]:
    """Those of this process that came in at `port`."""
    for name in os.listdir("/proc/self/fd"):
        # Between two looks any descriptor may be closed, or be another file.
        with suppress(OSError, ValueError):
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                connection = _connection(int(name), port)
                if connection is not None:
                    yield connection


def _connection(descriptor: int, port: int) -> Connection | None:
    with socket.socket(fileno=os.dup(descriptor)) as own:
        if own.family not in (socket.AF_INET, socket.AF_INET6) or own.getsockname()[1] != port:
            return None
        address, client_port = own.getpeername()[:2]
        info = own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE)
    if len(info) < _SIZE:
        return None
    (unacknowledged,) = struct.unpack_from("I", info, _UNACKNOWLEDGED)
    (silent,) = struct.unpack_from("I", info, _SINCE_DATA)
    (taken,) = struct.unpack_from("Q", info, _ACKNOWLEDGED)
    (not_sent,) = struct.unpack_from("I", info, _NOT_SENT)
    return Connection(
        (address, str(client_port)), descriptor, silent, taken, bool(unacknowledged or not_sent)
    )


def _shut(connection: Connection, port: int) -> None:
    with suppress(OSError), _own(connection, port) as own:
        # Without this the kernel would keep what nobody takes for minutes more.
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NOW)
        own.shutdown(socket.SHUT_RDWR)


@contextmanager
def _own(connection: Connection, port: int) -> Iterator[socket.socket]:
    """A socket of our own for the connection. Raises OSError when its descriptor is another's by now."""
    with socket.socket(fileno=os.dup(connection.descriptor)) as own:
        address, client_port = own.getpeername()[:2]
        if own.getsockname()[1] != port or (address, str(client_port)) != connection.client:
            raise ConnectionAbortedError
        yield own
