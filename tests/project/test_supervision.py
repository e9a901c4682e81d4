"""Workers that are killed come back, always; a signal ends the server at any time, with all its processes."""

from __future__ import annotations

import operator
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.heap import Heap
from pathlib import Path

import pytest
import requests

from project.server.heartbeats import STARTS_WITHIN, Heartbeats, shared_counts
from project.server.supervisor import Restarts
from project.server.worker_threads import ThreadPool
from tests.processes import descendants, lives
from tests.servers import ANSWER_SECONDS, COMMAND_SECONDS, ROOT, START_SECONDS, Server, Site, free_port, until


class _Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_pauses_between_restarts_grow_to_half_a_minute_and_begin_anew_after_a_good_start() -> None:
    clock = _Clock()
    restarts = Restarts(clock)
    pauses = []
    for _ in range(10):
        pauses.append(restarts.ended(0))
        clock.now += pauses[-1]
        assert restarts.take_due() == [0]
        clock.now += 1
    assert pauses == [0, 0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    clock.now += 3600
    assert restarts.ended(0) == 0


def test_a_worker_that_waits_for_its_restart_keeps_no_other_from_it() -> None:
    clock = _Clock()
    restarts = Restarts(clock)
    for _ in range(3):
        clock.now += restarts.ended(0)
        restarts.take_due()
    assert restarts.ended(0) == 2
    assert restarts.ended(1) == 0
    assert restarts.take_due() == [1]
    clock.now += 2
    assert restarts.take_due() == [0]


def test_a_worker_that_gives_no_sign_is_told_once_and_a_busy_one_never() -> None:
    clock, counts = _Clock(), shared_counts(2)
    heartbeats = Heartbeats(counts, 60, clock)
    told = []
    for worker in (0, 1):
        heartbeats.starts(worker)
    for second in range(200):
        clock.now += 1
        counts[0] += 1
        counts[1] += second < 30
        told += [(second, worker) for worker in heartbeats.silent()]
    assert told == [(90, 1)]
    heartbeats.starts(1)
    assert counts[1] == 0


def test_a_start_may_take_longer_than_an_answer_and_not_for_ever() -> None:
    clock = _Clock()
    heartbeats = Heartbeats(shared_counts(1), 60, clock)
    heartbeats.starts(0)
    silent_after = 0
    while not heartbeats.silent():
        clock.now += 1
        silent_after += 1
    assert silent_after == STARTS_WITHIN + 1


def test_a_machine_that_was_suspended_does_not_blame_its_workers() -> None:
    clock, counts = _Clock(), shared_counts(1)
    heartbeats = Heartbeats(counts, 60, clock)
    heartbeats.starts(0)
    counts[0] = 1
    assert heartbeats.silent() == []
    clock.now += 3600
    assert heartbeats.silent() == []


def test_workers_share_their_counts_where_there_is_no_folder_for_shared_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("multiprocessing.heap.Arena._dir_candidates", ["/nowhere"])
    monkeypatch.setattr("multiprocessing.heap.BufferWrapper._heap", Heap())
    counts = shared_counts(2, "fork")
    worker = get_context("fork").Process(target=operator.setitem, args=(counts, 1, 7))
    worker.start()
    worker.join(START_SECONDS)
    assert list(counts) == [0, 7]


def test_nobody_is_missed_where_that_is_switched_off() -> None:
    clock = _Clock()
    heartbeats = Heartbeats(shared_counts(1), 0, clock)
    heartbeats.starts(0)
    clock.now += 4
    assert heartbeats.silent() == []


def test_a_sign_of_life_goes_before_all_that_waits_and_not_past_threads_that_hang() -> None:
    thread_pool, release, done = ThreadPool(1), threading.Event(), threading.Event()
    order: list[str] = []
    thread_pool.put(lambda: order.append("hangs") or release.wait(START_SECONDS))  # type: ignore[func-returns-value,arg-type]
    thread_pool.put(lambda: order.append("waits"))
    thread_pool.put_first(lambda: order.append("sign"))
    thread_pool.put(done.set)
    assert "sign" not in order
    release.set()
    assert done.wait(START_SECONDS)
    assert order == ["hangs", "sign", "waits"]


class _Request:
    def answer(self) -> None:
        """Stands for a job that holds a request."""


def test_an_idle_thread_keeps_nothing_of_its_last_request() -> None:
    thread_pool, request, heavy_request = ThreadPool(1, most_heavy=1), _Request(), _Request()
    kept = weakref.ref(request)
    kept_heavy = weakref.ref(heavy_request)
    thread_pool.put(request.answer)
    del request
    until(lambda: kept() is None)
    thread_pool.put_heavy(heavy_request.answer)
    del heavy_request
    until(lambda: kept_heavy() is None)


def test_heavy_jobs_leave_threads_for_the_others_and_are_all_done_also_where_one_fails() -> None:
    thread_pool, release, light = ThreadPool(3, most_heavy=2), threading.Event(), threading.Event()
    begun, done = threading.Semaphore(0), threading.Semaphore(0)

    def heavy(*, fails: bool) -> None:
        begun.release()
        release.wait(START_SECONDS)
        done.release()
        if fails:
            raise ValueError

    for number in range(6):
        thread_pool.put_heavy(partial(heavy, fails=number % 2 == 1))
    for _ in range(2):
        assert begun.acquire(timeout=START_SECONDS)
    thread_pool.put(light.set)

    assert light.wait(START_SECONDS)
    assert (thread_pool.busy >= 2, thread_pool.waiting, begun.acquire(blocking=False)) == (True, 4, False)
    release.set()
    for _ in range(6):
        assert done.acquire(timeout=START_SECONDS)


@pytest.mark.processes
def test_a_worker_that_does_not_answer_is_replaced(site: Site) -> None:
    server = site.start(WORKERS="2", WORKER_PATIENCE="10", REQUEST_DEADLINE="5")
    first = _workers(server, 2)
    os.kill(first[0], signal.SIGSTOP)
    give_up = time.monotonic() + START_SECONDS
    while lives(first[0]):
        assert time.monotonic() < give_up, server.output()
        time.sleep(0.1)
    _until_another_answers(server, first[0])
    assert "does not answer and is ended" in server.output()
    assert server.process.poll() is None


@pytest.mark.processes
def test_a_worker_killed_again_and_again_comes_back(site: Site) -> None:
    server = site.start()
    for _ in range(4):
        (worker,) = _workers(server)
        os.kill(worker, signal.SIGKILL)
        _until_another_answers(server, worker)
    assert server.process.poll() is None


@pytest.mark.processes
def test_a_worker_killed_while_it_starts_comes_back(site: Site) -> None:
    server = site.start()
    killed: set[int] = set()
    give_up = time.monotonic() + START_SECONDS
    while len(killed) < 4:
        assert time.monotonic() < give_up, server.output()
        for worker in descendants(server.process.pid):
            if worker not in killed:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
                killed.add(worker)
    _until_another_answers(server, max(killed))


@pytest.mark.processes
def test_all_workers_come_back(site: Site) -> None:
    server = site.start(WORKERS="2")
    first = _workers(server, 2)
    for worker in first:
        os.kill(worker, signal.SIGKILL)
    give_up = time.monotonic() + START_SECONDS
    while len([pid for pid in descendants(server.process.pid) if pid not in first]) < 2:
        assert time.monotonic() < give_up, server.output()
        time.sleep(0.05)
    _until_another_answers(server, *first)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("sign", "moment"),
    [
        (signal.SIGTERM, "at once"),
        (signal.SIGTERM, "with a worker"),
        (signal.SIGINT, "with a worker"),
        (signal.SIGTERM, "while a worker starts again"),
    ],
)
def test_a_signal_during_the_start_ends_it_promptly(site: Site, sign: signal.Signals, moment: str) -> None:
    port = free_port()
    log = Path(site.environment["DATA_DIR"]) / "start.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve"],
            cwd=ROOT,
            env={**site.environment, "PORT": str(port), "WORKERS": "2"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(f"http://127.0.0.1:{port}", process, log)
    site.servers.append(server)
    if moment != "at once":
        _workers(server, 2)
    if moment == "while a worker starts again":
        first = _workers(server, 2)
        os.kill(first[0], signal.SIGKILL)
        while not set(descendants(process.pid)) - set(first):
            time.sleep(0.01)
    started = descendants(process.pid)
    process.send_signal(sign)
    process.wait(ANSWER_SECONDS)
    until(lambda: not any(lives(pid) for pid in started))
    # A worker that has heard nothing is killed at the end of the grace period, and that is told.
    assert "Killing" not in server.output()
    if moment != "at once":
        assert process.returncode == 0, server.output()
        assert "Traceback" not in server.output()


_A_SUPERVISOR = """
import signal, time
from multiprocessing import get_context
from types import MethodType, SimpleNamespace
from project.server import worker

def note(supervisor, *_):
    supervisor.interrupt_signal = True

def work():
    worker.listen_for_signals()
    time.sleep(600)

worker.lose_no_signal_at_the_fork()
signal.signal(signal.SIGTERM, MethodType(note, SimpleNamespace(interrupt_signal=False)))
workers = [get_context("fork").Process(target=work) for _ in range(20)]
for each in workers:
    each.start()
    each.terminate()
for each in workers:
    each.join(10)
print(sorted({each.exitcode for each in workers}, key=str))
for each in workers:
    each.kill()
"""


def test_a_worker_hears_the_signal_that_comes_before_its_first_line() -> None:
    command = [sys.executable, "-c", _A_SUPERVISOR]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=COMMAND_SECONDS)
    assert said.stdout.strip() in {"[0]", "[-15, 0]", "[-15]"}, said


