"""What is measured, as data: one entry a scenario."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from bench.load import CONNECTIONS
from bench.world import World

WARM_UP = 0.5
LIST = "/api/sales/queries/bench?pageSize=50"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of request.

    `path` may make the n-th request's path, `body` its body. `others` is how other applications are asked for
    the same, where that is another way. `goals` are the least ratios of requests a second, ours
    to an application's. `warm_up` are seconds of load before the first figure.
    """

    key: str
    title: str
    method: str
    path: str | Callable[[int, World], str]
    status: int = 200
    authenticated: bool = False
    body: Callable[[int, World], bytes] | None = None
    connections: int = CONNECTIONS
    warm_up: float = WARM_UP
    goals: Mapping[str, float] = field(default_factory=dict)
    others: Scenario | None = None

    def requests(self, world: World, token: str, *, ours: bool) -> Iterator[bytes]:
        """Requests ready to be sent, without end."""
        if self.others is not None and not ours:
            return self.others.requests(world, token, ours=ours)
        path = self.path
        rest = " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json, */*\r\n"
        if self.authenticated:
            rest += f"Authorization: Bearer {token}\r\n"
        if isinstance(path, str) and self.body is None:
            return itertools.repeat(f"{self.method} {path}{rest}\r\n".encode())
        return (self._request(number, path, rest, world) for number in itertools.count())

    def _request(
        self, number: int, path: str | Callable[[int, World], str], rest: str, world: World
    ) -> bytes:
        place = path if isinstance(path, str) else path(number, world)
        head = f"{self.method} {place}{rest}"
        if self.body is None:
            return f"{head}\r\n".encode()
        body = self.body(number, world)
        return b"%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
            head.encode(),
            len(body),
            body,
        )


def an_account(number: int, world: World) -> str:
    """The path of one account after another, in no order that an index would like."""
    return f"/api/sales/bench/{world.accounts[number * 7919 % len(world.accounts)].id}"


def the_file(number: int, world: World) -> str:
    return f"/api/sales/bench/{world.accounts[0].id}/files/contract"


def a_change(number: int, world: World) -> bytes:
    return orjson.dumps({"phone": f"+44 20 {number:08d}", "revenue": "7654321.0123"})


def new_account(number: int, world: World) -> bytes:
    return orjson.dumps(
        {
            "name": f"Bench {number}",
            "phone": "+44 20 7946 0000",
            "revenue": "1234567.8901",
            "industry": world.industries[number % len(world.industries)].value,
            "primaryContactId": world.contacts[number % len(world.contacts)].id,
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
        others=Scenario("in-memory", "Held in memory", "GET", "/memory/optionsets/priorities?lcid=1033"),
    ),
    Scenario(
        key="read",
        title="Read by id, seven columns",
        method="GET",
        path=an_account,
        authenticated=True,
        goals={"stock": 4, "plain": 0.6, "fastapi": 2},
    ),
    Scenario(
        key="list",
        title="List, 50 of 10,000, counted",
        method="GET",
        path=LIST,
        authenticated=True,
        goals={"stock": 4, "plain": 0.7, "fastapi": 2},
    ),
    # After those that read, so that all have the same 10,000 to read from.
    Scenario(
        key="create",
        title="Create, five inputs",
        method="POST",
        path="/api/sales/accounts",
        authenticated=True,
        body=new_account,
        goals={"stock": 2.5, "plain": 0.6, "fastapi": 1.5},
    ),
    Scenario(
        key="update",
        title="Update, two inputs",
        method="PATCH",
        path=an_account,
        status=204,
        authenticated=True,
        body=a_change,
    ),
    Scenario(
        key="download",
        title="Download of 10 MB; the others keep theirs on disk",
        method="GET",
        path=the_file,
        authenticated=True,
        connections=4,
    ),
)
