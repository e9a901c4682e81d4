"""The portal's scenes: 256 callers of 2,000 before a platform of 6,000 requests in five minutes, 52 at once.

The platform is our CRM server, whose answers are repeated after 50 ms (`bench.replay`), with the limits of
Dataverse. Each contender has one of its own, and a core; the platform and the load share the other.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from bench import handwritten, ours
from bench.conformance import NotTheSame
from bench.contenders import THREADS
from bench.http import send
from bench.machine import Meanwhile
from bench.portal import world
from bench.portal.judging import Figures, figures, refused_though_cached
from bench.portal.play import Played, Player
from bench.portal.telling import away_told, told
from bench.portal.trace import CALLERS, KINDS, SLOTS, Step
from bench.race import Say, Stable
from bench.servers import Server, cores, granian, portico
from bench.tokens import mint

PORTAL, AWAY = "remote-portal", "remote-portal-away"
KEYS = (PORTAL, AWAY)
PLATFORM_MILLISECONDS = 50
REQUESTS_A_SECOND = 20
PLACES = 52
WINDOW, QUICK_WINDOW = 300, 30
FACADE_THREADS = 48
"""Fewer than the requests that the platform takes at once."""

TOKEN_SECONDS = 3_600


@dataclass(frozen=True, slots=True)
class Contender:
    """`is_cached`: reads are answered from a cache for a fifth of the limits' window."""

    key: str
    title: str
    is_ours: bool
    is_cached: bool


CONTENDERS = (
    Contender("portal_facade", "DRF facade", is_ours=False, is_cached=False),
    Contender("portal_facade_cached", "DRF facade, Django's cache", is_ours=False, is_cached=True),
    Contender("portal_ours", "ours", is_ours=True, is_cached=False),
    Contender("portal_ours_cached", "ours, cached answers", is_ours=True, is_cached=True),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """`window` are the seconds of the platform's limits, and of the run; the rate is always the same."""

    window: int

    @property
    def requests(self) -> int:
        return REQUESTS_A_SECOND * self.window

    @property
    def cached(self) -> int:
        """Seconds for which answers are cached."""
        return self.window // 5

    @property
    def away(self) -> int:
        """Seconds for which the platform is away in the middle of a run three times as long."""
        return self.window // 10


def measure_all(
    stable: Stable, keys: list[str], say: Say, *, window: int, contenders: Collection[str] = ()
) -> dict[str, Any]:
    """`contenders` are the keys of those that run the first scene; none: all do."""
    scale = Scale(window)
    say("Filling the portal's platform")
    records = stable.databases.copy("ours", "portal_records")
    ours.inside(records, stable.folder, "portal-records", str(CALLERS))
    results: dict[str, Any] = {}
    if PORTAL in keys:
        figures_by_title: dict[str, Figures] = {}
        others: dict[str, float] = {}
        for contender in CONTENDERS:
            if contenders and contender.key not in contenders:
                continue
            say(f"{contender.title}: {window} s of the portal")
            figures_by_title[contender.title], others[contender.title] = _measured(stable, contender, scale)
        print(f"\n{told(figures_by_title, scale.requests, scale.cached)}\n", flush=True)
        say(", ".join(f"others used {part:.0%} beside {title}" for title, part in others.items()))
        results[PORTAL] = {title: asdict(each) for title, each in figures_by_title.items()} | {
            "others": others
        }
    if AWAY in keys:
        say(f"The platform is away for {scale.away} s")
        results[AWAY] = _away(stable, scale)
    return results


def _measured(stable: Stable, contender: Contender, scale: Scale) -> tuple[Figures, float]:
    with _ready(stable, contender, scale) as (server, platform):
        meanwhile = Meanwhile([server, platform])
        before = server.processor_seconds()
        player = Player(server.port, _tokens(contender))
        _tell(platform, "begin", requests=scale.requests, window=scale.window, places=PLACES)
        played = player.play(scale.window)
        return figures(
            played,
            _tell(platform, "counted"),
            seconds=scale.cached,
            limit=scale.requests,
            processor_seconds=server.processor_seconds() - before,
        ), meanwhile.others()


def _away(stable: Stable, scale: Scale) -> dict[str, Any]:
    contender, seconds = CONTENDERS[-1], 3 * scale.away
    with _ready(stable, contender, scale) as (server, platform):
        player = Player(server.port, _tokens(contender))
        _tell(platform, "begin", requests=scale.requests, window=scale.window, places=PLACES)
        played = player.play(seconds, at=scale.away, do=lambda: _tell(platform, "away", seconds=scale.away))
    return _away_judged(played, scale)


def _away_judged(played: Played, scale: Scale) -> dict[str, Any]:
    begin, end = float(scale.away), float(2 * scale.away)
    failed = refused_though_cached(played, begin, end, scale.cached, 10 * scale.cached)
    text, results = away_told(played, failed, begin, end)
    print(f"\n{text}\n", flush=True)
    return results


def _tokens(contender: Contender) -> list[str]:
    return [
        mint(world.FIRST_ACCOUNT_ID + caller, lifetime=TOKEN_SECONDS)
        if contender.is_ours
        else mint(world.FIRST_ACCOUNT_ID + caller, lifetime=TOKEN_SECONDS, contact=world.contact(caller))
        for caller in range(CALLERS)
    ]


@contextmanager
def _ready(stable: Stable, contender: Contender, scale: Scale) -> Iterator[tuple[Server, Server]]:
    """The service and its platform, which it has asked for its metadata; nothing is cached yet."""
    crm = _platform(stable)
    try:
        slow = Server.start(
            "portal_slow",
            [sys.executable, "-m", "bench.replay", str(crm.port), str(PLATFORM_MILLISECONDS)],
            {},
            stable.folder,
            cores()[1],
        )
        try:
            command, environment = _service(stable, contender, scale, slow.port)
            first = Server.start(contender.key, command, environment, stable.folder, cores()[0])
            try:
                _examine(first, contender)
            finally:
                first.stop()
            server = Server.start(contender.key, command, environment, stable.folder, cores()[0])
            try:
                os.sched_setaffinity(0, {cores()[1]})
                yield server, slow
            finally:
                server.stop()
        finally:
            slow.stop()
    finally:
        crm.stop()


def _platform(stable: Stable) -> Server:
    url = stable.databases.copy("portal_records", "portal_platform")
    command = [sys.executable, "manage.py", "crmserver", "--port"]
    environment = ours.environment(url, stable.folder)
    return Server.start("portal_platform", command, environment, stable.folder, cores()[1])


def _service(
    stable: Stable, contender: Contender, scale: Scale, port: int
) -> tuple[list[str], dict[str, str]]:
    seconds = scale.cached if contender.is_cached else 0
    crm = f"http://127.0.0.1:{port}"
    if not contender.is_ours:
        url = stable.databases.copy("others", contender.key)
        environment = handwritten.environment(url, stable.world_file)
        more = {"BENCH_CRM_URL": crm, "BENCH_CACHE_SECONDS": str(seconds)}
        return granian("bench.applications.facade.wsgi:application", threads=FACADE_THREADS), {
            **environment,
            **more,
        }
    url = stable.databases.copy("ours", contender.key)
    ours.inside(url, stable.folder, "portal-endpoints", str(seconds))
    return portico(THREADS), {
        **ours.environment(url, stable.folder),
        "ADDRESS_CONNECTIONS": str(2 * SLOTS),
        "CRM_URL": crm,
        "CRM_TOKEN_URL": f"{crm}/tenant/oauth2/v2.0/token",
        "CRM_CLIENT_ID": "portico-demo",
        "CRM_CLIENT_SECRET": "demo",
        "CRM_BUDGET": f"{scale.requests},{REQUESTS_A_SECOND * scale.window // 5}",
        "CRM_BUDGET_SECONDS": str(scale.window),
    }


def _examine(server: Server, contender: Contender) -> None:
    """One request of each kind, of the last caller. Raises NotTheSame."""
    caller = CALLERS - 1
    token = _tokens(contender)[caller]
    cursor = ""
    for letter, kind in KINDS.items():
        headers = {"Authorization": f"Bearer {token}"} if kind.is_signed_in else {}
        body, method = None, "GET"
        if kind.is_write:
            method = "POST" if letter == "P" else "PATCH"
            body = json.dumps({"title": world.case_title(caller, 0, 0)}).encode()
            headers["Content-Type"] = "application/json"
        path = world.path(Step(letter), caller, cursor)
        answer = send(server.port, method, path, body=body, headers=headers)
        if answer.status not in (200, 204):
            told = server.last_words()
            raise NotTheSame(f"{contender.title}: {method} {path}: {answer.status} {answer.body}\n{told}")
        if letter == "M":
            cursor = answer.body["cursor"]


def _tell(platform: Server, what: str, **arguments: int) -> dict[str, dict[str, int]]:
    body = json.dumps(arguments).encode()
    answer = send(platform.port, "POST", f"/bench/{what}", body=body)
    counts: dict[str, dict[str, int]] = answer.body
    return counts
