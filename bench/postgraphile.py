"""`postgraphile`: reads, lists and creates on PostgreSQL, beside PostGraphile on tables of the same records.

It speaks GraphQL: so it is asked for the same columns in its own way, and has no part in the other scenes.
npm installs it from `bench/applications/postgraphile/`, outside the checkout.
"""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import psycopg

from bench import handwritten
from bench.conformance import NotTheSame
from bench.contenders import THREADS, Contender
from bench.http import send
from bench.load import measure
from bench.processes import PreparationError
from bench.race import Entrant, Say, Stable, race, running
from bench.report import as_json, table
from bench.scenarios import SCENARIOS, Scenario
from bench.servers import Server, cores, portico
from bench.tokens import mint
from bench.world import AUDIENCE, ISSUER, SIGNING_KEY, World
from scripts.npm import NotInstalled, locked

KEY = "postgraphile"
GOALS = {"read": 1.0, "list": 1.0, "create": 0.8}
FOLDER = Path(__file__).parent / "applications" / "postgraphile"
OURS = Contender("ours_10", "ours, 10 endpoints", "ours", portico(THREADS), 10)
WARM = 1_500
"""Requests of each kind before the first figure: Node compiles what is called often."""

PATH = "/graphql"
PAGE = 50
PLACES = 4
"""Money is kept as a whole number of ten-thousandths."""

_READ = (
    "query($id: UUID!) { accountByRowId(rowId: $id) { rowId name phone revenue industry createdOn version "
    "contactByPrimaryContactId { rowId fullName } } }"
)
_LIST = (
    "query($first: Int!) { allAccounts(first: $first, orderBy: [NAME_ASC]) { totalCount "
    "pageInfo { hasNextPage endCursor } nodes { rowId name phone revenue industry } } }"
)
_CREATE = (
    "mutation($account: AccountInput!) { createAccount(input: {account: $account}) { account { rowId } } }"
)
# The hand-written applications fill these themselves.
_DEFAULTS = """
    ALTER TABLE account
        ALTER id SET DEFAULT gen_random_uuid(), ALTER created_on SET DEFAULT now(),
        ALTER modified_on SET DEFAULT now(), ALTER created_by_id SET DEFAULT 1,
        ALTER modified_by_id SET DEFAULT 1, ALTER owner_id SET DEFAULT 1, ALTER state SET DEFAULT 0,
        ALTER status SET DEFAULT 1, ALTER version SET DEFAULT 1
"""


def _body(query: str, **variables: Any) -> bytes:
    return orjson.dumps({"query": query, "variables": variables})


def a_read(number: int, world: World) -> bytes:
    return _body(_READ, id=world.accounts[number * 7919 % len(world.accounts)].id)


def a_list(number: int, world: World) -> bytes:
    return _body(_LIST, first=PAGE)


def a_create(number: int, world: World) -> bytes:
    account = {
        "name": f"Bench {number}",
        "phone": "+44 20 7946 0000",
        "revenue": "12345678901",
        "industry": world.industries[number % len(world.industries)].value,
        "primaryContactId": world.contacts[number % len(world.contacts)].id,
    }
    return _body(_CREATE, account=account)


ASKED = {"read": a_read, "list": a_list, "create": a_create}


def scenarios() -> Iterator[Scenario]:
    for scenario in SCENARIOS:
        if scenario.key in ASKED:
            others = Scenario(
                scenario.key, scenario.title, "POST", PATH, authenticated=True, body=ASKED[scenario.key]
            )
            yield replace(scenario, goals={KEY: GOALS[scenario.key]}, others=others)


def measure_all(stable: Stable, say: Say, *, rounds: int, seconds: float) -> dict[str, Any]:
    results: dict[str, Any] = {}
    with _postgraphile(stable) as other, running(stable, [OURS], say) as [ours]:
        _agree(other, stable.world)
        for scenario in scenarios():
            for entrant in (ours, other):
                _warm(entrant, scenario, stable.world)
            say(f"{scenario.title}, beside PostGraphile: {rounds} rounds of {seconds:g} s each")
            lines = race([ours, other], scenario, stable.world, rounds=rounds, seconds=seconds)
            results[scenario.key] = as_json(scenario, lines)
            print(f"\n{table(scenario, lines)}\n", flush=True)
    return results


