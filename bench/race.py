"""Prepares every contender, proves that all behave alike, and lets them run in turn."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import handwritten, ours
from bench.conformance import Candidate, Stored, examine
from bench.contenders import Contender
from bench.load import measure
from bench.report import Line, Round
from bench.scenarios import Scenario
from bench.servers import Server, cores
from bench.storage import Databases
from bench.tokens import mint
from bench.world import World

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Entrant:
    """A contender whose server runs. `token` makes an access token for a person of the bench's world."""

    contender: Contender
    server: Server
    token: Callable[[str], str]
    stored: Stored


@dataclass(frozen=True, slots=True)
class Stable:
    """The prepared databases: one for each of our sizes, one for each of the others."""

    folder: Path
    databases: Databases
    world: World
    world_file: Path

    @classmethod
    def prepare(cls, folder: Path, databases: Databases, say: Say) -> Stable:
        world_file = folder / "world.json"
        say("Loading the demo into our service")
        ours.fill(databases.create("ours"), folder, world_file)
        say("Filling the others' tables")
        handwritten.seed(databases.create("others"), world_file)
        for name in ("ours", "others"):
            databases.settle(name)
        return cls(folder, databases, World.read(world_file), world_file)

    def enter(self, contender: Contender) -> Entrant:
        """Start the contender on a copy of its database."""
        if contender.is_ours:
            return self._enter_ours(contender)
        url = self.databases.copy("others", contender.key)
        server = self._start(contender, handwritten.environment(url, self.world_file))
        return Entrant(contender, server, _mint, functools.partial(handwritten.stored, url))

    def _enter_ours(self, contender: Contender) -> Entrant:
        url = self.databases.copy("ours", contender.key)
        assert contender.endpoints is not None
        ours.configure(url, self.folder, contender.endpoints)
        server = self._start(contender, ours.environment(url, self.folder))
        return Entrant(
            contender,
            server,
            functools.partial(ours.token, server.port),
            functools.partial(ours.stored, url, self.folder),
        )

    def _start(self, contender: Contender, environment: dict[str, str]) -> Server:
        return Server.start(contender.key, contender.command, environment, self.folder, cores()[0])


def _mint(person: str) -> str:
    return mint(handwritten.ACCOUNTS[person])


@contextmanager
def running(stable: Stable, contenders: Sequence[Contender], say: Say) -> Iterator[list[Entrant]]:
    """All servers at once: those whose turn it is not do nothing."""
    with ExitStack() as stack:
        entrants = []
        for contender in contenders:
            entrant = stable.enter(contender)
            stack.callback(entrant.server.stop)
            entrants.append(entrant)
            if not contender.is_bare:
                agreed = examine(_candidate(entrant), stable.world)
                say(f"{contender.title}: {agreed} requests answered as agreed")
        yield entrants


def _candidate(entrant: Entrant) -> Candidate:
    return Candidate(
        entrant.contender.title,
        entrant.server.port,
        entrant.token("rep"),
        entrant.token("agent"),
        entrant.stored,
    )


def race(
    entrants: Sequence[Entrant], scenario: Scenario, world: World, *, rounds: int, seconds: float
) -> list[Line]:
    """Rounds in which everyone runs once, each round begun by another."""
    lines = {entrant.contender.key: Line(entrant.contender, []) for entrant in entrants}
    os.sched_setaffinity(0, {cores()[1]})
    for number in range(rounds):
        turn = number % len(entrants)
        for entrant in (*entrants[turn:], *entrants[:turn]):
            lines[entrant.contender.key].rounds.append(_run(entrant, scenario, world, seconds))
    return list(lines.values())


def _run(entrant: Entrant, scenario: Scenario, world: World, seconds: float) -> Round:
    ours, server = entrant.contender.is_ours, entrant.server
    token = entrant.token("rep") if scenario.authenticated and not entrant.contender.is_bare else ""
    requests = scenario.requests(world, token, ours=ours)
    run = functools.partial(
        measure,
        server.port,
        requests.__next__,
        # A constant is a constant, whatever is asked.
        status=200 if entrant.contender.is_bare else scenario.status,
        connections=scenario.connections,
    )
    run(seconds=scenario.warm_up)
    server.forget_peak()
    before = server.processor_seconds()
    measurement = run(seconds=seconds)
    return Round.of(measurement, server.processor_seconds() - before, server.peak_megabytes())
