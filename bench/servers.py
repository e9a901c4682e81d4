"""Starts servers on one core, reads the processor time they used, and stops them whatever happens."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
START_WITHIN = 60.0
STOP_WITHIN = 10.0
_TICK = os.sysconf("SC_CLK_TCK")


class ServerError(Exception):
    """A server that did not start; its last words stand in the message."""


def cores() -> tuple[int, int]:
    """The core for servers and the core for load; the same one twice where there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def granian(target: str, *, interface: str = "wsgi", threads: int = 1) -> list[str]:
    """The command of one granian worker; the port is appended."""
    command = [str(BIN / "granian"), target, "--interface", interface, "--workers", "1", "--no-ws"]
    if interface == "wsgi":
        command += ["--blocking-threads", str(threads)]
    return [*command, "--log-level", "warning", "--host", "127.0.0.1", "--port"]


def portico(threads: int) -> list[str]:
    """The command of our service as `make run` serves it, with one worker; the port is appended."""
    return [sys.executable, "-m", "bench.serve", str(threads)]


def gunicorn(target: str, *, threads: int) -> list[str]:
    """The command of one gunicorn worker with threads; the address is appended."""
    command = [
        str(BIN / "gunicorn"),
        target,
        "--worker-class",
        "gthread",
        "--workers",
        "1",
        "--no-control-socket",
    ]
    return [*command, "--threads", str(threads), "--log-level", "warning", "--bind"]


def _peak_kilobytes(process: Path) -> int:
    with suppress(OSError):
        for line in (process / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


@dataclass
class Server:
    """A running server. It leads a session of its own, so that all its processes can be found and stopped."""

    name: str
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @classmethod
    def start(
        cls, name: str, command: list[str], environment: Mapping[str, str], folder: Path, core: int
    ) -> Server:
        port = free_port()
        address = f"127.0.0.1:{port}" if command[-1] == "--bind" else str(port)
        log = folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["taskset", "-c", str(core), *command, address],
                cwd=ROOT,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        server = cls(name, port, process, log)
        try:
            server._wait()
        except BaseException:
            server.stop()
            raise
        return server

    def _wait(self) -> None:
        until = time.monotonic() + START_WITHIN
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise ServerError(f"{self.name} did not start:\n{self.last_words()}")

    def last_words(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-3000:]

    def processor_seconds(self) -> float:
        """User and system time of all processes of this server's session so far."""
        return sum(int(fields[11]) + int(fields[12]) for _, fields in self._processes()) / _TICK

    def forget_peak(self) -> None:
        """Let `peak_megabytes` begin anew."""
        for process, _ in self._processes():
            with suppress(OSError):
                (process / "clear_refs").write_text("5")

    def peak_megabytes(self) -> float:
        """The most memory that its processes have had resident, added up."""
        return sum(_peak_kilobytes(process) for process, _ in self._processes()) / 1024

    def _processes(self) -> Iterator[tuple[Path, list[str]]]:
        """Its session's processes, each with the fields of its `stat` that follow the name."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # the process ended meanwhile
                continue
            if int(fields[3]) == self.process.pid:
                yield process, fields

    def stop(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                return
            try:
                self.process.wait(STOP_WITHIN)
            except subprocess.TimeoutExpired:
                continue
