"""Running programs that come with packages: quietly, for a while at most."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SECONDS = 300


class Failed(Exception):
    """A command ended otherwise than well; `output` is all that it said."""

    def __init__(self, program: str, output: str) -> None:
        super().__init__(f"{program} failed:\n{output}")
        self.output = output


def run(command: list[str], folder: Path, **environment: str) -> str:
    """What the command says, with `environment` beside this process's. Raises Failed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        raise Failed(command[0], done.stdout)
    return done.stdout
