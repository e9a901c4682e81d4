"""The load generator: one thread, epoll, keep-alive connections, one request in flight on each."""

from __future__ import annotations

import gc
import re
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

CONNECTIONS = 16
MOST_REQUESTS = 200_000
SILENCE = 30.0
_WITHOUT_BODY = (b" 204 ", b" 304 ")
_LAST_CHUNK = b"\r\n0\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class LoadError(Exception):
    """The server did not answer as it must; what it did stands in the message."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Answers that came within `seconds`, and the seconds that each of them took."""

    seconds: float
    latencies: list[float]


class _Connection:
    __slots__ = ("answer", "missing", "sent_at", "socket")

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SILENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_at = 0.0
        self.answer = b""
        self.missing = -1

    def send(self, request: bytes) -> None:
        self.answer = b""
        self.missing = -1
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def receive(self, expected: bytes) -> bool:
        """Read what has come; true when the answer is whole."""
        data = self.socket.recv(262_144)
        if not data:
            raise LoadError("The server closed a connection.")
        if self.missing >= 0:
            self.missing -= len(data)
            return self.missing <= 0
        self.answer += data
        head = self.answer.find(b"\r\n\r\n")
        if head < 0:
            return False
        if not self.answer.startswith(expected):
            raise LoadError(f"Unexpected answer: {self.answer[:600]!r}")
        if expected.endswith(_WITHOUT_BODY):
            return True
        length = _LENGTH.search(self.answer, 0, head)
        if length is None:
            return self.answer.endswith(_LAST_CHUNK)
        self.missing = head + 4 + int(length[1]) - len(self.answer)
        return self.missing <= 0


def measure(
    port: int,
    next_request: Callable[[], bytes],
    *,
    status: int,
    seconds: float,
    connections: int = CONNECTIONS,
) -> Measurement:
    """Keep `connections` busy for `seconds`, or until MOST_REQUESTS; any other status raises LoadError."""
    expected = f"HTTP/1.1 {status} ".encode()
    poll = select.epoll()
    open_ones: dict[int, _Connection] = {}
    gc.disable()
    try:
        for _ in range(connections):
            connection = _Connection(port)
            open_ones[connection.socket.fileno()] = connection
            poll.register(connection.socket, select.EPOLLIN)
        return _drive(poll, open_ones, next_request, expected, seconds)
    finally:
        gc.enable()
        poll.close()
        for connection in open_ones.values():
            connection.socket.close()


def _drive(
    poll: select.epoll,
    connections: dict[int, _Connection],
    next_request: Callable[[], bytes],
    expected: bytes,
    seconds: float,
) -> Measurement:
    latencies: list[float] = []
    started = time.perf_counter()
    end = started + seconds
    finished = started
    for connection in connections.values():
        connection.send(next_request())
    in_flight = len(connections)
    while in_flight:
        ready = poll.poll(SILENCE)
        if not ready:
            raise LoadError(f"The server was silent for {SILENCE:.0f} s.")
        for descriptor, _ in ready:
            connection = connections[descriptor]
            if not connection.receive(expected):
                continue
            now = time.perf_counter()
            if now <= end:
                latencies.append(now - connection.sent_at)
                finished = now
            if now < end and len(latencies) + in_flight <= MOST_REQUESTS:
                connection.send(next_request())
            else:
                in_flight -= 1
    if not latencies:
        raise LoadError(f"No answer within {seconds} s.")
    return Measurement(finished - started, latencies)
