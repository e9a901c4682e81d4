"""How many calls work at once, who waits, and who is sent away."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crmbox.engine.bulkhead import Bulkhead
from crmclient.errors import Unavailable

LONG = 60.0


@contextmanager
def held(bulkhead: Bulkhead, count: int) -> Iterator[None]:
    """So many places are taken by other threads."""
    end = threading.Event()
    inside = threading.Semaphore(0)

    def work() -> None:
        with bulkhead.place(None):
            inside.release()
            end.wait(LONG)

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert inside.acquire(timeout=LONG)
    try:
        yield
    finally:
        end.set()
        for thread in threads:
            thread.join()


def test_whoever_finds_a_place_waits_for_nobody() -> None:
    bulkhead = Bulkhead(2, 0)
    with held(bulkhead, 1), bulkhead.place(time.monotonic()):
        pass


def test_a_thread_that_has_a_place_needs_no_other() -> None:
    bulkhead = Bulkhead(1, 0)
    with bulkhead.place(None), bulkhead.place(None):
        pass
    with held(bulkhead, 1):
        pass


def test_places_are_given_back_by_calls_that_fail() -> None:
    bulkhead = Bulkhead(1, 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), bulkhead.place(None):
            raise ZeroDivisionError
    with held(bulkhead, 1):
        pass


def test_a_call_in_the_queue_takes_the_place_that_comes_free() -> None:
    bulkhead = Bulkhead(1, 1)
    came = threading.Event()

    def wait() -> None:
        with bulkhead.place(None):
            came.set()

    with held(bulkhead, 1):
        waiter = threading.Thread(target=wait)
        waiter.start()
        while not bulkhead._waiting:
            time.sleep(0.001)
    assert came.wait(LONG)
    waiter.join()


def test_a_call_in_the_queue_is_sent_away_at_its_deadline() -> None:
    bulkhead = Bulkhead(1, 1)
    with (
        held(bulkhead, 1),
        pytest.raises(Unavailable, match="Too many") as raised,
        bulkhead.place(time.monotonic() + 0.05),
    ):
        pass
    assert raised.value.retry_after == 1


def test_whoever_finds_the_queue_full_and_nothing_moving_is_sent_away_at_once() -> None:
    bulkhead = Bulkhead(2, 0)
    with held(bulkhead, 2):
        began = time.monotonic()
        for _ in range(1000):
            with pytest.raises(Unavailable), bulkhead.place(None):
                pass
        # Only the first had to find out that nothing moves, for a quarter of a second.
        assert time.monotonic() - began < 1000 / 4


def test_many_quick_calls_are_all_served() -> None:
    bulkhead = Bulkhead(2, 1)
    refused = []

    def work() -> None:
        for _ in range(200):
            try:
                with bulkhead.place(None):
                    pass
            except Unavailable as error:
                refused.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == []
