"""Physical names suit both databases, whatever the logical ones are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmbox.engine.names import check_logical, physical
from crmclient.errors import InvalidDefinition

LOGICAL = st.from_regex(r"[a-z_][a-z0-9_]{0,127}", fullmatch=True)


def test_a_plain_name_stays() -> None:
    assert physical("telephone1", set()) == "telephone1"


@given(st.lists(LOGICAL, unique=True, max_size=20))
def test_names_are_short_enough_and_never_the_same(logical: list[str]) -> None:
    taken: set[str] = set()
    for name in logical:
        taken.add(physical(name, taken))
        taken.add(physical(name, taken, suffix="__k"))

    assert len(taken) == 2 * len(logical)
    assert all(len(name.encode()) <= 63 for name in taken)


@pytest.mark.parametrize("name", ["xmin", "ctid", "rowid", "oid", "name__k", "name__t"])
def test_names_that_a_database_keeps_for_itself_are_avoided(name: str) -> None:
    assert physical(name, set()) != name


@pytest.mark.parametrize("name", ["", "1st", "Name", 'a"b', "a b", "naïve", "a" * 129])
def test_what_is_no_logical_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidDefinition):
        check_logical(name)
