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

# Offsets in bytes in Linux's struct tcp_info, which only grows at its end: tcpi_unacked, tcpi_last_data_recv,
# tcpi_bytes_acked and tcpi_notsent_bytes; and how many bytes of the struct are needed.
_UNACKNOWLEDGED, _SINCE_DATA, _ACKNOWLEDGED, _NOT_SENT, _SIZE = 24, 52, 120, 144, 148
# A struct linger: on, for 0 seconds.
_NO_LINGERING = struct.pack("ii", 1, 0)


class Connection(NamedTuple):
    """A connection of a client, (address, port).

    `silent` is the time without data from the client, in milliseconds; `taken` is the number of bytes that
    the client has received. With `has_more`, the client has not received all that was sent.
    """

    client: tuple[str, str]
    descriptor: int
    silent: int
    taken: int
    has_more: bool


@dataclass(slots=True)
class _Reader:
    """What a client had read (`taken`, in bytes) at `since`, when it was last judged."""

    since: float
    taken: int


class ConnectionWatch:
    """Ends connections whose client reads more slowly than `limits`, and those of an address that has more
    than `most` (0: no limit).

    `busy` are the clients whose requests are being answered. They are ended last.
    """

    def __init__(self, port: int, limits: Limits, most: int) -> None:
        self._port = port
        self._limits = limits
        self._most = most
        self._readers: dict[tuple[str, str], _Reader] = {}

    def start(self, busy: Collection[tuple[str, str]]) -> None:
        """Watch the connections on a thread of its own. `busy` is looked at again each time. Only on
        Linux.
        """
        if sys.platform == "linux":
            threading.Thread(target=self._watch_repeatedly, args=[busy], name="watch", daemon=True).start()

    def end(self, client: tuple[str, str]) -> None:
        """Shut the client's connection down, if it is still there."""
        if sys.platform == "linux":
            for connection in connections(self._port):
                if connection.client == client:
                    _shut(connection, self._port)

    def _watch_repeatedly(self, busy: Collection[tuple[str, str]]) -> None:
        """Look at the connections every second, as long as the process lives."""
        while True:
            time.sleep(1)
            self.look(list(connections(self._port)), busy)

    def look(self, open_connections: list[Connection], busy: Collection[tuple[str, str]]) -> None:
        """Shut down the connections that go against a limit now. Called about once a second."""
        for connection in (*self._slow(open_connections), *self._too_many(open_connections, busy)):
            _shut(connection, self._port)

    def _slow(self, open_connections: list[Connection]) -> Iterator[Connection]:
        """Yield the connections whose client has read less than `limits.least` bytes within `limits.patience`
        seconds, although there was more to read.
        """
        now = time.monotonic()
        # A client with nothing left to read is forgotten: its time begins anew with the next answer.
        readers, self._readers = self._readers, {}
        for connection in open_connections:
            if not connection.has_more:
                continue
            reader = readers.get(connection.client)
            if reader is None:
                reader = _Reader(now, connection.taken)
                self._limit_kernel_wait(connection)
            if now - reader.since >= self._limits.patience:
                if connection.taken - reader.taken < self._limits.least:
                    yield connection
                    continue
                reader = _Reader(now, connection.taken)
            self._readers[connection.client] = reader

    def _limit_kernel_wait(self, connection: Connection) -> None:
        """Limit how long the kernel keeps a connection that the server program has closed already."""
        # The option is in milliseconds. The socket may be closed by now: then nothing is kept.
        with suppress(OSError), _socket_of(connection, self._port) as connection_socket:
            connection_socket.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(self._limits.patience * 1000)
            )

    def _too_many(
        self, open_connections: list[Connection], busy: Collection[tuple[str, str]]
    ) -> Iterator[Connection]:
        """Yield the connections of each address that go beyond the limit: idle ones first, the longest idle
        before others.
        """
        if not self._most or len(open_connections) <= self._most:
            return
        by_address: defaultdict[str, list[Connection]] = defaultdict(list)
        for connection in open_connections:
            by_address[network(unwrapped(connection.client[0]))].append(connection)
        for same_address in by_address.values():
            same_address.sort(key=lambda connection: (connection.client in busy, -connection.silent))
            yield from same_address[: max(0, len(same_address) - self._most)]


def connections(port: int) -> Iterator[Connection]:
    """Yield the connections of this process to `port`."""
    for name in os.listdir("/proc/self/fd"):
        # Between two looks any descriptor may be closed, or be another file.
        with suppress(OSError, ValueError):
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                connection = _connection_of_socket(int(name), port)
                if connection is not None:
                    yield connection


def _connection_of_socket(descriptor: int, port: int) -> Connection | None:
    """Return what the kernel knows of the socket `descriptor`; None if it is not a connection to `port`."""
    with socket.socket(fileno=os.dup(descriptor)) as connection_socket:
        if (
            connection_socket.family not in (socket.AF_INET, socket.AF_INET6)
            or connection_socket.getsockname()[1] != port
        ):
            return None
        address, client_port = connection_socket.getpeername()[:2]
        info = connection_socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE)
    if len(info) < _SIZE:
        return None
    (unacknowledged,) = struct.unpack_from("I", info, _UNACKNOWLEDGED)
    (silent,) = struct.unpack_from("I", info, _SINCE_DATA)
    (taken_bytes,) = struct.unpack_from("Q", info, _ACKNOWLEDGED)
    (not_sent,) = struct.unpack_from("I", info, _NOT_SENT)
    return Connection(
        client=(address, str(client_port)),
        descriptor=descriptor,
        silent=silent,
        taken=taken_bytes,
        has_more=bool(unacknowledged or not_sent),
    )


def _shut(connection: Connection, port: int) -> None:
    """Shut a connection down, unless it has gone already. What the client has not received is dropped."""
    with suppress(OSError), _socket_of(connection, port) as connection_socket:
        # Without this the kernel would keep what nobody takes for minutes more.
        connection_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
        connection_socket.shutdown(socket.SHUT_RDWR)


@contextmanager
def _socket_of(connection: Connection, port: int) -> Iterator[socket.socket]:
    """Yield a socket object for the connection.

    Raises OSError when its descriptor belongs to another connection by now.
    """
    with socket.socket(fileno=os.dup(connection.descriptor)) as connection_socket:
        address, client_port = connection_socket.getpeername()[:2]
        if connection_socket.getsockname()[1] != port or (address, str(client_port)) != connection.client:
            raise ConnectionAbortedError
        yield connection_socket
