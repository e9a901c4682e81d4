"""An edit at 5,000 endpoints: what the request after it costs, and how long others wait meanwhile."""

from __future__ import annotations

import http.client
import json
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench import ours
from bench.race import Say, Stable
from bench.report import aligned
from bench.servers import Server, cores, portico

KEY = "edits"
MANY = 5_000
GOAL = 50.0
"""The most milliseconds that a request may wait."""

THREADS = 4
CALLERS = 4
PAUSE = 0.01
"""Seconds between two requests of a caller: a server that is busy anyway says nothing of an edit."""

_PATH = "/optionsets/priorities"


def measure_all(stable: Stable, say: Say, *, rounds: int, seconds: float) -> dict[str, Any]:
    say(f"Edits at {MANY:,} endpoints: {rounds} rounds")
    url = stable.databases.copy("ours", "edits")
    ours.configure(url, stable.folder, MANY)
    processor: dict[str, list[float]] = json.loads(ours.inside(url, stable.folder, "edits", str(rounds)))
    environment = ours.environment(url, stable.folder)
    server = Server.start("edits", portico(THREADS), environment, stable.folder, cores()[0])
    try:
        _slowest(server.port, seconds)
        waits: dict[str, list[float]] = {"no edit": [], **{what: [] for what in processor}}
        for number in range(rounds):
            for what, times in waits.items():
                with _asking(server.port) as slowest:
                    if what in processor:
                        ours.inside(url, stable.folder, "edit", f"{what}/{number}")
                    time.sleep(seconds)
                times.append(max(slowest))
    finally:
        server.stop()
    results = {
        what: {"processor": _median(processor.get(what, [])), "slowest": _median(times)}
        for what, times in waits.items()
    }
    print(f"\n{_told(results)}\n", flush=True)
    return {"goal": GOAL, "edits": results}


def _slowest(port: int, seconds: float) -> float:
    with _asking(port) as slowest:
        time.sleep(seconds)
    return max(slowest)


@contextmanager
def _asking(port: int) -> Iterator[list[float]]:
    """CALLERS ask again and again; afterwards the milliseconds of each one's slowest request are there."""
    slowest = [0.0] * CALLERS
    is_over = threading.Event()

    def ask(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while not is_over.wait(PAUSE):
            began = time.perf_counter()
            connection.request("GET", _PATH)
            connection.getresponse().read()
            slowest[number] = max(slowest[number], (time.perf_counter() - began) * 1000)
        connection.close()

    threads = [threading.Thread(target=ask, args=[number]) for number in range(CALLERS)]
    for thread in threads:
        thread.start()
    try:
        yield slowest
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def _median(times: list[float]) -> float | None:
    return statistics.median(times) if times else None


def _told(results: dict[str, dict[str, float | None]]) -> str:
    rows = [["", "the next request, ms of processor", "slowest request, ms", "goal"]]
    for what, figures in results.items():
        spent, slowest = figures["processor"], figures["slowest"] or 0.0
        reached = "" if spent is None else "✓" if spent <= GOAL else "✗"
        rows.append([what, "" if spent is None else f"{spent:.1f}", f"{slowest:.1f}", reached])
    lines = [f"An edit at {MANY:,} endpoints: no request waits for more than {GOAL:g} ms", *aligned(rows)]
    return "\n".join(lines)
