"""What goes wrong during a drill: what the service stands on comes and goes, and processes are killed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import redis

from tests.processes import descendants
from tests.servers import Server, free_port, until

# Programs of a PostgreSQL server refuse to run as root.
_AS_POSTGRES = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []


class PostgreSQL:
    """A server of the drill's own, which can be crashed."""

    def __init__(self) -> None:
        self.port = free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="drill-postgresql-", dir="/tmp"))
        if _AS_POSTGRES:
            shutil.chown(self._folder, "postgres")
        self._run("initdb", "--pgdata", self._data, "--auth", "trust", "--username", "postgres")
        self.start()

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    @property
    def url(self) -> str:
        """Of a database that is there from the start."""
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = f"-p {self.port} -k {self._folder} -h 127.0.0.1"
        log = str(self._folder / "log")
        self._run("pg_ctl", "--pgdata", self._data, "--log", log, "--options", options, "--wait", "start")

        def answers() -> bool:
            with suppress(psycopg.OperationalError), psycopg.connect(self.url):
                return True
            return False

        until(answers)

    def stop(self) -> None:
        """As a crash does: no connection is ended in order, nothing is written out."""
        self._run("pg_ctl", "--pgdata", self._data, "--mode", "immediate", "stop")

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        folder = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True)
        command = [*_AS_POSTGRES, str(Path(folder.stdout.strip()) / program), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self._folder)


class Redis:
    """A server of the drill's own, which forgets everything when it is stopped."""

    def __init__(self) -> None:
        self.port = free_port()
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        command = ["redis-server", "--bind", "127.0.0.1", "--save", "", "--port", str(self.port)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, cwd=tempfile.gettempdir()
        )
        client = redis.Redis(port=self.port)

        def answers() -> bool:
            with suppress(redis.ConnectionError):
                return bool(client.ping())
            return False

        until(answers)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


def kill_a_worker(server: Server) -> None:
    """Any process of the server but the main one, without notice."""
    if workers := descendants(server.process.pid):
        with suppress(ProcessLookupError):
            os.kill(random.choice(workers), signal.SIGKILL)


@contextmanager
def going_on(*acts: Callable[[], None], pause: float) -> Iterator[list[str]]:
    """Do `acts` in turn, again and again with `pause` seconds between them, while the block runs.

    Gives what they raised, in words: an act that fails ends none of the others.
    """
    over = threading.Event()
    failed: list[str] = []

    def work(turns: Sequence[Callable[[], None]]) -> None:
        while True:
            for act in turns:
                if over.wait(pause):
                    return
                try:
                    act()
                except Exception as error:
                    failed.append(f"{getattr(act, '__qualname__', act)}: {error!r}")

    thread = threading.Thread(target=work, args=[acts], daemon=True)
    thread.start()
    try:
        yield failed
    finally:
        over.set()
        thread.join()
