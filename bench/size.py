"""Lists at size: what a page costs with a million accounts, beside what it costs with ten thousand."""

from __future__ import annotations

import http.client
import os
import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from bench import ours
from bench.load import measure
from bench.processes import run_python
from bench.race import Say, Stable
from bench.scenarios import WARM_UP
from bench.servers import Server, ServerError, cores, portico
from bench.tokens import altered
from bench.world import ACCOUNTS, COPIES, account_name, account_phone, copied

KEY = "lists-at-size"
GOAL = 2.0
"""The most that a page may cost with all accounts, in times of what it costs with the first ten thousand."""

SIZES = {"10,000": 1, "1,000,000": COPIES}
THREADS = 4
CONNECTIONS = 4
TOKEN_SECONDS = 7200
"""The walk to the middle of a million takes longer than a token lives, on a machine that does much else."""

PAGE = 50
LISTED = "/api/sales/queries/size"
_NUMBER = ACCOUNTS // 2
_INDEXES = (("account", "telephone1"), ("account", "name", "--contains"))


@dataclass(frozen=True, slots=True)
class Sized:
    """Our service with so many times ten thousand accounts."""

    copies: int
    server: Server
    token: str

    def paths(self) -> Mapping[str, str]:
        """One page of each kind; those that search find as many rows in either size."""
        name, phone = account_name(_NUMBER), account_phone(_NUMBER)
        if self.copies > 1:
            name, phone = copied(name, self.copies - 1), copied(phone, self.copies - 1)
        page = f"pageSize={PAGE}"
        return {
            "First page": f"{LISTED}?{page}",
            "Page in the middle": self._in_the_middle(f"{LISTED}?{page}"),
            "Filter on an index": f"{LISTED}-phone?{page}&phone={quote(phone)}",
            "Contains, one row": f"{LISTED}-piece?{page}&piece={quote(name[5:])}",
            "Contains, every row": f"{LISTED}-piece?{page}&piece=ccoun",
        }

    def _in_the_middle(self, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        for _ in range(ACCOUNTS * self.copies // PAGE // 2):
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            content, link = answer.read(), answer.getheader("Link")
            if link is None:
                raise ServerError(f"No page follows {path}: {answer.status} {content[:300]!r}")
            path = link.partition(">")[0].removeprefix("<")
        connection.close()
        return path


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians of a page: milliseconds at so few connections, and our processor's microseconds."""

    milliseconds: float
    processor: float


def measure_all(stable: Stable, say: Say, *, rounds: int, seconds: float) -> dict[str, Any]:
    with ExitStack() as stack:
        sized = {title: stack.enter_context(_sized(stable, copies, say)) for title, copies in SIZES.items()}
        say("Walking to the middle of each list")
        paths = {title: each.paths() for title, each in sized.items()}
        os.sched_setaffinity(0, {cores()[1]})
        results: dict[str, Any] = {"goal": GOAL, "pages": {}}
        for kind in next(iter(paths.values())):
            costs: dict[str, list[Cost]] = {title: [] for title in sized}
            for _ in range(rounds):
                for title, each in sized.items():
                    costs[title].append(_cost(each, paths[title][kind], seconds))
            results["pages"][kind] = _compared(costs)
    print(f"\n{_table(results['pages'])}\n", flush=True)
    return results


def _cost(sized: Sized, path: str, seconds: float) -> Cost:
    rest = f" HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {sized.token}\r\n\r\n"
    request = f"GET {path}{rest}".encode()

    def run(seconds: float) -> list[float]:
        return measure(
            sized.server.port, lambda: request, status=200, seconds=seconds, connections=CONNECTIONS
        ).latencies

    run(WARM_UP)
    before = sized.server.processor_seconds()
    latencies = run(seconds)
    spent = sized.server.processor_seconds() - before
    return Cost(statistics.median(latencies) * 1000, spent / len(latencies) * 1_000_000)


def _compared(costs: Mapping[str, list[Cost]]) -> dict[str, Any]:
    medians = {
        title: {
            "milliseconds": statistics.median(each.milliseconds for each in rounds),
            "processor": statistics.median(each.processor for each in rounds),
        }
        for title, rounds in costs.items()
    }
    few, many = medians.values()
    return {**medians, "times": many["milliseconds"] / few["milliseconds"]}


def _table(pages: Mapping[str, Any]) -> str:
    lines = [f"Pages of {PAGE}, {CONNECTIONS} connections: ms (CPU µs) with {' and '.join(SIZES)} accounts"]
    for kind, figures in pages.items():
        cells = [f"{figures[t]['milliseconds']:8.2f} ({figures[t]['processor']:,.0f})" for t in SIZES]
        verdict = "✓" if figures["times"] <= GOAL else "✗"
        lines.append(
            f"{kind:22}{''.join(f'{cell:>22}' for cell in cells)}   × {figures['times']:.2f} {verdict}"
        )
    return "\n".join(lines)


@contextmanager
def _sized(stable: Stable, copies: int, say: Say) -> Iterator[Sized]:
    key = f"size_{copies}"
    url = stable.databases.copy("ours", key)
    settings = ours.environment(url, stable.folder)
    say(f"Making {ACCOUNTS * copies:,} accounts and their indexes")
    ours.inside(url, stable.folder, "grow", str(copies))
    for index in _INDEXES:
        run_python(settings, "manage.py", "crmindex", *index)
    server = Server.start(key, portico(THREADS), settings, stable.folder, cores()[0])
    try:
        token = altered(ours.token(server.port, "rep"), exp=int(time.time()) + TOKEN_SECONDS)
        yield Sized(copies, server, token)
    finally:
        server.stop()
