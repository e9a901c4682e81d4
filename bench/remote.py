"""Our service before a remote platform: what it adds to a call, and how many callers it serves meanwhile.

The platform is our own CRM server, whose answers are repeated after 50 ms (`replay`) where many call at once.
"""

from __future__ import annotations

import functools
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import requests

from bench import handwritten, ours
from bench.conformance import NotTheSame
from bench.contenders import Contender
from bench.http import send
from bench.load import measure
from bench.race import Entrant, Say, Stable, race
from bench.report import as_json, table
from bench.scenarios import WARM_UP, Scenario, new_account
from bench.servers import Server, cores, granian, portico
from bench.tokens import mint
from bench.world import World

PLATFORM_MILLISECONDS = 50
CALLERS = 64
ADDED = "remote-added"
ADDED_GOAL = 1.0
"""Milliseconds of our own that may come on top of a platform call."""

THREADS_WARM = 3.0
"""Seconds until every thread has its session with the platform."""

_ACCOUNTS = 100
"""Few enough for all their answers to be known soon."""


def an_account(number: int, world: World) -> str:
    return f"/api/sales/bench/{world.accounts[number * 7919 % _ACCOUNTS].id}"


SCENARIOS = (
    Scenario(
        key="remote-read",
        title=f"Read by id, {CALLERS} callers, a platform that takes {PLATFORM_MILLISECONDS} ms",
        method="GET",
        path=an_account,
        authenticated=True,
        connections=CALLERS,
        warm_up=THREADS_WARM,
        goals={"facade": 1},
    ),
    Scenario(
        key="remote-create",
        title=f"Create, {CALLERS} callers, a platform that takes {PLATFORM_MILLISECONDS} ms",
        method="POST",
        path="/api/sales/accounts",
        authenticated=True,
        body=new_account,
        connections=CALLERS,
        warm_up=THREADS_WARM,
        goals={"facade": 1},
    ),
)
KEYS = (*(scenario.key for scenario in SCENARIOS), ADDED)
OURS = Contender("remote_ours", "ours, 10 endpoints", "ours", portico(CALLERS), 10)
FACADE = Contender(
    "facade",
    "DRF facade",
    "facade",
    granian("bench.applications.facade.wsgi:application", threads=CALLERS),
)


@dataclass(frozen=True, slots=True)
class Added:
    """Milliseconds, medians of one caller's calls: the platform alone, through our service, and the rest.

    `processor` is what our process spent a call, `caller` what the one with requests did: their difference is
    what is added, but for the machine's other work.
    """

    direct: float
    through: float
    added: float
    processor: float
    caller: float


def measure_all(stable: Stable, keys: list[str], say: Say, *, rounds: int, seconds: float) -> dict[str, Any]:
    results: dict[str, Any] = {}
    with ExitStack() as stack:
        platform = stack.enter_context(_platform(stable))
        if ADDED in keys:
            entrant = stack.enter_context(_ours(stable, "remote_alone", platform.port))
            say("What our service adds to a call of the platform, one caller")
            added = added_to_a_call(entrant, platform, stable.world, rounds=rounds, seconds=seconds)
            results[ADDED] = asdict(added)
            print(f"\n{_sentence(added)}\n", flush=True)
        chosen = [scenario for scenario in SCENARIOS if scenario.key in keys]
        if chosen:
            slow = stack.enter_context(_slow(stable, platform))
            entrants = [
                stack.enter_context(_ours(stable, OURS.key, slow.port)),
                stack.enter_context(_facade(stable, slow.port)),
            ]
            say(f"The facade agrees with ours on {agree(entrants, stable.world)} accounts")
            for scenario in chosen:
                say(f"{scenario.title}: {rounds} rounds of {seconds:g} s each")
                lines = race(entrants, scenario, stable.world, rounds=rounds, seconds=seconds)
                results[scenario.key] = as_json(scenario, lines)
                print(f"\n{table(scenario, lines)}\n", flush=True)
    return results


def added_to_a_call(
    entrant: Entrant, platform: Server, world: World, *, rounds: int, seconds: float
) -> Added:
    """Rounds of both in turn, so that what else the machine does strikes them alike."""
    path = an_account(1, world)
    rest = f" HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {entrant.token('rep')}\r\n\r\n"
    request = f"GET {path}{rest}".encode()
    through: list[float] = []
    direct: list[float] = []
    spent = by_caller = 0.0
    run = functools.partial(measure, entrant.server.port, lambda: request, status=200, connections=1)
    # The first call reads the platform's metadata.
    send(entrant.server.port, "GET", path, headers={"Authorization": f"Bearer {entrant.token('rep')}"})
    run(seconds=WARM_UP)
    call = _direct(platform, world.accounts[7919 % _ACCOUNTS].id)
    os.sched_setaffinity(0, {cores()[1]})
    for _ in range(rounds):
        before = entrant.server.processor_seconds()
        latencies = run(seconds=seconds).latencies
        spent += entrant.server.processor_seconds() - before
        through += latencies
        until, before = time.perf_counter() + seconds, time.process_time()
        while (began := time.perf_counter()) < until:
            call()
            direct.append(time.perf_counter() - began)
        by_caller += time.process_time() - before
    alone, all_in = (statistics.median(each) * 1000 for each in (direct, through))
    processor, caller = spent / len(through) * 1000, by_caller / len(direct) * 1000
    return Added(alone, all_in, all_in - alone, processor, caller)


