"""Plays the trace against one service: 256 connections in one thread, each request at its time.

A request waits while the one before it on its connection is unanswered, as a caller does; its latency counts
from the moment at which it was due. Answers are read whole.
"""

from __future__ import annotations

import gc
import json
import math
import re
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.portal import world
from bench.portal.trace import RATE, SLOTS, Step, timetable

SILENCE = 40.0
"""Seconds that the last answers are waited for."""

NEVER_SENT = "never_sent"
"""The code of a request whose connection still waited for another answer at the end."""

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CODE = re.compile(rb'"code": ?"(\w+)"')
_CURSOR = re.compile(rb'"cursor": ?"([^"]+)"')
_LAST_CHUNK = b"0\r\n\r\n"
_LATE = b"platform-away"
_CREATED = "P"
_LISTS = "MN"


@dataclass(slots=True)
class Outcome:
    """One request: seconds since the beginning at which it was due, sent and answered; what was answered.

    `status` is 0 where the connection was lost. `asked` is when the platform gave what the answer holds, in
    seconds since the beginning, or None where it says nothing of that. `is_late`: the service said that the
    answer is past its time. `is_wrong`: it shows a state before a write that was acknowledged when the
    request was sent.
    """

    step: Step
    caller: int
    due: float
    sent: float = 0.0
    done: float = 0.0
    status: int = 0
    code: str = ""
    asked: float | None = None
    is_late: bool = False
    is_wrong: bool = False
    revision: int = 0

    @property
    def is_answered(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Played:
    """All outcomes in the order of their answers; `processor` is the part of a core that playing took, and
    `behind` the most seconds by which a request was sent later than it could have been."""

    outcomes: list[Outcome]
    seconds: float
    processor: float
    behind: float


@dataclass(slots=True)
class _Slot:
    connection: socket.socket
    waiting: deque[Outcome] = field(default_factory=deque)
    now: Outcome | None = None
    answer: bytearray = field(default_factory=bytearray)
    missing: int = -1


class Player:
    """Plays one run. `tokens` are the callers'."""

    def __init__(self, port: int, tokens: Sequence[str], *, rate: float = RATE) -> None:
        self._port = port
        self._rate = rate
        self._headers = [f"\r\nAuthorization: Bearer {token}" if token else "" for token in tokens]
        self._cursors: dict[int, str] = {}
        self._revision = 0
        # By caller and case: the revision of the last change that was acknowledged, and when.
        self._acknowledged: dict[tuple[int, int], tuple[int, float]] = {}
        self._poll = select.epoll()
        self._slots: dict[int, _Slot] = {}
        self._outcomes: list[Outcome] = []
        self._behind = 0.0
        self._began = self._epoch = 0.0

    def play(
        self, seconds: float, *, at: float = math.inf, do: Callable[[], object] = lambda: None
    ) -> Played:
        """For so long; after `at` seconds, `do` something, which must be quick."""
        slots = [self._open(_Slot(socket.socket())) for _ in range(SLOTS)]
        times = timetable(self._rate)
        gc.disable()
        used = time.process_time()
        self._began, self._epoch = time.perf_counter(), time.time()
        try:
            due, number, caller, step = next(times)
            while due < seconds:
                now = self._now()
                if now >= at:
                    do()
                    at = math.inf
                while due <= now and due < seconds:
                    slot = slots[number]
                    slot.waiting.append(Outcome(step, caller, due))
                    if slot.now is None:
                        self._behind = max(self._behind, now - due)
                        self._send(slot)
                    due, number, caller, step = next(times)
                self._receive(max(0.0, due - self._now()))
            spent = self._now()
            processor = (time.process_time() - used) / spent
            # What is late now is never sent: the platform's limits are those of the time that is over.
            never_sent = [outcome for slot in slots for outcome in slot.waiting]
            for slot in slots:
                slot.waiting.clear()
            until = spent + SILENCE
            while any(slot.now for slot in slots) and self._now() < until:
                self._receive(1.0)
        finally:
            gc.enable()
            self._poll.close()
            for slot in slots:
                slot.connection.close()
        for outcome in never_sent:
            outcome.code = NEVER_SENT
        self._outcomes += [*never_sent, *(slot.now for slot in slots if slot.now is not None)]
        return Played(self._outcomes, seconds, processor, self._behind)

    def _now(self) -> float:
        return time.perf_counter() - self._began

    def _open(self, slot: _Slot) -> _Slot:
        slot.connection = socket.create_connection(("127.0.0.1", self._port), timeout=SILENCE)
        slot.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._slots[slot.connection.fileno()] = slot
        self._poll.register(slot.connection, select.EPOLLIN)
        return slot

    def _send(self, slot: _Slot) -> None:
        outcome = slot.now = slot.waiting.popleft()
        slot.answer.clear()
        slot.missing = -1
        outcome.sent = self._now()
        try:
            slot.connection.sendall(self._request(outcome))
        except OSError:
            self._lost(slot)

    def _request(self, outcome: Outcome) -> bytes:
        step, caller = outcome.step, outcome.caller
        letter = step.letter
        token = "" if letter in "LAO" else self._headers[caller]
        path = world.path(step, caller, self._cursors.get(caller, ""))
        if letter not in "UP":
            return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*{token}\r\n\r\n".encode()
        self._revision += 1
        outcome.revision = self._revision
        number = world.NEW if letter == _CREATED else step.number
        body = json.dumps({"title": world.case_title(caller, number, self._revision)})
        method = "POST" if letter == _CREATED else "PATCH"
        return (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1{token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        ).encode()

    def _receive(self, timeout: float) -> None:
        for descriptor, _ in self._poll.poll(timeout):
            slot = self._slots[descriptor]
            try:
                data = slot.connection.recv(262_144)
            except OSError:
                data = b""
            if not data:
                self._lost(slot)
            elif slot.now is not None:
                slot.answer += data
                if self._is_whole(slot):
                    self._answered(slot)

    def _is_whole(self, slot: _Slot) -> bool:
        if slot.missing < 0:
            head = slot.answer.find(b"\r\n\r\n")
            if head < 0:
                return False
            length = _LENGTH.search(slot.answer, 0, head + 2)
            if length is not None:
                slot.missing = head + 4 + int(length[1])
            elif slot.answer.startswith(b"HTTP/1.1 204"):
                slot.missing = head + 4
            else:
                return slot.answer.endswith(_LAST_CHUNK)
        return len(slot.answer) >= slot.missing

    def _answered(self, slot: _Slot) -> None:
        outcome, answer = slot.now, slot.answer
        assert outcome is not None
        outcome.done = self._now()
        outcome.status = int(answer[9:12])
        if outcome.is_answered:
            self._judge(outcome, answer)
        elif (code := _CODE.search(answer)) is not None:
            outcome.code = code[1].decode()
        self._next(slot)

    def _judge(self, outcome: Outcome, answer: bytearray) -> None:
        step, caller = outcome.step, outcome.caller
        if outcome.revision:
            number = world.NEW if step.letter == _CREATED else step.number
            self._acknowledged[caller, number] = outcome.revision, outcome.done
            return
        if (stamp := world.STAMPED.search(answer)) is not None:
            outcome.asked = int(stamp[1]) / 1000 - self._epoch
        outcome.is_late = _LATE in answer[:1024]
        if step.letter in "MNR":
            shown = latest_shown(answer, is_first=step.letter != "N")
            outcome.is_wrong = any(self._is_overtaken(outcome, *each) for each in shown.items())
            if step.letter == "M":
                # The latest is on the first page.
                outcome.is_wrong |= world.NEW not in shown and self._is_overtaken(outcome, world.NEW, 0)
                cursor = _CURSOR.search(answer)
                self._cursors[caller] = cursor[1].decode() if cursor is not None else ""

    def _is_overtaken(self, outcome: Outcome, number: int, revision: int) -> bool:
        latest, since = self._acknowledged.get((outcome.caller, number), (0, 0.0))
        return revision < latest and since <= outcome.sent

    def _lost(self, slot: _Slot) -> None:
        descriptor = slot.connection.fileno()
        self._slots.pop(descriptor, None)
        self._poll.unregister(descriptor)
        slot.connection.close()
        outcome = slot.now
        self._open(slot)
        if outcome is not None:
            outcome.done, outcome.code = self._now(), "connection_lost"
            self._next(slot)

    def _next(self, slot: _Slot) -> None:
        assert slot.now is not None
        self._outcomes.append(slot.now)
        slot.now = None
        if slot.waiting:
            self._send(slot)


def latest_shown(answer: bytes | bytearray, *, is_first: bool) -> dict[int, int]:
    """The latest revision that is shown of each case. A caller may have reported several, which have one
    number together: the latest of them stands on the first page, and those on later ones say nothing."""
    shown: dict[int, int] = {}
    for pair in world.REVISED.findall(answer):
        number, revision = map(int, pair)
        if is_first or number != world.NEW:
            shown[number] = max(revision, shown.get(number, 0))
    return shown
