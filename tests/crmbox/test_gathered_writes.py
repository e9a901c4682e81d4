"""Writes of several threads in one transaction: what each of them is told of a batch that fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from crmbox.engine.dialects.base import Row
from crmbox.engine.gathered_writes import GroupCommit, Write
from crmclient.errors import AnswerLost, RecordNotFound


def _outcomes_of_failing_batch(error: BaseException) -> list[BaseException | None]:
    """Return how four writes end that wait for a fifth, and whose batch then ends with `error`."""
    group_commit, first_may_end = GroupCommit(), threading.Event()

    def write_first() -> list[Row]:
        assert first_may_end.wait(10)
        return []

    def together(batch: Sequence[Write]) -> list[list[Row]]:
        assert len(batch) == 4
        raise error

    def write() -> list[Row]:
        return group_commit.write(Write("", "", ()), lambda: [("alone",)], together)

    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(group_commit.write, Write("", "", ()), write_first, together)
        waiting: list[Future[list[Row]]] = [pool.submit(write) for _ in range(4)]
        # Well before the writers lose patience, and long after they have come.
        time.sleep(0.3)
        first_may_end.set()
        assert first.result(10) == []
        return [future.exception(10) for future in waiting]


def test_the_error_of_a_batch_is_that_of_each_write() -> None:
    outcomes = _outcomes_of_failing_batch(RecordNotFound("account", "7"))
    assert {type(outcome) for outcome in outcomes} == {RecordNotFound}
    assert {str(outcome) for outcome in outcomes} == {"There is no account with id 7."}
    assert {getattr(outcome, "id", None) for outcome in outcomes} == {"7"}
    assert len({id(outcome) for outcome in outcomes}) == 4


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_what_ends_the_thread_of_a_batch_does_not_end_the_others(error: BaseException) -> None:
    outcomes = _outcomes_of_failing_batch(error)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == sorted(
        [AnswerLost.__name__] * 3 + [type(error).__name__]
    )
