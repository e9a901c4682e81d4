"""A query without its values: what a compiled plan depends on.

`shape_of` walks a query once, in one order: the filter of the entity, group by group and condition by
condition as written; then each link in turn, its filter first and its own links after it; last `top`. A link
in a group comes where it stands, in the same order. The values come out in that order. A condition over a
list of values gives one value, the whole list: a plan does not depend on its length.
"""

from __future__ import annotations

import hashlib
from typing import Final, TypeAlias

from crmclient.errors import InvalidQuery
from crmclient.query.ast import Condition, Filter, FilterItem, Link, LinkType, Operator, Query
from crmclient.sentences import Sentence

Shape: TypeAlias = tuple[object, ...]

LISTS: Final = frozenset({Operator.IN, Operator.NOT_IN, Operator.CONTAIN_VALUES, Operator.NOT_CONTAIN_VALUES})
"""The operators that take any number of values."""

# Page tokens of earlier releases hold the digest of a shape that says of links whether they are outer ones.
_EARLIER_LINK_TYPES: Final = {LinkType.INNER: False, LinkType.OUTER: True}

DEEPEST: Final = 50
"""How deep groups and links may be nested: more than people write, and less than databases take."""

DEEPEST_DESIGNED: Final = 40
"""How deep people may nest them: row rules, and what a condition is rewritten to, add groups."""

TOO_DEEP_A_FILTER: Final = Sentence("The filter is nested more than %(most)s groups deep.", most=DEEPEST)
TOO_DEEP_LINKS: Final = Sentence("The links are nested more than %(most)s deep.", most=DEEPEST)


def shape_of(query: Query) -> tuple[Shape, list[object]]:
    """Return the hashable shape of a query, and its values. Raises InvalidQuery for a query nested too
    deeply.
    """
    values: list[object] = []
    shape = (
        query.entity,
        query.columns,
        None if query.filter is None else _group(query.filter, values, 1),
        tuple(_link(link, values, 1) for link in query.links),
        query.orders,
        query.distinct,
        query.top is not None,
    )
    if query.top is not None:
        values.append(query.top)
    return shape, values


def digest(shape: Shape) -> str:
    """Return a short text that is the same for the same shape in every process."""
    return hashlib.blake2b(repr(shape).encode(), digest_size=9).hexdigest()


def _group(group: Filter, values: list[object], depth: int) -> Shape:
    """Return the shape of a group at `depth`, counted from 1, and add the values in it to `values`.

    Raises InvalidQuery for one nested too deeply.
    """
    if depth > DEEPEST:
        raise InvalidQuery(TOO_DEEP_A_FILTER)
    return (group.any, *[_item(item, values, depth) for item in group.items])


def _item(item: FilterItem, values: list[object], depth: int) -> Shape:
    """Return the shape of an item of a group at `depth`, and add the values in it to `values`."""
    if isinstance(item, Condition):
        return _condition(item, values)
    if isinstance(item, Link):
        return _link(item, values, depth + 1)
    return _group(item, values, depth + 1)


def _condition(condition: Condition, values: list[object]) -> Shape:
    """Return the shape of a condition, and add its values to `values`: a list as one."""
    if condition.operator in LISTS:
        values.append(condition.values)
        # Whatever the length of the list, the shape is the same.
        count = -1
    else:
        values.extend(condition.values)
        count = len(condition.values)
    return (condition.attribute, condition.operator.value, condition.link, condition.value_of, count)


def _link(link: Link, values: list[object], depth: int) -> Shape:
    """Return the shape of a link at `depth`, and add the values of its conditions to `values`.

    Raises InvalidQuery for one nested too deeply.
    """
    if depth > DEEPEST:
        raise InvalidQuery(TOO_DEEP_LINKS)
    return (
        link.entity,
        link.from_attribute,
        link.to_attribute,
        link.alias,
        _EARLIER_LINK_TYPES.get(link.type, link.type.value),
        link.columns,
        None if link.filter is None else _group(link.filter, values, depth),
        tuple(_link(nested, values, depth + 1) for nested in link.links),
    )
