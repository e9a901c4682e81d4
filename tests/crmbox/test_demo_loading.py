"""Loading the demo: told as it goes, and all of it or nothing."""

from __future__ import annotations

import pytest

from crmbox.demo.load import is_wanted, load

pytestmark = pytest.mark.django_db


class _SwitchedOff(Exception):
    pass


def test_the_progress_goes_up_to_everything() -> None:
    told: list[tuple[str, int, int]] = []
    load(lambda *progress: told.append(progress))
    assert told[0] == ("Entities", 0, 11)
    records = [done for what, done, _ in told if what == "Records"]
    assert records == sorted(records)
    assert told[-1][1] == told[-1][2] > 2_000


def test_a_load_that_is_broken_off_leaves_an_empty_store() -> None:
    def switch_off(what: str, done: int, total: int) -> None:
        if what == "Records" and done > total / 2:
            raise _SwitchedOff

    with pytest.raises(_SwitchedOff):
        load(switch_off)
    assert is_wanted()
    load(lambda *_: None)
    assert not is_wanted()
