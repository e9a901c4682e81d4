"""Creating a record."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import lru_cache

from crmclient.embedded.connection import WriteUnit
from crmclient.embedded.dialects.base import DbValue
from crmclient.embedded.encoding import encode_guid
from crmclient.embedded.failures import NotUnique
from crmclient.embedded.records.joined import join
from crmclient.embedded.records.pointing import OWNER, look_up
from crmclient.embedded.records.statements import duplicate, insert_sql
from crmclient.embedded.records.states import settle
from crmclient.embedded.records.written import Written
from crmclient.embedded.snapshot import StoredColumn, StoredEntity
from crmclient.embedded.system import SERVICE_USER
from crmclient.errors import InvalidRecord, WrongType
from crmclient.values import Guid, Reference, Stored, Values


@dataclass(frozen=True, slots=True)
class _Rules:
    required: tuple[StoredColumn, ...]
    defaults: tuple[tuple[str, DbValue], ...]
    is_owned: bool


def create(
    unit: WriteUnit, entity: str, values: Values, *, id: Guid | None = None, caller: Guid | None = None
) -> Stored:
    """Insert one record, made by `caller` or else by the service. Raises as `Platform.create`."""
    stored = unit.snapshot.entity(entity)
    rules = _rules_of(stored)
    written = Written(unit.snapshot, stored)
    written.take(values, creating=True)
    record = _choose_id(written, id)
    for column, default in rules.defaults:
        written.columns.setdefault(column, default)
    settle(written, creating=True)
    join(unit, written, None)
    written.require(rules.required)
    actor = Reference("systemuser", caller or SERVICE_USER)
    _fill_in(unit, written, actor)
    look_up(unit, written, caller, _owner(written, actor) if rules.is_owned else None)
    written.finish()
    try:
        sql = insert_sql(stored, tuple(written.columns), unit.dialect.placeholder)
        unit.execute(sql, tuple(written.columns.values()))
    except NotUnique as error:
        raise duplicate(stored, error) from error
    return Stored(record, str(unit.version))


def _choose_id(written: Written, id: Guid | None) -> Guid:
    """The id that the caller chose, as an argument or among the values, or a new one."""
    column = written.stored.id_column
    among_values = written.columns.get(column.name)
    if id is not None:
        try:
            chosen = encode_guid(id)
        except TypeError as error:
            problem = WrongType(column.attribute.logical_name, f"{error}.")
            raise InvalidRecord(written.stored.entity.logical_name, [problem]) from None
        if among_values not in (None, chosen):
            written.problems.append(WrongType(column.attribute.logical_name, "Another id was chosen too."))
    else:
        chosen = str(among_values) if among_values is not None else str(uuid.uuid4())
    written.columns[column.name] = chosen
    return chosen


def _fill_in(unit: WriteUnit, written: Written, actor: Reference) -> None:
    overridden = written.stored.columns.get("overriddencreatedon")
    created = written.columns.get(overridden.name) if overridden is not None else None
    written.stamp(("createdon", "modifiedon"), unit.now)
    if created is not None:
        written.columns[written.stored.columns["createdon"].name] = created
    written.stamp(("createdby", "modifiedby"), actor)
    written.set("versionnumber", unit.version)


def _owner(written: Written, actor: Reference) -> Reference:
    """The owner that was given, else whoever makes the record."""
    for item in written.pointed:
        if item.attribute == OWNER:
            return Reference(item.entity, item.id)
    if not any(problem.attribute == OWNER for problem in written.problems):
        written.set(OWNER, actor)
    return actor


@lru_cache(maxsize=4096)
def _rules_of(stored: StoredEntity) -> _Rules:
    columns = stored.columns.values()
    return _Rules(
        required=tuple(column for column in columns if column.attribute.is_required),
        defaults=tuple(
            (column.name, column.codec.encode(column.definition.default))
            for column in columns
            if column.definition.default is not None
        ),
        is_owned=OWNER in stored.columns,
    )
