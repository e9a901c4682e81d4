"""The opposite of a filter, as another filter: the platform's queries have no `not`.

An empty attribute meets no comparison, so it meets the denial of each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from crmclient.query.ast import Condition, Filter, FilterItem, Operator

_OPPOSITES: Final = {
    Operator.EQ: Operator.NE,
    Operator.LIKE: Operator.NOT_LIKE,
    Operator.BEGINS_WITH: Operator.NOT_BEGINS_WITH,
    Operator.ENDS_WITH: Operator.NOT_ENDS_WITH,
    Operator.IN: Operator.NOT_IN,
    Operator.BETWEEN: Operator.NOT_BETWEEN,
    Operator.NULL: Operator.NOT_NULL,
    Operator.CONTAIN_VALUES: Operator.NOT_CONTAIN_VALUES,
}
_BOTH_WAYS: Final = {**_OPPOSITES, **{denied: operator for operator, denied in _OPPOSITES.items()}}
_ORDERS: Final = {
    Operator.GT: Operator.LE,
    Operator.LE: Operator.GT,
    Operator.GE: Operator.LT,
    Operator.LT: Operator.GE,
}


def denied(item: FilterItem) -> FilterItem:
    """A filter that holds for exactly the rows that `item` does not hold for."""
    if isinstance(item, Filter):
        return Filter(tuple(denied(part) for part in item.items), not item.any)
    if item.operator in _ORDERS:
        empty = [Condition(item.attribute, Operator.NULL, (), item.link)]
        if item.value_of is not None:
            other, name = item.value_of
            empty.append(Condition(name, Operator.NULL, (), other))
        return Filter((replace(item, operator=_ORDERS[item.operator]), *empty), any=True)
    return replace(item, operator=_BOTH_WAYS[item.operator])