def _warm(entrant: Entrant, scenario: Scenario, world: World) -> None:
    requests = scenario.requests(world, entrant.token("rep"), ours=entrant.contender.is_ours)
    answered = 0
    while answered < WARM:
        measured = measure(entrant.server.port, requests.__next__, status=scenario.status, seconds=2.0)
        answered += len(measured.latencies)


@contextmanager
def _postgraphile(stable: Stable) -> Iterator[Entrant]:
    url = stable.databases.copy("others", KEY)
    if url.startswith("sqlite"):
        raise PreparationError("PostGraphile needs PostgreSQL: run the bench with --database postgres.")
    try:
        modules = locked(FOLDER) / "node_modules"
    except NotInstalled as error:
        raise PreparationError(f"PostGraphile cannot be installed. {error}") from error
    with psycopg.connect(url, autocommit=True) as opened:
        opened.execute(_DEFAULTS)
    environment = {
        "NODE_ENV": "production",
        "GRAPHILE_ENV": "production",
        "NODE_PATH": str(modules),
        "BENCH_DATABASE_URL": url,
        "BENCH_SIGNING_KEY": SIGNING_KEY,
        "BENCH_AUDIENCE": AUDIENCE,
        "BENCH_ISSUER": ISSUER,
    }
    contender = Contender(KEY, "PostGraphile 5", KEY, ["node", str(FOLDER / "server.cjs")])
    server = Server.start(KEY, contender.command, environment, stable.folder, cores()[0])
    try:
        yield Entrant(contender, server, _mint, functools.partial(handwritten.stored, url))
    finally:
        server.stop()


def _mint(person: str) -> str:
    return mint(handwritten.ACCOUNTS[person])


def _agree(entrant: Entrant, world: World) -> None:
    """Raises NotTheSame unless it gives what ours gives: to GraphQL a refusal is an answer, too."""
    first = world.accounts[0]
    told = _asked(entrant, a_read(0, world))["accountByRowId"]
    _same("a read", (first.id, first.name, first.industry), (told["rowId"], told["name"], told["industry"]))
    _same("money", Decimal(first.revenue or 0), Decimal(told["revenue"] or 0).scaleb(-PLACES))
    page = _asked(entrant, a_list(0, world))["allAccounts"]
    rows = sorted(world.accounts, key=lambda account: account.name)[:PAGE]
    _same("a list", [row.name for row in rows], [row["name"] for row in page["nodes"]])
    _same(
        "all are counted", (len(world.accounts), True), (page["totalCount"], page["pageInfo"]["hasNextPage"])
    )
    made = _asked(entrant, a_create(0, world))["createAccount"]["account"]["rowId"]
    record = entrant.stored(str(uuid.UUID(made)))
    _same("a create", ("Bench 0", world.contacts[0].id), (record["name"], record["contact"]))
    refused = send(entrant.server.port, "POST", PATH, body=a_read(0, world), headers=_headers("no.token"))
    _same("a token that nobody gave", True, "errors" in (refused.body or {}))


def _asked(entrant: Entrant, body: bytes) -> Any:
    answer = send(entrant.server.port, "POST", PATH, body=body, headers=_headers(entrant.token("rep")))
    if answer.status != 200 or "errors" in answer.body:
        raise NotTheSame(f"{entrant.contender.title}: {body!r}: {answer.status} {json.dumps(answer.body)}")
    return answer.body["data"]


def _headers(token: str) -> dict[str, str]:
    return {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}


def _same(what: str, wanted: Any, got: Any) -> None:
    if wanted != got:
        raise NotTheSame(f"PostGraphile: {what}: wanted {wanted!r}, got {got!r}")
