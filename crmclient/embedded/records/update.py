"""Updating a record: what is given is written, None clears, nothing is ever created."""

from __future__ import annotations

from crmclient.embedded.connection import WriteUnit
from crmclient.embedded.files.registry import detach_cleared
from crmclient.embedded.records.joined import join
from crmclient.embedded.records.pointing import OWNER, look_up
from crmclient.embedded.records.states import settle
from crmclient.embedded.records.storing import record_id, store
from crmclient.embedded.records.written import Written
from crmclient.values import Guid, Reference, Stored, Values


def update(
    unit: WriteUnit,
    entity: str,
    id: Guid,
    values: Values,
    *,
    if_version: str | None = None,
    caller: Guid | None = None,
) -> Stored:
    """Write `values` on behalf of `caller` or else the service. Raises as `Platform.update`."""
    stored = unit.snapshot.entity(entity)
    record = record_id(stored, id)
    written = Written(unit.snapshot, stored)
    written.take(values, creating=False)
    settle(written, creating=False)
    join(unit, written, record)
    written.require(
        column
        for name in values
        if (column := stored.columns.get(name)) is not None and column.attribute.is_required
    )
    owner = next(
        (Reference(item.entity, item.id) for item in written.pointed if item.attribute == OWNER), None
    )
    look_up(unit, written, caller, owner)
    written.finish()
    store(unit, written, record, if_version=if_version, caller=caller)
    detach_cleared(unit, stored, written.columns, record)
    return Stored(record, str(unit.version))
