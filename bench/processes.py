"""Runs the commands that prepare an application, in its own environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from bench.servers import ROOT


class PreparationError(Exception):
    """A command that failed; its last words stand in the message."""


def run_python(environment: Mapping[str, str], *arguments: str) -> str:
    """Run this Python with `arguments` at the root of the repository; returns what it printed."""
    finished = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if finished.returncode:
        words = (finished.stdout + finished.stderr)[-3000:]
        raise PreparationError(f"{' '.join(arguments)} failed:\n{words}")
    return finished.stdout
