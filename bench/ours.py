"""Our service: set up by its own commands, then given more accounts and endpoints than the demo has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.handwritten import RATE
from bench.http import send
from bench.processes import PreparationError, run_python
from bench.world import SIGNING_KEY

PASSWORD = "demo"
INSIDE = (
    "import sys, django; django.setup(); from bench.ours_inside import COMMANDS; "
    "COMMANDS[sys.argv[1]](sys.argv[2])"
)
CREDENTIALS = {"Content-Type": "application/json"}


def environment(url: str, folder: Path) -> dict[str, str]:
    """Everything stays on but the rate limits' numbers, which no load would get past."""
    return {
        "PORTICO_MODE": "development",
        "DATABASE_URL": url,
        "DATA_DIR": str(folder),
        "TOKEN_SIGNING_KEY": SIGNING_KEY,
        "CALLER_RATE": RATE,
        "ADDRESS_RATE": RATE,
        "LOGIN_RATE": RATE,
        "LOG_LEVEL": "WARNING",
        "DJANGO_SETTINGS_MODULE": "project.settings",
    }


def fill(url: str, folder: Path, world: Path) -> None:
    """The demo, accounts until there are 10,000, and what the others must know of it written to `world`."""
    run_python(environment(url, folder), "manage.py", "prepare")
    inside(url, folder, "fill", str(world))


def configure(url: str, folder: Path, endpoints: int) -> None:
    """Add endpoints until `endpoints` are configured."""
    inside(url, folder, "configure", str(endpoints))


def inside(url: str, folder: Path, command: str, argument: str) -> str:
    """Run one of `ours_inside`'s commands; what it printed."""
    return run_python(environment(url, folder), "-c", INSIDE, command, argument)


def stored(url: str, folder: Path, key: str) -> Mapping[str, Any]:
    """The account with that id, read by the platform."""
    record: Mapping[str, Any] = json.loads(inside(url, folder, "show", key))
    return record


def token(port: int, person: str) -> str:
    """An access token of a demo account, got as any client gets one."""
    body = json.dumps({"username": person, "password": PASSWORD}).encode()
    answer = send(port, "POST", "/api/token", body=body, headers=CREDENTIALS)
    if answer.status != 200:
        raise PreparationError(f"No token for {person}: {answer.status} {answer.body}")
    access: str = answer.body["access"]
    return access
