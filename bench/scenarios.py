"""What is measured, as data: one entry a scenario."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from bench.world import World


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of request.

    `body` makes the n-th request's body. `others_path` is where the hand-written applications serve the same
    thing in another way. `goals` are the least ratios of requests a second, ours to an application's.
    """

    key: str
    title: str
    method: str
    path: str
    status: int = 200
    authenticated: bool = False
    body: Callable[[int, World], bytes] | None = None
    others_path: str | None = None
    goals: Mapping[str, float] = field(default_factory=dict)

    def requests(self, world: World, token: str, *, ours: bool) -> Iterator[bytes]:
        """Requests ready to be sent, without end."""
        path = self.path if ours or self.others_path is None else self.others_path
        head = f"{self.method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n"
        if self.authenticated:
            head += f"Authorization: Bearer {token}\r\n"
        if self.body is None:
            return itertools.repeat(f"{head}\r\n".encode())
        return self._with_bodies(f"{head}Content-Type: application/json\r\nContent-Length: ".encode(), world)

    def _with_bodies(self, head: bytes, world: World) -> Iterator[bytes]:
        assert self.body is not None
        for number in itertools.count():
            body = self.body(number, world)
            yield b"%s%d\r\n\r\n%s" % (head, len(body), body)


def new_account(number: int, world: World) -> bytes:
    return orjson.dumps(
        {
            "name": f"Bench {number}",
            "phone": "+44 20 7946 0000",
            "revenue": "1234567.8901",
            "industry": world.industries[number % len(world.industries)].value,
            "primaryContactId": world.contacts[number % len(world.contacts)],
        }
    )


SCENARIOS = (
    Scenario(
        key="option-set",
        title="Option set; the others read theirs from the database",
        method="GET",
        path="/optionsets/priorities?lcid=1033",
        goals={"stock": 5, "plain": 0.6, "fastapi": 2},
    ),
    Scenario(
        key="option-set-memory",
        title="Option set; the others hold theirs in memory and never look again",
        method="GET",
        path="/optionsets/priorities?lcid=1033",
        others_path="/memory/optionsets/priorities?lcid=1033",
    ),
    Scenario(
        key="create",
        title="Create, five inputs",
        method="POST",
        path="/api/sales/accounts",
        authenticated=True,
        body=new_account,
        goals={"stock": 2.5, "plain": 0.6, "fastapi": 1.5},
    ),
)
