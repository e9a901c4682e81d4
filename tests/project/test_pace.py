"""What a client must keep to while a body is on its way."""

from __future__ import annotations

import asyncio

import pytest

from project.server.pace import Limits, Pace, TooSlow


async def _transfer(limits: Limits, *, pieces: int, size: int, every: float) -> int:
    """How many of the pieces moved, of `size` bytes each, `every` so many seconds."""
    moved = 0
    try:
        with Pace(limits) as pace:
            for _ in range(pieces):
                await asyncio.sleep(every)
                pace.moved(size)
                moved += 1
    except TooSlow:
        return moved
    return moved


def test_who_moves_nothing_is_too_slow() -> None:
    assert asyncio.run(_transfer(Limits(0.2, 0, 60), pieces=1, size=1, every=30)) == 0


def test_who_keeps_the_rate_may_take_many_periods() -> None:
    assert asyncio.run(_transfer(Limits(2, 1, 600), pieces=50, size=100, every=0.1)) == 50


def test_who_moves_less_than_the_rate_is_too_slow() -> None:
    assert asyncio.run(_transfer(Limits(0.5, 1_000_000, 60), pieces=10_000, size=1, every=0.01)) < 10_000


def test_nobody_passes_the_deadline() -> None:
    assert asyncio.run(_transfer(Limits(60, 0, 0.5), pieces=10_000, size=1_000_000, every=0.01)) < 10_000


def test_the_deadline_holds_where_periods_are_good() -> None:
    assert asyncio.run(_transfer(Limits(0.1, 1, 0.5), pieces=10_000, size=1_000_000, every=0.01)) < 10_000


def test_while_the_client_waits_for_us_its_pace_is_not_judged() -> None:
    async def run() -> None:
        with Pace(Limits(0.1, 1_000_000, 60)) as pace, pace.our_turn():
            await asyncio.sleep(1)

    asyncio.run(run())


def test_what_a_task_is_cancelled_for_otherwise_stays_a_cancellation() -> None:
    async def run() -> None:
        async def wait() -> None:
            with Pace(Limits(60, 0, 60)):
                await asyncio.sleep(60)

        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