def _direct(platform: Server, id: str) -> Callable[[], Any]:
    """The platform call that our service makes for a read, made with requests."""
    url = f"http://127.0.0.1:{platform.port}"
    form = {"grant_type": "client_credentials", "client_id": "portico-demo", "client_secret": "demo"}
    session = requests.Session()
    token = session.post(f"{url}/tenant/oauth2/v2.0/token", data=form, timeout=30).json()["access_token"]
    session.headers.update(
        {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json",
            "OData-Version": "4.0",
            "OData-MaxVersion": "4.0",
            "Prefer": 'odata.include-annotations="OData.Community.Display.V1.FormattedValue,'
            'Microsoft.Dynamics.CRM.lookuplogicalname"',
        }
    )
    columns = "name,telephone1,revenue,industrycode,_primarycontactid_value,createdon"
    address = f"{url}/api/data/v9.2/accounts({id})?$select={columns}"

    def call() -> Any:
        answer = session.get(address, timeout=30)
        answer.raise_for_status()
        return answer.json()

    return call


def agree(entrants: list[Entrant], world: World) -> int:
    """Raises NotTheSame unless all answer the same accounts."""
    for number in range(_ACCOUNTS):
        path = an_account(number, world)
        answers = []
        for entrant in entrants:
            headers = {"Authorization": f"Bearer {entrant.token('rep')}"}
            answer = send(entrant.server.port, "GET", path, headers=headers)
            answers.append((answer.status, {**(answer.body or {}), "revenue": _exact(answer.body)}))
        if any(answer != answers[0] for answer in answers) or answers[0][0] != 200:
            raise NotTheSame(f"{path}: {answers}")
    return _ACCOUNTS


def _exact(body: Any) -> Any:
    """Some send money as a number, some as text."""
    revenue = (body or {}).get("revenue")
    return None if revenue is None else float(revenue)


def _sentence(added: Added) -> str:
    verdict = "✓" if added.added < ADDED_GOAL else "✗"
    return (
        f"One caller, medians: {added.direct:.2f} ms for the platform alone with requests, "
        f"{added.through:.2f} ms through our service: {added.added:.2f} ms added, goal < {ADDED_GOAL:g} "
        f"{verdict}. Of processor time our process spent {added.processor:.2f} ms a call, "
        f"the one with requests {added.caller:.2f} ms."
    )


@contextmanager
def _platform(stable: Stable) -> Iterator[Server]:
    """Our CRM server on a copy of our database, beside the load: what is measured has a core of its own."""
    url = stable.databases.copy("ours", "platform")
    command = [sys.executable, "manage.py", "crmserver", "--port"]
    yield from _running("platform", command, ours.environment(url, stable.folder), stable, cores()[1])


@contextmanager
def _slow(stable: Stable, platform: Server) -> Iterator[Server]:
    command = [sys.executable, "-m", "bench.replay", str(platform.port), str(PLATFORM_MILLISECONDS)]
    yield from _running("slow", command, {}, stable, cores()[1])


@contextmanager
def _ours(stable: Stable, key: str, port: int) -> Iterator[Entrant]:
    url = stable.databases.copy("ours", key)
    ours.configure(url, stable.folder, OURS.endpoints or 0)
    crm = f"http://127.0.0.1:{port}"
    settings = {
        **ours.environment(url, stable.folder),
        "CRM_URL": crm,
        "CRM_TOKEN_URL": f"{crm}/tenant/oauth2/v2.0/token",
        "CRM_CLIENT_ID": "portico-demo",
        "CRM_CLIENT_SECRET": "demo",
        # More is asked for here than an organisation grants. The scene of the portal is the one with limits.
        "CRM_BUDGET": "0,0",
    }
    with _started(OURS, key, settings, stable) as server:
        stored = functools.partial(ours.stored, url, stable.folder)
        yield Entrant(OURS, server, functools.partial(ours.token, server.port), stored)


@contextmanager
def _facade(stable: Stable, port: int) -> Iterator[Entrant]:
    url = stable.databases.copy("others", FACADE.key)
    settings = handwritten.environment(url, stable.world_file)
    settings["BENCH_CRM_URL"] = f"http://127.0.0.1:{port}"
    with _started(FACADE, FACADE.key, settings, stable) as server:
        yield Entrant(
            FACADE,
            server,
            lambda person: mint(handwritten.ACCOUNTS[person]),
            functools.partial(handwritten.stored, url),
        )


@contextmanager
def _started(contender: Contender, key: str, settings: dict[str, str], stable: Stable) -> Iterator[Server]:
    yield from _running(key, contender.command, settings, stable, cores()[0])


def _running(
    key: str, command: list[str], settings: dict[str, str], stable: Stable, core: int
) -> Iterator[Server]:
    server = Server.start(key, command, settings, stable.folder, core)
    try:
        yield server
    finally:
        server.stop()
