"""What a cursor holds: during an upgrade the release before reads those of this one, and the reverse."""

from __future__ import annotations

import base64
import datetime as dt
import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.http import seals
from runtime.operations.queries.cursor import Position, seal, unseal

BEGAN = dt.datetime(2026, 5, 4, 3, 2, 1, tzinfo=dt.UTC)
PURPOSE, BOUND_TO = b"portico.cursor", "a caller"


@given(st.none() | st.integers(0, 2**30 - 2))
def test_a_cursor_gives_back_what_it_was_made_of(total: int | None) -> None:
    position = Position("a token", BEGAN, total)
    assert unseal(seal(position, BOUND_TO), BOUND_TO) == position


def test_a_total_that_a_cursor_cannot_hold_is_counted_again() -> None:
    assert unseal(seal(Position("a token", BEGAN, 2**40), BOUND_TO), BOUND_TO).total is None


@pytest.mark.parametrize("total", [None, 0, 1_000_000])
def test_release_02_reads_it(total: int | None) -> None:
    text = seal(Position("a token", BEGAN, total), BOUND_TO)
    content = seals.unseal(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), PURPOSE, b"a caller")
    assert content is not None
    # As that release does.
    made, token, began = orjson.loads(content)
    assert time.time() - made <= 24 * 3600
    assert (token, began) == ("a token", BEGAN.timestamp())


def test_a_cursor_of_release_02_is_read() -> None:
    content = orjson.dumps((int(time.time()), "a token", BEGAN.timestamp()))
    sealed = seals.seal(content, PURPOSE, BOUND_TO.encode())
    text = base64.urlsafe_b64encode(sealed).decode().rstrip("=")
    assert unseal(text, BOUND_TO) == Position("a token", BEGAN, None)
