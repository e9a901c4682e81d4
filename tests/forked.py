"""`manage.py` in processes that are forked from one that has imported the libraries.

The suite starts hundreds of them, and importing the libraries takes longer than most commands do.
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
# Nothing that reads Django's settings, and nothing that reads the environment, when it is imported.
_LIBRARIES = (
    *("cel", "psycopg", "psycopg.types.json", "redis", "redis.asyncio", "structlog", "requests", "limits"),
    *("cryptography.x509", "cryptography.fernet", "jwt", "pydantic", "jinja2", "environ", "ruamel.yaml"),
    *("yaml", "lxml.etree", "puremagic", "re2", "granian.server.mp", "jsonschema", "PIL.Image"),
    *("inflection", "uritemplate", "django.core.management", "django.core.handlers.wsgi", "django.db.models"),
    *("django.contrib.postgres.forms", "django.contrib.staticfiles.finders", "django.forms", "django.test"),
    *("django.views.generic", "django.template.defaultfilters", "whitenoise.middleware"),
    *("crmclient.dataverse.platform", "crmclient.query.ast", "crmclient.errors"),
)
# What the interpreter or the loader reads once, when a process starts.
_READ_AT_THE_START = ("PYTHON", "LD_")
_READ_LATER = frozenset({"PYTHONFAULTHANDLER", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"})


class Process(Protocol):
    """What is asked of a process here: as of `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...


def start(arguments: Sequence[str], code: Path, environment: Mapping[str, str], output: Path) -> Process:
    """`manage.py` with `arguments`, in a session of its own. It appends what it says to `output`."""
    if code == ROOT and _of_the_start(environment) == _of_the_start(os.environ):
        return Forked(arguments, environment, output)
    with output.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=code,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


class Forked:
    """A process of the code at hand, as `subprocess.Popen` is one."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], output: Path) -> None:
        given = (list(arguments), dict(environment), str(output))
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
    context.set_forkserver_preload(list(_LIBRARIES))
    return context


def _of_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_READ_AT_THE_START) and name not in _READ_LATER
    }


def _run(arguments: list[str], environment: dict[str, str], output: str) -> None:
    """`python manage.py`, as a shell starts it."""
    os.setsid()
    to = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(to, 1)
    os.dup2(to, 2)
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
    try:
        runpy.run_path("manage.py", run_name="__main__")
    finally:
        # `multiprocessing` ends a process without them.
        atexit._run_exitfuncs()
