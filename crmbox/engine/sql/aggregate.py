"""Plans of aggregate queries.

The database groups and adds; ordering and paging happen here, over all groups, since exact sums are only put
together here. A query may have at most as many groups as Dataverse aggregates rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from crmbox.engine import money
from crmbox.engine.dialects.base import Dialect, Storage
from crmbox.engine.sql.fragment import Fragment, concat, where_clause
from crmbox.engine.sql.group_by import Groups, date_part
from crmbox.engine.sql.joins import filter_writer, from_clause
from crmbox.engine.sql.operands import Operand
from crmbox.engine.sql.orders import sort_key
from crmbox.engine.sql.outputs import Outputs
from crmbox.engine.sql.scope import Scope, selected_columns, unique_keys
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Aggregate, Column, Order, Query
from crmclient.query.families import AGGREGATES
from crmclient.values import Value

MOST_GROUPS: Final = 50_000

_PLACES: Final = {Storage.MONEY: money.MONEY_PLACES, Storage.DECIMAL: money.DECIMAL_PLACES}
_DIVISION: Final = Context(prec=60, rounding=ROUND_HALF_UP)

Read = Callable[[Sequence[Any]], Any]
"""Makes a value of a row, or of some of its columns."""


@dataclass(frozen=True, slots=True)
class AggregatePlan:
    """The statement of an aggregate query, and how its rows become records.

    The functions in `orders` read a group's value for each order, with whether it is descending. `key` tells
    groups apart.
    """

    statement: Fragment
    records: Callable[[Sequence[Sequence[Any]]], list[dict[str, Value]]]
    orders: tuple[tuple[Read, bool], ...]
    key: Callable[[Sequence[Any]], list[Any]]

    def sorted(self, rows: list[Any]) -> list[Any]:
        """Return the groups in the query's order, equal ones by their keys. Empty values are lowest.

        Raises InvalidQuery for too many groups.
        """
        if len(rows) > MOST_GROUPS:
            raise InvalidQuery(f"The query makes more than {MOST_GROUPS} groups; narrow its filter.")
        # None cannot be compared with other values. The pair (is not None, value) can, and puts None first.
        # Each sort leaves equal rows in the order of the sort before, so the sort by the first order comes
        # last.
        rows = sorted(rows, key=lambda row: [(part is not None, part) for part in self.key(row)])
        for read_value, descending in reversed(self.orders):
            rows.sort(key=lambda row: ((value := read_value(row)) is not None, value), reverse=descending)
        return rows


def aggregate_plan(query: Query, scope: Scope, dialect: Dialect) -> AggregatePlan:
    """Return the plan of an aggregate query. Raises InvalidQuery.

    The inner select `d` groups the rows and computes the aggregates. The outer one adds what is read by the
    groups' values, such as the names of lookups. It reads one group more than allowed, to notice too many.
    """
    filters = filter_writer(scope, dialect)
    where = filters.write(query.filter, scope.root)
    joined, link_conditions = from_clause(query, filters)
    writer = _Writer(query, scope, dialect)
    inner = concat(
        f"SELECT {writer.groups.select} ",
        joined,
        *where_clause(where, *link_conditions),
        writer.groups.group_by,
    )
    orders = tuple((writer.reader_of_order(order), order.descending) for order in query.orders)
    # Groups calls the columns that it groups by k0, k1 and so on.
    key_positions = [writer.outputs.position_of(f"d.k{number}") for number in range(writer.groups.count)]
    statement = concat(
        f"SELECT {', '.join(writer.outputs.expressions)} FROM (", inner, f") AS d LIMIT {MOST_GROUPS + 1}"
    )
    return AggregatePlan(
        statement,
        writer.records,
        orders,
        # Two groups differ in what they are grouped by.
        key=lambda row: [_comparable(row[position]) for position in key_positions],
    )


class _Writer:
    """Sorts the columns of a query into groups and aggregates.

    `groups` are the columns of the inner select, `outputs` those of the outer one. The keys of the query's
    columns lead to the operand of a grouped one, and to the function that reads an aggregate from a row.
    """

    def __init__(self, query: Query, scope: Scope, dialect: Dialect) -> None:
        self.groups = Groups()
        self._dialect = dialect
        self._snapshot = scope.snapshot
        # First, the inner select: the columns to group by, and those to aggregate.
        columns = selected_columns(query, scope)
        self._keys = unique_keys(columns)
        self._grouped: dict[str, Operand] = {}
        aggregates: list[tuple[str, Column, Operand]] = []
        for key, (source, column) in zip(self._keys, columns, strict=True):
            construct = f"attribute {column.attribute}"
            operand = scope.operand(source, column.attribute, construct)
            _check(column, operand, construct)
            if column.aggregate is None:
                self._grouped[key] = self.groups.add(date_part(operand, column, dialect))
            else:
                aggregates.append((key, column, operand))
        # Then, the outer select: the groups, and after them the pieces of each aggregate.
        written = [
            (key, *self._aggregate(number, column, operand))
            for number, (key, column, operand) in enumerate(aggregates)
        ]
        self.outputs = Outputs(tuple(self._grouped.items()), self._snapshot)
        self._aggregates = {key: self._reader(pieces, read) for key, pieces, read in written}

    def records(self, rows: Sequence[Sequence[Any]]) -> list[dict[str, Value]]:
        """Return the groups as records, whose keys are in the order of the query's columns."""
        return [
            {key: group[key] if key in self._grouped else self._aggregates[key](row) for key in self._keys}
            for group, row in zip(self.outputs.records(rows), rows, strict=True)
        ]

    def reader_of_order(self, order: Order) -> Read:
        """Return a function that reads from a row the value to sort by: of an aggregate or a grouped column.

        Raises InvalidQuery when no column has the alias that the order names.
        """
        name = order.alias
        if name is None:
            raise InvalidQuery(f"order {order.attribute}: an aggregate query is sorted by aliases.")
        if name in self._aggregates:
            return self._aggregates[name]
        if name not in self._grouped:
            raise InvalidQuery(f"order {name}: no column has this alias.")
        key = sort_key(self._grouped[name], order, self._snapshot)
        position = self.outputs.position_of(key.sql)
        return lambda row: row[position]

    def _reader(self, pieces: tuple[str, ...], read: Read) -> Read:
        """Return a function that picks `pieces` from a row of the outer select, and gives them to `read`."""
        positions = [self.outputs.position_of(piece) for piece in pieces]
        return lambda row: read([row[position] for position in positions])

    def _aggregate(self, number: int, column: Column, operand: Operand) -> tuple[tuple[str, ...], Read]:
        """Add an aggregate, the query's `number`th, to the inner select.

        Return the names of its pieces in the outer select, and a function that makes its value of them: an
        average has a count and a sum, and a sum can have several pieces.
        """

        def show(*expressions: str) -> tuple[str, ...]:
            """Add expressions to the inner select, and return their names in the outer one."""
            return tuple(self.groups.show(text, f"a{number}_{n}") for n, text in enumerate(expressions))

        match column.aggregate:
            case Aggregate.COUNT:
                return show("COUNT(*)"), lambda parts: parts[0]
            case Aggregate.COUNT_COLUMN:
                distinct = "DISTINCT " if column.distinct else ""
                return show(f"COUNT({distinct}{operand.compared})"), lambda parts: parts[0]
            case Aggregate.MIN | Aggregate.MAX:
                extreme = f"{column.aggregate.value.upper()}({operand.value})"
                return show(extreme), lambda parts: _decoded(operand, parts[0])
        total = self._dialect.sum(operand.value, operand.storage)
        if column.aggregate is Aggregate.SUM:
            return show(*total.pieces), total.combine
        return show(f"COUNT({operand.value})", *total.pieces), lambda parts: _average(
            total.combine(parts[1:]), parts[0], operand.storage
        )


