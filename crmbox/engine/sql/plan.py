"""Plans by shape: written once for a revision of the metadata, and kept while they are used."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, TypeAlias

from crmbox.calendar import calendar
from crmbox.engine.snapshot import Snapshot
from crmbox.engine.sql.aggregate import AggregatePlan, aggregate_plan
from crmbox.engine.sql.rows import RowPlan, distinct_plan, plain_plan
from crmbox.engine.sql.scope import Scope
from crmclient.query.ast import Query
from crmclient.query.comparable_columns import refuse_incomparable_columns
from crmclient.query.fiscal import FiscalCalendar
from crmclient.query.shape import Shape, digest

KEPT: Final = 1000


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a query, whose statements are `steps`. `digest` is that of its shape, which page tokens
    belong to.
    """

    steps: RowPlan | AggregatePlan
    digest: str


Key: TypeAlias = tuple[str, str, Shape, FiscalCalendar | None]

_plans: OrderedDict[Key, Plan] = OrderedDict()
_lock = threading.Lock()


def plan_of(query: Query, shape: Shape, snapshot: Snapshot) -> Plan:
    """Return the plan of every query of this shape. Raises UnknownEntity and InvalidQuery.

    A plan is kept for one state of the metadata and, because aggregate queries have it in their SQL, for one
    fiscal calendar.
    """
    fiscal = calendar().fiscal if query.is_aggregate else None
    key = (snapshot.revision.token, snapshot.dialect.name, shape, fiscal)
    with _lock:
        plan = _plans.get(key)
        if plan is not None:
            _plans.move_to_end(key)
            return plan
    plan = Plan(_steps(query, snapshot), digest(shape))
    refuse_incomparable_columns(query, lambda entity: snapshot.entity(entity).attributes)
    with _lock:
        _plans[key] = plan
        while len(_plans) > KEPT:
            _plans.popitem(last=False)
    return plan


def _steps(query: Query, snapshot: Snapshot) -> RowPlan | AggregatePlan:
    """Return the statements for a query of its kind: plain, distinct or with aggregates."""
    scope = Scope(query, snapshot)
    dialect = snapshot.dialect
    if query.is_aggregate:
        return aggregate_plan(query, scope, dialect)
    if query.distinct:
        return distinct_plan(query, scope, dialect)
    return plain_plan(query, scope, dialect)
