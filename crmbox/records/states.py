"""State and status: every status belongs to one state, so either of them settles the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from crmbox.engine.snapshot import StoredEntity
from crmbox.records.written import Written
from crmclient.errors import UnknownOption

STATE, STATUS = "statecode", "statuscode"


@dataclass(frozen=True, slots=True)
class States:
    """`default_status` by state, `state_of` by status; a new record is in state `first`."""

    first: int
    default_status: dict[int, int]
    state_of: dict[int, int]


def settle(written: Written, *, creating: bool) -> None:
    """Complete state and status from what the caller gave; on create, from the defaults."""
    states = _states_of(written.stored)
    if states is None or any(problem.attribute in (STATE, STATUS) for problem in written.problems):
        return
    columns = written.stored.columns
    state = cast("int | None", written.columns.get(columns[STATE].name))
    status = cast("int | None", written.columns.get(columns[STATUS].name))
    if status is not None:
        if state is not None and states.state_of[status] != state:
            written.problems.append(UnknownOption(STATUS, f"{status} is no status of the state {state}."))
        written.set(STATE, states.state_of[status])
    elif state is not None or creating or written.sets(STATUS):
        state = states.first if state is None else state
        written.set(STATE, state)
        written.set(STATUS, states.default_status[state])


@lru_cache(maxsize=4096)
def _states_of(stored: StoredEntity) -> States | None:
    state, status = stored.columns.get(STATE), stored.columns.get(STATUS)
    if state is None or status is None or not state.attribute.options or not status.attribute.options:
        return None
    state_of = {
        option.value: option.state for option in status.attribute.options.options if option.state is not None
    }
    first_status: dict[int, int] = {}
    for value, belongs_to in state_of.items():
        first_status.setdefault(belongs_to, value)
    options = state.attribute.options.options
    return States(
        options[0].value,
        {
            option.value: first_status[option.value]
            if option.default_status is None
            else option.default_status
            for option in options
        },
        state_of,
    )
