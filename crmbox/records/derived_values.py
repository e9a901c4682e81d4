"""Values that follow from others: a full name of first and last name, a state of a status and the reverse.

Every status belongs to one state, so either of them settles the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from crmbox.engine.connection import Unit
from crmbox.engine.dialects.base import DbValue
from crmbox.engine.names import quote
from crmbox.engine.snapshot import StoredColumn, StoredEntity
from crmbox.records.written_values import WrittenValues
from crmclient.errors import UnknownOption
from crmclient.values import Guid

STATE, STATUS = "statecode", "statuscode"


@dataclass(frozen=True, slots=True)
class States:
    """The states of an entity: `default_status` by state, and `state_of` by status.

    A new record is in the state `first`; `initial` are the values of its columns then.
    """

    first: int
    default_status: dict[int, int]
    state_of: dict[int, int]
    initial: dict[str, DbValue]


def settle_state(written: WrittenValues, *, creating: bool) -> None:
    """Set both state and status where the caller gave one of them; when creating without either, to the
    defaults.

    Adds a problem when the two are given and do not belong together.
    """
    states = _states_of(written.stored)
    # An entity has both or none. Where one of them has a problem, the write will be refused anyway.
    if states is None or any(problem.attribute in (STATE, STATUS) for problem in written.problems):
        return
    columns = written.stored.columns
    state = cast("int | None", written.columns.get(columns[STATE].name))
    status = cast("int | None", written.columns.get(columns[STATUS].name))
    if status is not None:
        if state is not None and states.state_of[status] != state:
            written.problems.append(UnknownOption(STATUS, f"{status} is no status of the state {state}."))
        written.set(STATE, states.state_of[status])
    elif state is None and creating:
        written.columns.update(states.initial)
    elif state is not None or written.sets(STATUS):
        # A status that the write clears is the default again.
        state = states.first if state is None else state
        written.set(STATE, state)
        written.set(STATUS, states.default_status[state])


@lru_cache(maxsize=4096)
def _states_of(stored: StoredEntity) -> States | None:
    """Return what `settle_state` needs to know of an entity; None for an entity without state and status.

    A state without a default status takes its first status: every state has one (crmbox/metadata/checks.py).
    """
    state_column, status_column = stored.columns.get(STATE), stored.columns.get(STATUS)
    if state_column is None or status_column is None:
        return None
    state_set, status_set = state_column.attribute.options, status_column.attribute.options
    if not state_set or not status_set:
        return None
    state_of = {option.value: option.state for option in status_set.options if option.state is not None}
    first_status: dict[int, int] = {}
    for value, belongs_to in state_of.items():
        first_status.setdefault(belongs_to, value)
    first = state_set.options[0].value
    default_status = {
        option.value: first_status[option.value] if option.default_status is None else option.default_status
        for option in state_set.options
    }
    initial = {
        state_column.name: state_column.codec.encode(first),
        status_column.name: status_column.codec.encode(default_status[first]),
    }
    return States(first, default_status, state_of, initial)


def changes_joined_values(written: WrittenValues) -> bool:
    """Whether the write changes a part of a joined value."""
    return any(
        written.sets(part)
        for column in _joined_columns(written.stored)
        for part in column.definition.joined_from
    )


def set_joined_values(unit: Unit, written: WrittenValues, record: Guid | None) -> None:
    """Set every joined value of which the write changes a part, such as a full name.

    Parts that the write does not change are read from `record`; None: the record is new.
    """
    for column in _joined_columns(written.stored):
        parts = [written.stored.columns[name] for name in column.definition.joined_from]
        if not any(part.name in written.columns for part in parts):
            continue
        values = {part.name: written.columns.get(part.name) for part in parts}
        missing = [part for part in parts if part.name not in written.columns]
        if missing and record is not None:
            values.update(_stored_values(unit, written.stored, missing, record))
        # In the order of the parts; empty parts are left out, and no parts make an empty value.
        text = " ".join(str(value) for value in values.values() if value)
        written.set(column.attribute.logical_name, text[: column.attribute.max_length] or None)


def _stored_values(
    unit: Unit, stored: StoredEntity, columns: list[StoredColumn], record: Guid
) -> dict[str, str | None]:
    """Return the present values of text columns of a record, by column name; nothing for a missing record."""
    listed = ", ".join(quote(column.name) for column in columns)
    rows = unit.rows(
        f"SELECT {listed} FROM {quote(stored.table)} "
        f"WHERE {quote(stored.id_column.name)} = {unit.dialect.placeholder}",
        (record,),
    )
    return {column.name: value for row in rows for column, value in zip(columns, row, strict=True)}


@lru_cache(maxsize=4096)
def _joined_columns(stored: StoredEntity) -> tuple[StoredColumn, ...]:
    return tuple(column for column in stored.columns.values() if column.definition.joined_from)
