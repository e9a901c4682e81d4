"""Records that a write points at must exist; the owner's business unit is found on the way."""

from __future__ import annotations

from functools import lru_cache

from crmclient.embedded.connection import Unit
from crmclient.embedded.names import quote
from crmclient.embedded.records.callers import refuse_unless
from crmclient.embedded.records.written import Pointed, Written
from crmclient.embedded.snapshot import Snapshot
from crmclient.errors import UnknownTarget
from crmclient.values import Guid, Reference

OWNER, BUSINESS_UNIT = "ownerid", "owningbusinessunit"


def look_up(unit: Unit, written: Written, caller: Guid | None, owner: Reference | None) -> None:
    """One statement that finds which of `written.pointed` exist, whether `caller` may act, and where
    `owner` belongs.

    Adds a problem for each record that is missing, and sets the owning business unit. Raises AccessDenied
    when `caller` is no enabled user.
    """
    pointed = written.pointed
    if not pointed and caller is None and owner is None:
        return
    entities = tuple(item.entity for item in pointed)
    sql = _statement(unit.snapshot, entities, caller is not None, owner.entity if owner else None)
    parameters = [item.id for item in pointed]
    parameters += [caller] if caller is not None else []
    parameters += [owner.id] if owner is not None else []
    [found] = unit.rows(sql, parameters)
    written.problems.extend(
        _missing(item) for item, exists in zip(pointed, found, strict=False) if not exists
    )
    if caller is not None:
        refuse_unless(found[len(pointed)], caller)
    if owner is not None:
        unit_id = found[-1]
        written.set(BUSINESS_UNIT, None if unit_id is None else Reference("businessunit", unit_id))


def _missing(item: Pointed) -> UnknownTarget:
    return UnknownTarget(item.attribute, f"There is no {item.entity} with id {item.id}.")


@lru_cache(maxsize=1024)
def _statement(snapshot: Snapshot, entities: tuple[str, ...], caller: bool, owner: str | None) -> str:
    mark = snapshot.dialect.placeholder
    parts = [f"EXISTS (SELECT 1 {_with_id(snapshot, entity, mark)})" for entity in entities]
    if caller:
        disabled = quote(snapshot.entity("systemuser").columns["isdisabled"].name)
        parts.append(f"EXISTS (SELECT 1 {_with_id(snapshot, 'systemuser', mark)} AND {disabled} IS NOT TRUE)")
    if owner is not None:
        business_unit = quote(snapshot.entity(owner).columns["businessunitid"].name)
        parts.append(f"(SELECT {business_unit} {_with_id(snapshot, owner, mark)})")
    return "SELECT " + ", ".join(parts)


def _with_id(snapshot: Snapshot, entity: str, mark: str) -> str:
    stored = snapshot.entity(entity)
    return f"FROM {quote(stored.table)} WHERE {quote(stored.id_column.name)} = {mark}"