@pytest.mark.processes
def test_workers_end_with_a_supervisor_that_is_killed(site: Site) -> None:
    server = site.start(WORKERS="2")
    workers = _workers(server, 2)
    server.process.kill()
    server.process.wait(ANSWER_SECONDS)
    until(lambda: not any(lives(pid) for pid in workers))


@pytest.mark.processes
def test_the_server_says_that_it_listens_when_it_answers(site: Site) -> None:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env={**site.environment, "PORT": str(port)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    site.servers.append(Server(f"http://127.0.0.1:{port}", process, Path(os.devnull)))
    for line in process.stdout:
        if b"Portico listens on" in line:
            break
    assert requests.get(f"http://127.0.0.1:{port}/health/live", timeout=ANSWER_SECONDS).status_code == 200


def _workers(server: Server, count: int = 1) -> list[int]:
    """Its workers' processes, once there are `count`."""
    give_up = time.monotonic() + START_SECONDS
    while len(pids := descendants(server.process.pid)) < count:
        assert time.monotonic() < give_up, server.output()
        assert server.process.poll() is None, server.output()
        time.sleep(0.01)
    return pids[:count]


def _until_another_answers(server: Server, *ended: int) -> None:
    give_up = time.monotonic() + START_SECONDS
    while any(lives(pid) for pid in ended):
        assert time.monotonic() < give_up
        time.sleep(0.01)
    while True:
        assert time.monotonic() < give_up, server.output()
        assert server.process.poll() is None, server.output()
        with suppress(requests.ConnectionError, requests.Timeout):
            if requests.get(f"{server.url}/health/ready", timeout=2).status_code == 200:
                return
        time.sleep(0.05)
