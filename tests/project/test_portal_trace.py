"""The bench's trace of a portal, and what is reckoned from it."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.portal import world
from bench.portal.judging import periods
from bench.portal.play import Outcome, latest_shown
from bench.portal.trace import FILE, KINDS, Step, generate, sessions


def test_the_trace_is_what_its_seed_gives_in_fixed_parts() -> None:
    assert FILE.read_text(encoding="ascii") == generate()
    kinds = Counter(step.letter for session in sessions() for step in session)
    for letter, kind in KINDS.items():
        assert kinds[letter] / kinds.total() * 100 == pytest.approx(kind.percent)


def outcome(text: str, at: float, caller: int = 0) -> Outcome:
    return Outcome(Step(text), caller, at, at, at, 200)


def test_a_call_cannot_be_spared_when_the_time_is_over_or_a_write_has_ended_the_answer() -> None:
    articles = [outcome("L", at, caller) for caller, at in enumerate((0, 5, 9, 11, 20.5))]
    assert [period.requests for period in periods(articles, 10)] == [3, 2]
    cases = [outcome("M", 1), outcome("M", 2), outcome("U", 3), outcome("M", 4), outcome("L", 5)]
    counts = Counter(period.key[0] for period in periods(cases, 10))
    assert counts == {"caller": 1, "M": 2, "U": 1, "L": 1}


def test_of_several_cases_that_a_caller_has_reported_the_latest_is_looked_for() -> None:
    """They have one number together. The earlier one, further down, is no state before the latest report."""
    page = " ".join(
        world.case_title(7, number, at) for number, at in ((world.NEW, 5), (world.NEW, 3), (0, 2))
    )
    assert latest_shown(page.encode(), is_first=True) == {world.NEW: 5, 0: 2}
    assert latest_shown(page.encode(), is_first=False) == {0: 2}
