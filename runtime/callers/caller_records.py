"""The records that callers stand for: their entity, and which of them are inactive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from crmclient import Call, Guid, Platform, Share, Value
from crmclient.conventions import Users
from crmclient.errors import MissingPrivilege
from crmclient.metadata import Attribute
from crmclient.query.ast import Column, Condition, Filter, Operator, Page, Query

_ABOUT_CALLER = Call(about_caller=True, share=Share.READS)


@dataclass(frozen=True, slots=True)
class CallerRecords:
    """How to read the records of callers in `entity`, whose primary id is the attribute `id`.

    A record no longer counts when its attribute `state` has one of the values in `inactive` or, where these
    are not known, any but `active`. Without a `state`, every record counts.
    """

    entity: str
    id: str
    state: str | None = None
    inactive: frozenset[Value] | None = frozenset()
    active: Value = None

    def is_active(self, row: Mapping[str, Value]) -> bool:
        """Whether the record in `row` counts."""
        if self.state is None:
            return True
        value = row[self.state]
        return value == self.active if self.inactive is None else value not in self.inactive

    def query(self, record: Guid) -> Query:
        """Return the query for one record, with all attributes that `is_active` reads."""
        columns = tuple(Column(name) for name in (self.id, self.state) if name is not None)
        return Query(self.entity, columns, Filter((Condition(self.id, Operator.EQ, (record,)),)))

    def read(
        self, platform: Platform, record: Guid, query: Query | None = None
    ) -> Mapping[str, Value] | None:
        """Read the record of a caller; None when it does not exist. Raises PlatformError.

        `query` replaces the record's own query. It must select all attributes that `is_active` reads.
        """
        rows = platform.query(query or self.query(record), Page(size=1), call=_ABOUT_CALLER).rows
        return rows[0] if rows else None


def records_of_users(users: Users) -> CallerRecords:
    """Return how to read the platform's users, who are inactive when they are disabled."""
    return CallerRecords(users.entity, users.id, users.disabled, frozenset({True}))


def records_in(entity: str, platform: Platform) -> CallerRecords:
    """Return how to read callers' records of an entity that is not the platform's entity of users.

    Raises UnknownEntity.
    """
    attributes = platform.attributes(entity)
    id = platform.entities()[entity].primary_id
    system = platform.conventions.of(entity)
    # Only the options of the status say which states are inactive. Without both attributes every record
    # counts.
    status = attributes.get(system.status or "")
    if system.state not in attributes or status is None:
        return CallerRecords(entity, id)
    inactive = _inactive_states(status, entity, platform)
    return CallerRecords(entity, id, system.state, inactive, system.first_state)


def _inactive_states(status: Attribute, entity: str, platform: Platform) -> frozenset[Value] | None:
    """Return the values of the state for inactive records, as the options of the status say. None where they
    may not be read, and the platform has one state for all that is active.

    Raises MissingPrivilege where they may not be read elsewhere.
    """
    try:
        options = status.options or platform.option_set(status.logical_name, entity=entity)
    except MissingPrivilege:
        if platform.conventions.of(entity).first_state is None:
            raise
        return None
    return frozenset(options.inactive_states)
