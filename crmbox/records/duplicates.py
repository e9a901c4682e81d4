"""Duplicate detection: what has been written is held against the published rules of its entity."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from enum import IntEnum

from crmbox.engine.connection import WriteUnit
from crmbox.engine.queries import run
from crmbox.records.derived_values import STATE
from crmbox.records.retrieve import retrieve
from crmclient.errors import PossibleDuplicate
from crmclient.platform import Call
from crmclient.query.ast import ALL, Column, Condition, Filter, Operator, Query
from crmclient.values import Guid, Reference, Value


class RuleStatus(IntEnum):
    """`statuscode` of a rule: only a published one is applied."""

    UNPUBLISHED = 0
    PUBLISHING = 1
    PUBLISHED = 2


class Sameness(IntEnum):
    """`operatorcode` of a condition: what of two values has to be the same."""

    WHOLE = 0
    FIRST_CHARACTERS = 1
    LAST_CHARACTERS = 2


Row = Mapping[str, Value]

_RULE, _CONDITION = "duplicaterule", "duplicaterulecondition"
_ACTIVE = 0
_COMPARED = {
    Sameness.WHOLE: Operator.EQ,
    Sameness.FIRST_CHARACTERS: Operator.BEGINS_WITH,
    Sameness.LAST_CHARACTERS: Operator.ENDS_WITH,
}


def refuse_duplicates(
    unit: WriteUnit, entity: str, id: Guid, call: Call, changed: Container[str] | None = None
) -> None:
    """Raises PossibleDuplicate where the record `id`, as it is now, looks like another by a published rule.

    Of an update only rules count that compare something of what has `changed`. A rule is not applied to a
    record that is blank in one of what it compares.
    """
    if not call.refuses_duplicates:
        return
    for rule in _rows(unit, _RULE, _of_entity(entity), ("matchingentityname", "excludeinactiverecords")):
        of_rule = (Condition("regardingobjectid", Operator.EQ, (str(rule["duplicateruleid"]),)),)
        conditions = _rows(
            unit,
            _CONDITION,
            of_rule,
            ("baseattributename", "matchingattributename", "operatorcode", "operatorparam"),
        )
        names = tuple(str(one["baseattributename"]) for one in conditions)
        if not names or (changed is not None and not any(name in changed for name in names)):
            continue
        values = retrieve(unit, entity, id, names).values
        same = [_same(values[name], one) for name, one in zip(names, conditions, strict=True)]
        wanted = [one for one in same if one is not None]
        if len(wanted) == len(same) and _another(unit, rule, entity, id, wanted):
            raise PossibleDuplicate(entity)


def _of_entity(entity: str) -> tuple[Condition, ...]:
    return (
        Condition("baseentityname", Operator.EQ, (entity,)),
        Condition("statuscode", Operator.EQ, (RuleStatus.PUBLISHED.value,)),
    )


def _same(value: Value, condition: Row) -> Condition | None:
    """What another record fulfils that has the same; None where there is nothing to compare."""
    compared = value.id if isinstance(value, Reference) else value
    sameness = Sameness(int(str(condition["operatorcode"])))
    count = condition["operatorparam"]
    if isinstance(compared, str) and sameness is not Sameness.WHOLE and isinstance(count, int) and count > 0:
        compared = compared[:count] if sameness is Sameness.FIRST_CHARACTERS else compared[-count:]
    if compared is None or compared == "":
        return None
    return Condition(str(condition["matchingattributename"]), _COMPARED[sameness], (compared,))


def _another(unit: WriteUnit, rule: Row, entity: str, id: Guid, same: Sequence[Condition]) -> bool:
    matching = str(rule["matchingentityname"])
    stored = unit.snapshot.entity(matching)
    own = () if matching != entity else (Condition(stored.entity.primary_id, Operator.NE, (id,)),)
    active = (
        (Condition(STATE, Operator.EQ, (_ACTIVE,)),)
        if rule["excludeinactiverecords"] and STATE in stored.columns
        else ()
    )
    query = Query(matching, (Column(stored.entity.primary_id),), Filter((*same, *own, *active)), top=1)
    return bool(run(unit, query, ALL).rows)


def _rows(
    unit: WriteUnit, entity: str, conditions: tuple[Condition, ...], names: Sequence[str]
) -> Sequence[Row]:
    primary = unit.snapshot.entity(entity).entity.primary_id
    columns = tuple(Column(name) for name in (primary, *names))
    return run(unit, Query(entity, columns, Filter(conditions)), ALL).rows
