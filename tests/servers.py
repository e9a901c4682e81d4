"""Real server processes, each test's on a database and data folder of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeVar
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
import requests

from tests import forked

T = TypeVar("T")

ROOT = forked.ROOT
# Only what never comes is a failure: a busy machine may take minutes over what takes seconds.
START_SECONDS = 600
COMMAND_SECONDS = 1200
ANSWER_SECONDS = 120
_LAST_WORDS_SECONDS = 5


@dataclass
class Server:
    """A running `manage.py serve` or `manage.py crmserver`."""

    url: str
    process: forked.Process
    log: Path

    def output(self) -> str:
        """What it has printed and logged so far."""
        return self.log.read_text(encoding="utf-8")

    def request(self, method: str, path: str, **options: object) -> requests.Response:
        return requests.request(method, self.url + path, timeout=ANSWER_SECONDS, **options)  # type: ignore[arg-type]

    def token(self, username: str, password: str = "demo") -> str:
        answer = self.request("POST", "/api/token", json={"username": username, "password": password})
        answer.raise_for_status()
        return str(answer.json()["access"])

    def stop(self) -> None:
        """As Ctrl-C does; the whole group is killed if that is not heeded."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self._signal_all(signal.SIGKILL)
        self.process.wait(ANSWER_SECONDS)

    def end_with_last_words(self) -> None:
        """Its processes write what their threads are doing into its output, and end."""
        self._signal_all(signal.SIGABRT)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_LAST_WORDS_SECONDS)
        self.kill()

    def _signal_all(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


@dataclass
class Site:
    """One installation: a database and a data folder that any number of servers share."""

    environment: dict[str, str]
    servers: list[Server] = field(default_factory=list)
    code: Path = ROOT
    """Where the release is that it runs."""

    def start(self, until: str = "/health/ready", **settings: str) -> Server:
        """A server on a free port, with more `settings`, once it answers 200 at `until`."""
        port = free_port()
        return self._launch(port, until, ["serve"], {"PORT": str(port), **settings})

    def start_crm(
        self, *options: str, root: str = "", scheme: str = "http", port: int | None = None, **settings: str
    ) -> Server:
        """`manage.py crmserver` on `port`, or a free one, below the URL root `root`, once it answers."""
        port = port or free_port()
        command = ["crmserver", "--port", str(port), "--root", root, *options]
        server = self._launch(port, f"{root}/", command, settings, scheme)
        server.url += root
        return server

    def _launch(
        self, port: int, until: str, command: list[str], settings: dict[str, str], scheme: str = "http"
    ) -> Server:
        log = Path(self.environment["DATA_DIR"]) / f"server-{port}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"")
        process = forked.start(command, self.code, {**self.environment, **settings}, log)
        server = Server(f"{scheme}://127.0.0.1:{port}", process, log)
        self.servers.append(server)
        wait(server, until)
        return server

    def manage(self, *arguments: str, **settings: str) -> str:
        """The output of a management command that must succeed."""
        code, output = self.run(*arguments, **settings)
        assert code == 0, output
        return output

    def run(self, *arguments: str, **settings: str) -> tuple[int, str]:
        """A management command's exit code and output."""
        with NamedTemporaryFile() as output:
            return self._run(arguments, settings, Path(output.name)), output.read().decode()

    def run_apart(self, *arguments: str, **settings: str) -> tuple[int, str, str]:
        """A management command's exit code, and what it says on standard output and on standard error."""
        with NamedTemporaryFile() as output, NamedTemporaryFile() as errors:
            code = self._run(arguments, settings, Path(output.name), Path(errors.name))
            return code, output.read().decode(), errors.read().decode()

    def _run(
        self, arguments: Sequence[str], settings: Mapping[str, str], output: Path, errors: Path | None = None
    ) -> int:
        process = forked.start(arguments, self.code, {**self.environment, **settings}, output, errors)
        try:
            return process.wait(COMMAND_SECONDS)
        finally:
            process.kill()

    @property
    def database(self) -> str:
        """The name of its database, as Django's settings give it: a file on SQLite."""
        if "DATABASE_URL" in self.environment:
            return urlsplit(self.environment["DATABASE_URL"]).path.lstrip("/")
        return str(Path(self.environment["DATA_DIR"]) / "portico.sqlite3")

    def stop(self) -> None:
        for server in self.servers:
            if server.process.poll() is None:
                server.stop()
            server.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait(server: Server, path: str) -> None:
    def answers() -> bool:
        if server.process.poll() is not None:
            raise AssertionError(f"The server ended: {server.output()}")
        with suppress(requests.ConnectionError):
            return server.request("GET", path).status_code == 200
        return False

    try:
        until(answers)
    except AssertionError as error:
        server.end_with_last_words()
        raise AssertionError(f"No 200 at {path}: {server.output()}") from error


def until(fact: Callable[[], T], pause: float = 0.05) -> T:
    """What `fact` returns, once that is true: it is asked again and again. Fails when it never is."""
    give_up = time.monotonic() + START_SECONDS
    while not (outcome := fact()):
        # `requests` makes an answer of 400 or more false: it would be waited for to the end.
        assert not isinstance(outcome, requests.Response), "Ask `until_not` for an answer by its status."
        assert time.monotonic() < give_up, f"{fact} never became true: {outcome}"
        time.sleep(pause)
    return outcome


def until_not(status: int, ask: Callable[[], requests.Response], pause: float = 0.3) -> requests.Response:
    """The first answer of another status than `status`, which says that something is still being made."""
    return until(lambda: [answer for answer in [ask()] if answer.status_code != status], pause)[0]


@pytest.fixture(scope="session")
def _prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The demo's installation, made once and copied for every test."""
    folder = tmp_path_factory.mktemp("prepared")
    site = _site(folder, f"portico_prepared_{os.getpid()}")
    site.manage("prepare")
    yield site
    _drop(site)


@pytest.fixture
def site(_prepared: Site, tmp_path: Path) -> Iterator[Site]:
    """The demo's installation; its servers are stopped at the end."""
    with copied(_prepared, tmp_path / "data", "servers") as own:
        yield own


@pytest.fixture
def store(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Redis of the test's own; `args` end with its port."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    port = free_port()
    command = [program, "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    client = redis.Redis(port=port)

    def answers() -> bool:
        with suppress(redis.ConnectionError):
            return bool(client.ping())
        return False

    until(answers)
    yield process
    process.kill()
    process.wait(10)


@contextmanager
def copied(prepared: Site, folder: Path, name: str) -> Iterator[Site]:
    """A copy of a prepared installation, with a database of its own where that is needed."""
    shutil.copytree(prepared.environment["DATA_DIR"], folder)
    own = _site(folder, f"portico_{name}_{os.getpid()}", template=prepared)
    try:
        yield own
    finally:
        own.stop()
        _drop(own)


@pytest.fixture
def empty_site(tmp_path: Path) -> Iterator[Site]:
    """An installation whose database holds nothing, not even tables."""
    own = _site(tmp_path / "data", f"portico_servers_{os.getpid()}")
    yield own
    own.stop()
    _drop(own)


def site_at(folder: Path, **settings: str) -> Site:
    """An installation whose data is in `folder`. Whoever makes it stops it."""
    own = {"PORTICO_MODE": "development", "DATA_DIR": str(folder), "HOST": "127.0.0.1", **settings}
    # What ends by a signal says where: a server that never answers could not be understood otherwise.
    own.setdefault("PYTHONFAULTHANDLER", "1")
    # One address makes all of a suite's logins. A test of the limit sets it.
    own.setdefault("LOGIN_RATE", "0")
    environment = {**os.environ, **own}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    return Site(environment)


def _site(folder: Path, database: str, template: Site | None = None) -> Site:
    site = site_at(folder)
    if url := os.environ.get("DATABASE_URL"):
        site.environment["DATABASE_URL"] = urlsplit(url)._replace(path=f"/{database}").geturl()
        like = f' TEMPLATE "{template.database}"' if template else ""
        _sql(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)', f'CREATE DATABASE "{database}"{like}')
    if url := os.environ.get("CACHE_URL"):
        # A new installation finds none of the counts, lock-outs and kept answers of another one.
        with redis.Redis.from_url(url) as cache:
            cache.flushdb()
    return site


def _drop(site: Site) -> None:
    if "DATABASE_URL" in site.environment:
        _sql(f'DROP DATABASE IF EXISTS "{site.database}" WITH (FORCE)')


def _sql(*statements: str) -> None:
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path="/postgres").geturl()
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
