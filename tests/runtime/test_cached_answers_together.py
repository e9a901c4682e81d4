"""Cached answers in several processes: ended in all, asked for by one, kept in Redis, served while away."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
import requests

from tests.moody import Mood
from tests.servers import ANSWER_SECONDS, Server, Site, copied, until

pytestmark = pytest.mark.processes
ACCOUNTS = "/api/sales/accounts"
KEPT = "/api/sales/queries/kept"
HIT = "Portico; hit; ttl=…"
MOODY = {"PLATFORM": "tests.moody.platform", "CALLER_RATE": "0", "LOGIN_RATE": "0"}

_CACHED = """
from designer.models import Endpoint, Module
query = ('<fetch><entity name="account"><attribute name="name"/><filter>'
         '<condition attribute="name" operator="like" value="Kept%"/></filter></entity></fetch>')
cache = {{"seconds": {seconds}, "stale_seconds": {stale}}}
Endpoint.objects.update_or_create(kind="multi-query", module=Module.objects.get(segment="sales"), name="kept",
                                  defaults={{"settings": {{"query": query, "cache": cache}}}})
read = Endpoint.objects.get(kind="read", entity__segment="accounts")
read.settings = {{**read.settings, "cache": cache}}
read.save()
"""


def cached(site: Site, seconds: int = 600, stale: int = 0) -> None:
    """A cached query for accounts whose name begins with Kept, and the cached read of the demo."""
    site.manage("shell", "-v", "0", "-c", _CACHED.format(seconds=seconds, stale=stale))


@pytest.fixture(scope="module")
def _cached(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with copied(_prepared, tmp_path_factory.mktemp("cached") / "data", "cached") as site:
        cached(site)
        yield site


@pytest.fixture
def site(_cached: Site, tmp_path: Path) -> Iterator[Site]:
    """The demo's installation with what is cached for ten minutes."""
    with copied(_cached, tmp_path / "data", "servers") as own:
        yield own


class Together:
    """Servers on one database, and one of the demo's people."""

    def __init__(self, *servers: Server) -> None:
        self.servers = servers
        self.token = servers[0].token("rep")
        # From here on each of them knows that there is something to cache.
        for server in servers:
            assert server.request("GET", "/optionsets/priorities").status_code == 200

    def get(self, number: int, path: str, **headers: str) -> requests.Response:
        return self._request(number, "GET", path, headers)

    def create(self, number: int, name: str) -> str:
        answer = self._request(number, "POST", ACCOUNTS, {}, {"name": name})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["id"])

    def rename(self, number: int, id: str, name: str) -> None:
        answer = self._request(number, "PATCH", f"{ACCOUNTS}/{id}", {}, {"name": name})
        assert answer.status_code == 204, answer.text

    def _request(
        self, number: int, method: str, path: str, headers: dict[str, str], body: object = None
    ) -> requests.Response:
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        return self.servers[number].request(method, path, json=body, headers=sent)


def status(answer: requests.Response) -> str:
    assert answer.ok, answer.text
    return re.sub(r"ttl=-?\d+", "ttl=…", answer.headers["Cache-Status"])


