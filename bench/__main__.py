"""`python -m bench`: our service beside hand-written applications that do the same work."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import psycopg

from bench import edits, postgraphile, remote, size, studio
from bench.conformance import NotTheSame
from bench.contenders import THREADS, contenders
from bench.load import LoadError
from bench.machine import Meanwhile, describe
from bench.portal import scene as portal
from bench.processes import PreparationError
from bench.race import Stable, race, running
from bench.report import as_json, table
from bench.scenarios import SCENARIOS, Scenario
from bench.servers import ServerError
from bench.storage import Databases, PostgresDatabases, SqliteFiles

RESULTS = Path(__file__).parent / "results" / "latest.json"
POSTGRES = "postgres://postgres@127.0.0.1:5432"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    keys = [*(scenario.key for scenario in SCENARIOS), *remote.KEYS, size.KEY, edits.KEY, studio.KEY]
    keys += [postgraphile.KEY, *portal.KEYS]
    parser.add_argument("--scenario", action="append", choices=keys, help="only this one; may be repeated")
    parser.add_argument("--contender", action="append", help="only this key; may be repeated")
    parser.add_argument("--rounds", type=int, default=5, choices=range(1, 51), metavar="1-50")
    parser.add_argument(
        "--seconds", type=float, default=4.0, help="of each contender in each round, at most 60"
    )
    parser.add_argument("--threads", type=int, default=THREADS, help="of each WSGI server (%(default)s)")
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument(
        "--postgres", default=POSTGRES, help="server URL of a role that may create databases (%(default)s)"
    )
    parser.add_argument(
        "--window",
        type=int,
        default=portal.WINDOW,
        choices=range(20, 301),
        metavar="20-300",
        help="seconds of the portal's platform limits, at the same rate (%(default)s)",
    )
    quick = f"two rounds of one second, and a window of {portal.QUICK_WINDOW} s"
    parser.add_argument("--quick", action="store_true", help=quick)
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds, options.window = 2, 1.0, portal.QUICK_WINDOW
    if not 0.1 <= options.seconds <= 60:
        parser.error("--seconds must lie between 0.1 and 60")
    contender_keys = [*(each.key for each in contenders()), *(each.key for each in portal.CONTENDERS)]
    for key in options.contender or ():
        if key not in contender_keys:
            parser.error(f"no contender {key!r}; there are {', '.join(contender_keys)}")
    return options


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGTERM, _stop)
    scenarios = [each for each in SCENARIOS if not options.scenario or each.key in options.scenario]
    with tempfile.TemporaryDirectory(prefix="portico-bench-") as name:
        folder = Path(name)
        databases: Databases
        if options.database == "sqlite":
            databases = SqliteFiles(folder)
        else:
            databases = PostgresDatabases(options.postgres)
        try:
            results = measure_all(options, scenarios, folder, databases)
        except (NotTheSame, LoadError, ServerError, PreparationError, psycopg.OperationalError) as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("Stopped; all servers are down.", file=sys.stderr)
            return 130
        finally:
            databases.remove()
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2, ensure_ascii=False), encoding="utf-8")
    print(f"\nAll figures: {RESULTS}")
    return 0


def measure_all(
    options: argparse.Namespace, scenarios: Sequence[Scenario], folder: Path, databases: Databases
) -> dict[str, Any]:
    results: dict[str, Any] = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": describe(),
        "database": options.database,
        "threads": options.threads,
        "rounds": options.rounds,
        "seconds": options.seconds,
        "scenarios": {},
    }
    stable = Stable.prepare(folder, databases, _say)
    if scenarios:
        _measure_local(options, scenarios, stable, results)
    wanted = [key for key in remote.KEYS if not options.scenario or key in options.scenario]
    if wanted:
        results["scenarios"] |= remote.measure_all(
            stable, wanted, _say, rounds=options.rounds, seconds=options.seconds
        )
    # Making a million accounts takes minutes: only who asks for it waits for it.
    if size.KEY in (options.scenario or ()):
        results["scenarios"][size.KEY] = size.measure_all(
            stable, _say, rounds=options.rounds, seconds=options.seconds
        )
    if edits.KEY in (options.scenario or ()):
        results["scenarios"][edits.KEY] = edits.measure_all(
            stable, _say, rounds=options.rounds, seconds=options.seconds
        )
    # It needs Chromium.
    if studio.KEY in (options.scenario or ()):
        results["scenarios"][studio.KEY] = studio.measure_all(stable, _say, rounds=options.rounds)
    # It needs Node, and what npm fetches.
    if postgraphile.KEY in (options.scenario or ()):
        results["scenarios"][postgraphile.KEY] = postgraphile.measure_all(
            stable, _say, rounds=options.rounds, seconds=options.seconds
        )
    # They take half an hour: they run when they are asked for by name.
    wanted = [key for key in portal.KEYS if key in (options.scenario or ())]
    if wanted:
        results["scenarios"] |= portal.measure_all(
            stable, wanted, _say, window=options.window, contenders=options.contender or ()
        )
    return results


def _measure_local(
    options: argparse.Namespace, scenarios: Sequence[Scenario], stable: Stable, results: dict[str, Any]
) -> None:
    chosen = [
        each for each in contenders(options.threads) if not options.contender or each.key in options.contender
    ]
    with running(stable, chosen, _say) as entrants:
        for scenario in scenarios:
            _say(f"{scenario.title}: {options.rounds} rounds of {options.seconds:g} s each")
            meanwhile = Meanwhile([entrant.server for entrant in entrants])
            lines = race(entrants, scenario, stable.world, rounds=options.rounds, seconds=options.seconds)
            others = meanwhile.others()
            results["scenarios"][scenario.key] = {**as_json(scenario, lines), "others": others}
            print(f"\n{table(scenario, lines)}", flush=True)
            print(f"Others used {others:.0%} of the machine meanwhile.\n", flush=True)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _stop(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
