"""WHERE as a filter of the query. As in SQL, no comparison and no denial of one holds for an empty value."""

from __future__ import annotations

import datetime as dt
from typing import Final

from sqlglot import exp

from crmbox.webapi.errors import bad_url
from crmbox.webapi.odata import literals
from crmbox.webapi.sql.statement import text_of, unsupported_node
from crmbox.webapi.sql.tables import NamedColumn, Tables
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior
from crmclient.query.ast import Condition, Filter, FilterItem, Operator
from crmclient.query.fiscal import later_by_months
from crmclient.values import Value

_NOW: Final = frozenset({"GETUTCDATE", "GETDATE", "SYSUTCDATETIME"})
_MONTHS: Final = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_LENGTHS: Final = {
    "WEEK": dt.timedelta(weeks=1),
    "DAY": dt.timedelta(days=1),
    "HOUR": dt.timedelta(hours=1),
    "MINUTE": dt.timedelta(minutes=1),
    "SECOND": dt.timedelta(seconds=1),
}


def read_moment(node: exp.Expr, now: dt.datetime) -> dt.datetime | None:
    """Return the moment that a function such as GETDATE gives; None for other expressions.

    Raises WebApiError.
    """
    match node:
        case exp.CurrentTimestamp():
            return now
        case exp.Anonymous() if node.name.upper() in _NOW and not node.expressions:
            return now
        case exp.DateAdd():
            since = read_moment(node.this, now)
            count = text_of(node.expression)
            # `isdigit` also holds for characters such as ², which `int` refuses.
            is_whole = count.isascii() and count.removeprefix("-").isdigit()
            if since is None or not is_whole or len(count) > 6:
                raise unsupported_node(node)
            return _later(node, since, int(count))
    return None


def _later(node: exp.DateAdd, since: dt.datetime, count: int) -> dt.datetime:
    """Return the result of DATEADD. Raises WebApiError."""
    unit = node.text("unit").upper()
    try:
        if unit in _MONTHS:
            day = later_by_months(since.date(), count * _MONTHS[unit])
            return dt.datetime.combine(day, since.timetz())
        if unit in _LENGTHS:
            return since + count * _LENGTHS[unit]
    except (OverflowError, ValueError):
        raise bad_url("DATEADD leads to no date that there is.") from None
    raise unsupported_node(node)


DEEPEST: Final = 40
_COMPARISONS: Final[dict[type[exp.Expr], Operator]] = {
    exp.EQ: Operator.EQ,
    exp.NEQ: Operator.NE,
    exp.GT: Operator.GT,
    exp.GTE: Operator.GE,
    exp.LT: Operator.LT,
    exp.LTE: Operator.LE,
}
_MIRRORED: Final = {
    Operator.GT: Operator.LT,
    Operator.GE: Operator.LE,
    Operator.LT: Operator.GT,
    Operator.LE: Operator.GE,
}
_DENIED: Final = {
    Operator.EQ: Operator.NE,
    Operator.GT: Operator.LE,
    Operator.GE: Operator.LT,
    Operator.LIKE: Operator.NOT_LIKE,
    Operator.IN: Operator.NOT_IN,
    Operator.BETWEEN: Operator.NOT_BETWEEN,
    Operator.NULL: Operator.NOT_NULL,
}
_OPPOSITES: Final = {**_DENIED, **{after: before for before, after in _DENIED.items()}}
_HOLD_FOR_EMPTY: Final = frozenset({Operator.NE, Operator.NOT_LIKE, Operator.NOT_IN, Operator.NOT_BETWEEN})
"""Not in SQL, but in the platform's queries."""