@contextmanager
def others(work: threading.Thread, *more: threading.Thread) -> Iterator[None]:
    threads = (work, *more)
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("shares", [False, True])
def test_nobody_sees_the_state_before_a_write_that_was_acknowledged(
    site: Site, store: subprocess.Popen[bytes], shares: bool
) -> None:
    settings = {"CALLER_RATE": "0"} | ({"CACHE_URL": _url(store)} if shares else {})
    both = Together(site.start(**settings), site.start(**settings))
    id = both.create(0, "Kept 0")
    acknowledged, began = [0], time.monotonic()
    stale: list[tuple[int, str]] = []
    hits = [0]

    def goes_on() -> bool:
        """For eight seconds, and on a slow machine until there has been enough to see."""
        lasted = time.monotonic() - began
        return lasted < 8 or (lasted < ANSWER_SECONDS and min(acknowledged[0], hits[0]) <= 20)

    def write(number: int) -> None:
        turn = 0
        while goes_on():
            turn += 1
            both.rename((number + turn) % 2, id, f"Kept {turn}")
            acknowledged[0] = turn
            time.sleep(0.03 * (turn % 4))

    def read(number: int) -> None:
        turn = 0
        while goes_on():
            turn += 1
            least = acknowledged[0]
            answer = both.get((number + turn) % 2, KEPT if turn % 3 else f"{ACCOUNTS}/{id}")
            assert answer.status_code == 200, answer.text
            hits[0] += "hit" in answer.headers["Cache-Status"]
            seen = int(re.findall(r"Kept (\d+)", answer.text)[0])
            if seen < least:
                stale.append((least, answer.text))

    readers = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    with others(threading.Thread(target=write, args=(0,)), *readers):
        pass
    assert stale == []
    assert acknowledged[0] > 20
    assert hits[0] > 20


def test_of_many_callers_at_once_one_asks(site: Site) -> None:
    mood = Mood(site.environment["DATA_DIR"])
    both = Together(site.start(**MOODY, THREADS="16"))
    both.create(0, "Kept")
    # So long that all have come by then.
    mood.slow(5)
    asked = mood.asked()
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: both.get(0, KEPT), range(12)))
    assert mood.asked() == asked + 1
    assert len({answer.content for answer in answers}) == 1
    said = sorted({status(answer) for answer in answers})
    assert said[-2:] == ["Portico; fwd=uri-miss; collapsed", "Portico; fwd=uri-miss; stored"]


def test_who_waits_for_an_answer_leaves_threads_for_everything_else(site: Site) -> None:
    mood = Mood(site.environment["DATA_DIR"])
    both = Together(site.start(**MOODY, THREADS="4"))
    both.create(0, "Kept")
    mood.slow(15)
    asked = mood.asked()
    with ThreadPoolExecutor(12) as pool:
        waiting = [pool.submit(both.get, 0, KEPT) for _ in range(12)]
        until(lambda: mood.asked() > asked)
        time.sleep(1)
        assert both.get(0, "/optionsets/priorities").status_code == 200
        # Who had needed a thread of theirs would have waited for their answer, as they still do.
        assert all(one.result().status_code == 503 for one in waiting if one.done())
        assert not all(one.done() for one in waiting)
        answers = [one.result() for one in waiting]
    assert {answer.status_code for answer in answers} <= {200, 503}
    assert all("Retry-After" in answer.headers for answer in answers if answer.status_code == 503)


def test_processes_share_answers_and_ask_once_together(site: Site, store: subprocess.Popen[bytes]) -> None:
    mood = Mood(site.environment["DATA_DIR"])
    settings = {**MOODY, "CACHE_URL": _url(store)}
    both = Together(site.start(**settings), site.start(**settings))
    both.create(0, "Kept")
    mood.slow(1)
    asked = mood.asked()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda number: both.get(number % 2, KEPT), range(4)))
    assert mood.asked() == asked + 1
    assert {answer.text for answer in answers} == {'[{"name":"Kept"}]'}
    late = Together(site.start(**settings))
    assert status(late.get(0, KEPT)) == HIT
    assert mood.asked() == asked + 1


def _url(store: subprocess.Popen[bytes]) -> str:
    port = list(store.args)[-1]  # type: ignore[arg-type]  # it was given as a list
    return f"redis://127.0.0.1:{port!s}/0"


