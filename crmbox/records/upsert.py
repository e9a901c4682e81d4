"""Writing a record by its alternate key: it is updated, or created where there is none."""

from __future__ import annotations

from functools import lru_cache

from crmbox.engine.connection import WriteUnit
from crmbox.engine.dialects.base import DbValue
from crmbox.engine.names import quote
from crmbox.engine.snapshot import StoredEntity
from crmbox.records.create import create
from crmbox.records.update import update
from crmclient.alternate_keys import checked_key, unknown_record
from crmclient.errors import DuplicateKey, InvalidRecord, InvalidValue
from crmclient.limits import wrong_value
from crmclient.values import Guid, Upserted, Values


def upsert(
    unit: WriteUnit,
    entity: str,
    key: Values,
    values: Values,
    *,
    exists: bool | None = None,
    if_version: str | None = None,
    caller: Guid | None = None,
) -> Upserted:
    """Write a record by its key on behalf of `caller`, or else of the service. Raises the errors of
    `Platform.upsert`.

    `exists`: True, the record must exist; False, it must not; None, it is created where it does not exist.
    A writer holds the lock of the version, so nobody creates the record between the query and the write.
    """
    stored = unit.snapshot.entity(entity)
    must_exist = exists is True or if_version is not None
    alternate_key = checked_key(
        stored.entity,
        stored.attributes,
        key,
        values,
        may_create=not must_exist,
        may_update=exists is not False,
    )
    names = tuple(key)
    rows = unit.rows(_find_sql(stored, names, unit.dialect.placeholder), _encoded_key(stored, key))
    if not rows:
        if must_exist:
            raise unknown_record(stored.entity, key)
        created = create(unit, entity, {**key, **values}, caller=caller)
        return Upserted(created.id, created.version, created=True)
    if exists is False:
        raise DuplicateKey(entity, alternate_key.name)
    changed = update(unit, entity, str(rows[0][0]), values, if_version=if_version, caller=caller)
    return Upserted(changed.id, changed.version, created=False)


def _encoded_key(stored: StoredEntity, key: Values) -> list[DbValue]:
    """Return the key as it is compared. Raises InvalidRecord for a value that no record can have."""
    db_values: list[DbValue] = []
    problems: list[InvalidValue] = []
    for name, value in key.items():
        try:
            db_values.append(stored.columns[name].encode_key(value))
        except (TypeError, ValueError) as error:
            problems.append(wrong_value(name, error))
    if problems:
        raise InvalidRecord(stored.entity.logical_name, problems)
    return db_values


@lru_cache(maxsize=1024)
def _find_sql(stored: StoredEntity, names: tuple[str, ...], placeholder: str) -> str:
    """Return a select of the id of the record with a key, whose values are the parameters, as in `names`."""
    same = " AND ".join(f"{quote(stored.columns[name].comparable)} = {placeholder}" for name in names)
    return f"SELECT {quote(stored.id_column.name)} FROM {quote(stored.table)} WHERE {same}"
