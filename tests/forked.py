"""`manage.py` in processes that are forked from one that has loaded the service's code.

The suite starts hundreds of them, and loading the code takes longer than most commands do.
"""

from __future__ import annotations

import atexit
import faulthandler
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parent.parent
# What the interpreter, the loader or a library reads once, when a process starts.
_READ_AT_THE_START = ("PYTHON", "LD_", "OTEL_", "PROMETHEUS_")
_READ_LATER = frozenset({"PYTHONFAULTHANDLER", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"})


SLOW_PASSWORDS = "SLOW_PASSWORDS"
"""A variable of the environment: the process hashes passwords as slowly as the product does."""


class Process(Protocol):
    """What is asked of a process here: as of `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...


def start(
    arguments: Sequence[str],
    code: Path,
    environment: Mapping[str, str],
    output: Path,
    errors: Path | None = None,
) -> Process:
    """`manage.py` with `arguments`, in a session of its own. It appends what it says to `output`, and what it
    says on standard error to `errors`, where that is given.
    """
    if code == ROOT and _of_the_start(environment) == _of_the_start(os.environ):
        return Forked(arguments, environment, output, errors or output)
    with output.open("ab") as file, (errors or output).open("ab") as error_file:
        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=code,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=error_file,
            start_new_session=True,
        )


class Forked:
    """A process of the code at hand, as `subprocess.Popen` is one."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], output: Path, errors: Path
    ) -> None:
        given = (list(arguments), dict(environment), str(output), str(errors))
        self._process = _context().Process(target=_run, args=given)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(f"manage.py, process {self.pid}", timeout or 0)
        return code

    def send_signal(self, sig: int) -> None:
        # It may end between the look and the signal.
        if self._process.exitcode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.loaded"])
    return context


def _of_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_READ_AT_THE_START) and name not in _READ_LATER
    }


def _run(arguments: list[str], environment: dict[str, str], output: str, errors: str) -> None:
    """`python manage.py`, as a shell starts it."""
    # Only here: in the process of the tests, Django has the settings of the tests.
    from tests import loaded

    os.setsid()
    for stream, name in ((1, output), (2, errors)):
        to = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(to, stream)
        os.close(to)
    os.environ.clear()
    os.environ.update(environment)
    # Its own processes start as they do below a shell, not as this one did.
    multiprocessing.set_start_method(None, force=True)
    time.tzset()
    if environment.get("PYTHONFAULTHANDLER"):
        faulthandler.enable()
    os.chdir(ROOT)
    sys.path[:] = [str(ROOT), *(path for path in sys.path if path not in {"", str(ROOT)})]
    sys.argv = ["manage.py", *arguments]
    if not loaded.take_own_settings():
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)
    try:
        # Not as `__main__`, which looks through no garbage until the code is loaded: it is.
        runpy.run_path("manage.py", run_name="manage")["main"]()
    finally:
        # `multiprocessing` ends a process without them.
        atexit._run_exitfuncs()