@pytest.mark.parametrize("encrypts", ["1", "0"])
def test_what_redis_holds_is_of_use_under_its_own_key_alone(
    site: Site, store: subprocess.Popen[bytes], encrypts: str
) -> None:
    settings = {**MOODY, "CACHE_URL": _url(store), "CACHE_ENCRYPT": encrypts}
    first = Together(site.start(**settings))
    id = first.create(0, "Kept secret")
    assert status(first.get(0, KEPT)) == "Portico; fwd=uri-miss; stored"
    assert status(first.get(0, f"{ACCOUNTS}/{id}")) == "Portico; fwd=uri-miss; stored"
    client = redis.Redis.from_url(_url(store))
    list_key, read_key = sorted(client.scan_iter("portico:answers:*"), key=lambda key: client.strlen(key))
    kept = {key: client.get(key) for key in (list_key, read_key)}
    assert all(isinstance(content, bytes) for content in kept.values())
    readable = [b"Kept secret" in bytes(content) for content in kept.values()]  # type: ignore[arg-type]
    assert readable == [encrypts == "0"] * 2
    # Either in the other's place, and one bit changed: neither is taken.
    client.set(list_key, kept[read_key])  # type: ignore[arg-type]
    changed = bytearray(kept[read_key])  # type: ignore[arg-type]
    changed[-1] ^= 1
    client.set(read_key, bytes(changed))
    other = Together(site.start(**settings))
    for path, expected in ((KEPT, [{"name": "Kept secret"}]), (f"{ACCOUNTS}/{id}", None)):
        answer = other.get(0, path)
        assert status(answer) == "Portico; fwd=uri-miss; stored"
        assert expected is None or answer.json() == expected
    assert status(Together(site.start(**settings)).get(0, KEPT)) == HIT


def test_answers_past_their_time_are_served_while_the_platform_is_away(site: Site) -> None:
    cached(site, seconds=1, stale=600)
    mood = Mood(site.environment["DATA_DIR"])
    one = Together(site.start(**MOODY))
    one.create(0, "Kept")
    assert one.get(0, KEPT).status_code == 200
    mood.away()
    time.sleep(1.5)
    late = one.get(0, KEPT)
    assert status(late) == "Portico; hit; ttl=…; detail=platform-away"
    assert int(late.headers["Age"]) >= 1
    assert late.json() == [{"name": "Kept"}]
    # What nobody has asked for before cannot be served.
    assert one.get(0, f"{ACCOUNTS}?unknown=1").status_code in (404, 405)
    mood.away(back=True)
    until(lambda: "stored" in status(one.get(0, KEPT)))


def test_an_answer_that_a_write_has_ended_is_not_served_while_the_platform_is_away(site: Site) -> None:
    cached(site, seconds=1, stale=600)
    mood = Mood(site.environment["DATA_DIR"])
    both = Together(site.start(**MOODY), site.start(**MOODY))
    both.create(0, "Kept")
    assert both.get(0, KEPT).status_code == 200
    both.create(1, "Kept too")
    mood.away()
    time.sleep(1.5)
    refused = both.get(0, KEPT)
    assert refused.status_code == 503
    assert refused.json()["code"] == "platform_unavailable"


def test_an_answer_near_its_end_is_refreshed_while_it_is_served(site: Site) -> None:
    cached(site, seconds=30)
    mood = Mood(site.environment["DATA_DIR"])
    one = Together(site.start(**MOODY))
    served = ""
    while served != HIT:
        one.create(0, "Kept")
        # What the platform took the last time says how long before its end an answer is refreshed.
        mood.slow(1.5)
        one.get(0, KEPT)
        kept, asked = time.monotonic(), mood.asked()
        mood.slow(15)
        # The last tenth of its time has begun.
        time.sleep(max(0.0, kept + 27.2 - time.monotonic()))
        served = status(one.get(0, KEPT))
        # A busy machine may have slept past the end: there is another answer then, which has its own.
        assert served == HIT or time.monotonic() > kept + 29, served
    # Who is served does not wait for what is asked meanwhile.
    assert mood.answered() == asked
    until(lambda: mood.answered() == asked + 1)
    assert time.monotonic() > kept + 31
    until(lambda: status(one.get(0, KEPT)) == HIT)
    assert mood.asked() == asked + 1
