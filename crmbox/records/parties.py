"""The parties of activities. They are records of one entity, which are written and read with the activity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from crmbox.engine.connection import Unit, WriteUnit
from crmbox.engine.names import quote
from crmbox.engine.queries import run
from crmbox.engine.snapshot import StoredEntity
from crmbox.records import deletions
from crmbox.records.statements import VERSION, delete_sql, insert_sql
from crmbox.records.written_values import WrittenValues
from crmclient.parties import ACTIVITY, ADDRESS, PART, PART_NUMBERS, PARTY, PARTY_ID, RECORD, parts_of
from crmclient.query.ast import ALL, Column, Condition, Filter, Operator, Order, Query
from crmclient.values import Guid, Party, Reference, new_guid

_MOST_IN_CONDITION: Final = 1000
"""The most activities that one condition names."""


def write_parties(
    unit: WriteUnit, activity: StoredEntity, record: Guid, lists: Mapping[str, Sequence[Party]]
) -> None:
    """Write the parties of a new activity."""
    for name, parties in lists.items():
        for party in parties:
            _insert(unit, Reference(activity.entity.logical_name, record), PART_NUMBERS[name], party)


def replace_parties(
    unit: WriteUnit, activity: StoredEntity, record: Guid, lists: Mapping[str, Sequence[Party]]
) -> None:
    """Replace the parties of each of `lists`. Other lists of the activity stay."""
    if not lists:
        return
    stored, placeholder = unit.snapshot.entity(PARTY), unit.dialect.placeholder
    id_column, columns = quote(stored.id_column.name), stored.columns
    numbers = ", ".join(str(PART_NUMBERS[name]) for name in lists)
    rows = unit.rows(
        f"SELECT {id_column} FROM {quote(stored.table)} "
        f"WHERE {quote(columns[ACTIVITY].name)} = {placeholder} "
        f"AND {quote(columns[PART].name)} IN ({numbers})",
        (record,),
    )
    # Each deletion is noted, because parties are records whose changes can be asked for.
    for [id] in rows:
        unit.execute(delete_sql(stored, placeholder), (id,))
        deletions.note(unit, stored, id)
    write_parties(unit, activity, record, lists)


def parties_of(
    unit: Unit, activity: str, records: Sequence[Guid], lists: Sequence[str]
) -> dict[tuple[Guid, str], tuple[Party, ...]]:
    """Return the parties of activities of one entity, by the activity's id and the list's name, as written.

    An activity without parties in a list has no key for it. The query is split, because a list of values in a
    condition has a limit.
    """
    attributes = unit.snapshot.entity(activity).party_lists
    names_by_number = {number: name for name, number in parts_of(attributes[name] for name in lists).items()}
    parties_by_list: dict[tuple[Guid, str], list[Party]] = defaultdict(list)
    for start in range(0, len(records), _MOST_IN_CONDITION):
        query = Query(
            PARTY,
            tuple(map(Column, (ACTIVITY, PART, RECORD, ADDRESS))),
            Filter(
                (
                    Condition(ACTIVITY, Operator.IN, tuple(records[start : start + _MOST_IN_CONDITION])),
                    Condition(PART, Operator.IN, tuple(names_by_number)),
                )
            ),
            orders=(Order(PARTY_ID),),
        )
        for row in run(unit, query, ALL).rows:
            activity_record, record, address = row[ACTIVITY], row[RECORD], row[ADDRESS]
            # A party whose record was deleted, and that has no address, is nobody.
            if isinstance(activity_record, Reference) and (record is not None or address is not None):
                party = Party(
                    record if isinstance(record, Reference) else None, str(address) if address else None
                )
                parties_by_list[activity_record.id, names_by_number[int(str(row[PART]))]].append(party)
    return {key: tuple(parties) for key, parties in parties_by_list.items()}


def _insert(unit: WriteUnit, activity: Reference, part: int, party: Party) -> None:
    """Write the record of one party of an activity. `part` is the number of its party list, such as *to*."""
    stored = unit.snapshot.entity(PARTY)
    written = WrittenValues(unit.snapshot, stored)
    written.set(PARTY_ID, new_guid())
    written.set(ACTIVITY, activity)
    written.set(PART, part)
    written.set(RECORD, party.reference)
    written.set(ADDRESS, party.address)
    written.set(VERSION, unit.version)
    sql = insert_sql(stored, tuple(written.columns), unit.dialect.placeholder)
    unit.execute(sql, tuple(written.columns.values()))
