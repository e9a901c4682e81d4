"""Duplicate detection: a written record is compared with others by the published rules of its entity."""

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
    """The `statuscode` of a rule. Only a published rule is applied."""

    UNPUBLISHED = 0
    PUBLISHING = 1
    PUBLISHED = 2


class Sameness(IntEnum):
    """The `operatorcode` of a condition: which part of two values has to be the same."""

    WHOLE = 0
    FIRST_CHARACTERS = 1
    LAST_CHARACTERS = 2


Row = Mapping[str, Value]

_RULE, _CONDITION = "duplicaterule", "duplicaterulecondition"
_ACTIVE = 0
"""The `statecode` of active records."""
_COMPARED = {
    Sameness.WHOLE: Operator.EQ,
    Sameness.FIRST_CHARACTERS: Operator.BEGINS_WITH,
    Sameness.LAST_CHARACTERS: Operator.ENDS_WITH,
}


def refuse_duplicates(
    unit: WriteUnit, entity: str, id: Guid, call: Call, changed: Container[str] | None = None
) -> None:
    """Raise PossibleDuplicate where the record `id`, as it is now, is like another one by a published rule.

    For an update, only rules count that compare something in `changed`. A rule does not apply to a record
    that lacks a value to compare.
    """
    if not call.refuses_duplicates:
        return
    for rule in _rows(
        unit, _RULE, _published_rules_of(entity), ("matchingentityname", "excludeinactiverecords")
    ):
        # The conditions of the rule say which attributes of the two records must be alike, and how.
        of_rule = (Condition("regardingobjectid", Operator.EQ, (str(rule["duplicateruleid"]),)),)
        conditions = _rows(
            unit,
            _CONDITION,
            of_rule,
            ("baseattributename", "matchingattributename", "operatorcode", "operatorparam"),
        )
        names = tuple(str(condition["baseattributename"]) for condition in conditions)
        if not names or (changed is not None and not any(name in changed for name in names)):
            continue
        # Another record must meet all of them. One that cannot be compared (None) makes the rule not apply.
        values = retrieve(unit, entity, id, names).values
        comparisons = [
            _same_value(values[name], condition) for name, condition in zip(names, conditions, strict=True)
        ]
        conditions_to_meet = [comparison for comparison in comparisons if comparison is not None]
        if len(conditions_to_meet) == len(comparisons) and _exists_another(
            unit, rule, entity, id, conditions_to_meet
        ):
            raise PossibleDuplicate(entity)


def _published_rules_of(entity: str) -> tuple[Condition, ...]:
    return (
        Condition("baseentityname", Operator.EQ, (entity,)),
        Condition("statuscode", Operator.EQ, (RuleStatus.PUBLISHED.value,)),
    )


def _same_value(value: Value, condition: Row) -> Condition | None:
    """Return the query condition that a record with the same value meets; None without a value to compare.

    `condition` is the row of a rule's condition: it compares the whole value, or the first or last
    characters (`operatorparam` says how many). Without a positive number, the other value must begin or end
    with the whole value.
    """
    compared = value.id if isinstance(value, Reference) else value
    sameness = Sameness(int(str(condition["operatorcode"])))
    count = condition["operatorparam"]
    if isinstance(compared, str) and sameness is not Sameness.WHOLE and isinstance(count, int) and count > 0:
        compared = compared[:count] if sameness is Sameness.FIRST_CHARACTERS else compared[-count:]
    if compared is None or compared == "":
        return None
    return Condition(str(condition["matchingattributename"]), _COMPARED[sameness], (compared,))


def _exists_another(unit: WriteUnit, rule: Row, entity: str, id: Guid, same: Sequence[Condition]) -> bool:
    """Whether a record of the rule's matching entity, other than the record `id` of `entity`, meets `same`.

    Inactive records do not count where the rule excludes them.
    """
    matching = str(rule["matchingentityname"])
    stored = unit.snapshot.entity(matching)
    not_itself = () if matching != entity else (Condition(stored.entity.primary_id, Operator.NE, (id,)),)
    active = (
        (Condition(STATE, Operator.EQ, (_ACTIVE,)),)
        if rule["excludeinactiverecords"] and STATE in stored.columns
        else ()
    )
    query = Query(matching, (Column(stored.entity.primary_id),), Filter((*same, *not_itself, *active)), top=1)
    return bool(run(unit, query, ALL).rows)


def _rows(
    unit: WriteUnit, entity: str, conditions: tuple[Condition, ...], names: Sequence[str]
) -> Sequence[Row]:
    """Return the records that meet `conditions`, each with its primary id and the attributes `names`."""
    primary = unit.snapshot.entity(entity).entity.primary_id
    columns = tuple(Column(name) for name in (primary, *names))
    return run(unit, Query(entity, columns, Filter(conditions)), ALL).rows