def _check(column: Column, operand: Operand, construct: str) -> None:
    """Raise InvalidQuery for a column that cannot be grouped or aggregated so. `construct` names it there."""
    if not column.alias:
        raise InvalidQuery(f"{construct}: a column of an aggregate query needs an alias.")
    if (column.aggregate is None) != column.group_by:
        raise InvalidQuery(f"{construct}: a column of an aggregate query is either grouped or aggregated.")
    if column.distinct and column.aggregate is not Aggregate.COUNT_COLUMN:
        raise InvalidQuery(f"{construct}: distinct belongs to countcolumn.")
    if column.aggregate is not None and column.date_grouping is not None:
        raise InvalidQuery(f"{construct}: dategrouping belongs to groupby.")
    if column.aggregate is not None and operand.family not in AGGREGATES[column.aggregate]:
        raise InvalidQuery(
            f"{construct}: {column.aggregate.value} does not apply to a {operand.family.value}."
        )


def _decoded(operand: Operand, stored: Any) -> Any:
    return stored if stored is None or operand.decode is None else operand.decode(stored)


def _comparable(value: Any) -> Any:
    """Return a part of a group's key in the form that a page token, which is JSON, gives back."""
    return str(value) if isinstance(value, Decimal) else value


def _average(total: Any, count: int, storage: Storage) -> Any:
    """Return an average; None over no values.

    That of whole numbers is rounded towards zero, as on SQL Server.
    """
    if not count:
        return None
    if isinstance(total, float):
        return total / count
    if isinstance(total, int):
        return abs(total) // count * (1 if total >= 0 else -1)
    quantum = Decimal(1).scaleb(-_PLACES[storage])
    return _DIVISION.divide(total, Decimal(count)).quantize(quantum, context=_DIVISION)
