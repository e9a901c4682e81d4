"""Of two endpoints that differ in nothing but the cache, no process ever answers a caller differently.

Somebody writes through one process, others ask either: after a write that was acknowledged nobody sees the
state before it, and nobody is given what their own call would not have been answered with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.runtime.issuers import Provider
from tests.runtime.twin_endpoints import CITIES, OWNERS, RULES, SHAPES, query, read
from tests.servers import Server, Site

pytestmark = pytest.mark.processes

PEOPLE = ["rep", "manager", "agent"]
CALLERS = [*PEOPLE, "service of Arles", "service of Bern", "service", "rep of a role", "nobody"]
PARAMETERS = [
    *("", "?city=Arles", "?city=Bern", "?CITY=Bern", "?city=", "?city=Arles&city=Bern"),
    *("?pageSize=1", "?pageSize=2&city=Arles", "?city=Arles&pageSize=2"),
    *("?lcid=1033", "?lcid=1031", "?lcid=1025", "?lcid=9999", "?lcid=1031&city=Arles"),
]
HEADERS: list[dict[str, str]] = [
    *({}, {"Accept-Language": "de"}, {"Accept": "text/html"}, {"Cache-Control": "no-cache"}),
    # Not `If-None-Match: *`: a list has a tag where it is cached, and none where it is not.
    *({"Range": "bytes=0-9"}, {"If-None-Match": '"1.a", W/"2"'}),
]
INDUSTRIES = [1, 2]

places = st.sampled_from([0, 1])
# Of the callers and the parameters of an example, by number: few, so that they meet each other's answers.
few = st.integers(0, 2)
asks = st.tuples(st.just("ask"), places, few, st.sampled_from([0, 0, 1]), st.sampled_from(HEADERS))
writes = st.tuples(
    st.just("write"),
    places,
    st.sampled_from(["name", "city", "owner", "industry"]),
    st.sampled_from(CITIES),
    st.integers(0, 3),
)


@dataclass(frozen=True)
class Example:
    """What is asked for again and again: lists of one shape (None: reads of a record) under one row rule."""

    rule: str
    shape: str | None
    callers: list[str]
    parameters: list[str]

    def path(self, which: str, id: str, at: int) -> str:
        place = read(which, self.rule, id) if self.shape is None else query(which, self.rule, self.shape)
        return place + self.parameters[at]


examples = st.builds(
    Example,
    st.sampled_from(sorted(RULES)),
    st.sampled_from([*SHAPES, None]),
    st.lists(st.sampled_from(CALLERS), min_size=3, max_size=3, unique=True),
    st.lists(st.sampled_from(PARAMETERS), min_size=2, max_size=2, unique=True),
)


class Twins:
    """Two servers on one installation, its accounts, and everybody's tokens."""

    def __init__(self, servers: list[Server], provider: Provider, ids: list[str]) -> None:
        self.servers = servers
        self.ids = ids
        self.hits = 0
        tokens = {person: servers[0].token(person) for person in PEOPLE}
        tokens |= {f"service of {city}": provider.token(city=city) for city in CITIES}
        tokens |= {"service": provider.token(), "rep of a role": provider.token(roles=["sales-rep"])}
        self._tokens = {**tokens, "nobody": "not.a.token"}

    def request(
        self, place: int, method: str, path: str, caller: str, body: Any = None, **headers: str
    ) -> requests.Response:
        sent = {"Authorization": f"Bearer {self._tokens[caller]}", **headers}
        return self.servers[place].request(method, path, json=body, headers=sent)

    def ask(self, example: Example, step: tuple[Any, ...]) -> None:
        _, place, caller, at, headers = step
        told = []
        for which in ("cached", "asked"):
            path = example.path(which, self.ids[0], at)
            answer = self.request(place, "GET", path, example.callers[caller], **headers)
            told.append((answer.status_code, _told(answer)))
            self.hits += "; hit" in answer.headers.get("Cache-Status", "")
        assert told[0] == told[1]

    def write(self, step: tuple[Any, ...]) -> None:
        _, place, what, city, at = step
        value = {
            "name": f"Kept in {city}",
            "city": city,
            "owner": {"type": "systemuser", "id": OWNERS[city]},
            "industry": INDUSTRIES[CITIES.index(city)],
        }[what]
        path = f"/api/sales/moved/{self.ids[at]}"
        answer = self.request(place, "PATCH", path, "manager", {what: value})
        assert answer.status_code == 204, answer.text


def _told(answer: requests.Response) -> Any:
    """The answer without what is made anew for each request."""
    if not answer.content:
        return ""
    made_anew = ("cursor", "instance", "requestId")
    return {key: value for key, value in answer.json().items() if key not in made_anew}


@pytest.fixture
def twins(site: Site) -> Iterator[Twins]:
    provider = Provider()
    making = f"from tests.runtime.twin_endpoints import make; make({provider.address!r})"
    try:
        ids = json.loads(site.manage("shell", "-v", "0", "-c", making).splitlines()[-1])
        own = {"CALLER_RATE": "0", "LOGIN_RATE": "0", "ISSUER_PRIVATE_HOSTS": "127.0.0.1"}
        yield Twins([site.start(**own), site.start(**own)], provider, ids)
    finally:
        provider.stop()


def test_no_process_answers_otherwise_than_without_the_cache(twins: Twins) -> None:
    # The steps that fail are told as they are: to look for fewer would take minutes of requests.
    @settings(max_examples=12, phases=[Phase.explicit, Phase.generate])
    @given(examples, st.lists(st.one_of(asks, asks, asks, asks, writes), min_size=10, max_size=20))
    def hold(example: Example, steps: list[tuple[Any, ...]]) -> None:
        for step in steps:
            if step[0] == "write":
                twins.write(step)
            else:
                # The second may be answered with what the first has left.
                twins.ask(example, step)
                twins.ask(example, step)

    hold()
    # Else nothing has been held against anything.
    assert twins.hits > 20