class Conditions:
    """Reads the conditions of a statement as filters of a query. `now` is what GETDATE() gives."""

    def __init__(self, tables: Tables, now: dt.datetime) -> None:
        self._tables = tables
        self._now = now

    def read(self, node: exp.Expr, *, denied: bool = False, depth: int = 0) -> FilterItem:
        """Return the filter for a condition; with `denied`, for its opposite.

        Raises WebApiError, also for what is not understood.
        """
        if depth > DEEPEST:
            raise bad_url(f"The condition is nested more than {DEEPEST} levels deep.")
        if isinstance(node, exp.Paren):
            return self.read(node.this, denied=denied, depth=depth + 1)
        if isinstance(node, exp.Not):
            return self.read(node.this, denied=not denied, depth=depth + 1)
        if isinstance(node, exp.And | exp.Or):
            parts = tuple(self.read(part, denied=denied, depth=depth + 1) for part in node.flatten())
            # A denied `and` is an `or` of what is denied, and the reverse.
            return Filter(parts, any=isinstance(node, exp.Or) is not denied)
        # `NOT LIKE` and its kin deny once more.
        return self._leaf(node, denied is not bool(node.args.get("negate")))

    def _leaf(self, node: exp.Expr, denied: bool) -> FilterItem:
        """Return the filter for a single condition, or for its opposite. Raises WebApiError."""
        operator = _COMPARISONS.get(type(node))
        if operator is not None:
            return self._comparison(node, operator, denied)
        match node:
            case exp.Is(expression=exp.Null()):
                return self._condition(self._tables.place(node.this), Operator.NULL, (), denied)
            case exp.Like():
                place = self._tables.place(node.this)
                return self._condition(place, Operator.LIKE, (text_of(node.expression),), denied)
            case exp.In() if node.expressions:
                place = self._tables.place(node.this)
                values = tuple(self._value(expression, place.attribute) for expression in node.expressions)
                return self._condition(place, Operator.IN, values, denied)
            case exp.Between():
                place = self._tables.place(node.this)
                bounds = (node.args["low"], node.args["high"])
                values = tuple(self._value(bound, place.attribute) for bound in bounds)
                return self._condition(place, Operator.BETWEEN, values, denied)
        raise unsupported_node(node)

    def _comparison(self, node: exp.Expr, operator: Operator, denied: bool) -> FilterItem:
        """Return the filter that compares a column with a value or with another column, or its opposite."""
        left, right = node.this, node.expression
        if not isinstance(left, exp.Column):
            left, right = right, left
            operator = _MIRRORED.get(operator, operator)
        place = self._tables.place(left)
        if isinstance(right, exp.Column):
            other = self._tables.place(right)
            compared = Condition(
                attribute=place.attribute.logical_name,
                operator=_OPPOSITES[operator] if denied else operator,
                values=(),
                link=place.table.link,
                value_of=(other.table.link, other.attribute.logical_name),
            )
            return Filter((compared, _present(place), _present(other)))
        return self._condition(place, operator, (self._value(right, place.attribute),), denied)

    def _condition(
        self, place: NamedColumn, operator: Operator, values: tuple[Value, ...], denied: bool
    ) -> FilterItem:
        """Return the condition, or its opposite when `denied`. Like SQL, neither matches an empty value."""
        operator = _OPPOSITES[operator] if denied else operator
        condition = Condition(place.attribute.logical_name, operator, values, place.table.link)
        return Filter((condition, _present(place))) if operator in _HOLD_FOR_EMPTY else condition

    def _value(self, node: exp.Expr, attribute: Attribute) -> Value:
        """Return the value of a literal, or of a function of the present time. Raises WebApiError."""
        moment = read_moment(node, self._now)
        if moment is None:
            return literals.read(text_of(node), attribute)
        if attribute.type is not AttributeType.DATETIME:
            raise bad_url(f"'{attribute.logical_name}' is no date.")
        return moment.date() if attribute.behavior is DateTimeBehavior.DATE_ONLY else moment


def _present(place: NamedColumn) -> Condition:
    """Return the condition that a column is not empty."""
    return Condition(place.attribute.logical_name, Operator.NOT_NULL, (), place.table.link)
