"""Our service: set up by its own commands, then given more accounts and endpoints than the demo has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.handwritten import RATE
from bench.http import send
from bench.servers import ROOT, ServerError
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
        "LOG_LEVEL": "WARNING",
        "DJANGO_SETTINGS_MODULE": "project.settings",
    }


def fill(url: str, folder: Path, world: Path) -> None:
    """The demo, accounts until there are 10,000, and what the others must know of it written to `world`."""
    _run(url, folder, "manage.py", "prepare")
    _run(url, folder, "-c", INSIDE, "fill", str(world))


def configure(url: str, folder: Path, endpoints: int) -> None:
    """Add endpoints until `endpoints` are configured."""
    _run(url, folder, "-c", INSIDE, "configure", str(endpoints))


def stored(url: str, folder: Path, key: str) -> Mapping[str, Any]:
    """The account with that id, read by the platform."""
    record: Mapping[str, Any] = json.loads(_run(url, folder, "-c", INSIDE, "show", key))
    return record


def token(port: int, person: str) -> str:
    """An access token of a demo account, got as any client gets one."""
    body = json.dumps({"username": person, "password": PASSWORD}).encode()
    answer = send(port, "POST", "/api/token", body=body, headers=CREDENTIALS)
    if answer.status != 200:
        raise ServerError(f"No token for {person}: {answer.status} {answer.body}")
    access: str = answer.body["access"]
    return access


def _run(url: str, folder: Path, *command: str) -> str:
    finished = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, **environment(url, folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if finished.returncode:
        words = (finished.stdout + finished.stderr)[-3000:]
        raise ServerError(f"{' '.join(command)} failed:\n{words}")
    return finished.stdout
