"""Queries of `crmclient.query.ast` as FetchXML, for a platform that runs it: values as they are."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from lxml import etree

from crmclient.errors import InvalidQuery, UnfitValue
from crmclient.query.ast import Condition, Filter, FilterItem, Link, Operator, Query
from crmclient.query.fetchxml import element_builders
from crmclient.query.fetchxml.document import Element
from crmclient.query.patterns import MATCHING, pattern_of
from crmclient.query.shape import DEEPEST, LISTS, TOO_DEEP_A_FILTER, TOO_DEEP_LINKS
from crmclient.sentences import Sentence
from crmclient.values import Reference, Value

_SEVERAL: Final = LISTS | {Operator.BETWEEN, Operator.NOT_BETWEEN}


def write_plain(
    query: Query, *, count: int | None = None, page: int = 1, cookie: str | None = None, total: bool = False
) -> str:
    """Return the FetchXML of page number `page` of a query, with `count` rows; without `count`, of all rows.

    `cookie` is the paging cookie of the page before, if there is one. Raises UnfitValue for a value that
    FetchXML cannot hold, and InvalidQuery for a query that it cannot.
    """
    fetch = {
        "top": None if query.top is None else str(query.top),
        "count": None if count is None else str(count),
        "page": None if count is None else str(page),
        "paging-cookie": cookie,
        "returntotalrecordcount": element_builders.flag(total),
        "distinct": element_builders.flag(query.distinct),
        "aggregate": element_builders.flag(query.is_aggregate),
    }
    entity = element_builders.element("entity", {"name": query.entity}, _body(query))
    return etree.tostring(element_builders.element("fetch", fetch, [entity]), encoding="unicode")


def _body(source: Query | Link, depth: int = 1) -> Iterator[Element]:
    """Yield the elements inside the element of a query or link, which is at `depth`, counted from 1.

    Raises InvalidQuery for links that are nested too deeply.
    """
    if depth > DEEPEST:
        raise InvalidQuery(TOO_DEEP_LINKS)
    for column in source.columns:
        # Dates are grouped in UTC (`usertimezone="false"`), whatever the time zone of the platform's user is.
        yield element_builders.column(column, user_time_zone=column.date_grouping is None)
    if isinstance(source, Query):
        for order in source.orders:
            yield element_builders.order(order)
    # An empty filter holds for every row.
    if source.filter is not None and source.filter.items:
        yield _group(source.filter, source.entity if isinstance(source, Query) else source.alias)
    for link in source.links:
        yield _link(link, depth)


def _link(link: Link, depth: int) -> Element:
    return element_builders.link(link, _body(link, depth + 1))


def _group(group: Filter, holder: str, depth: int = 1) -> Element:
    """Return the element of a filter, or of a group in it, of `holder`: the entity's name, or a link's alias.

    Raises InvalidQuery for one nested too deeply.
    """
    if depth > DEEPEST:
        raise InvalidQuery(TOO_DEEP_A_FILTER)
    items = (_item(item, holder, depth) for item in group.items)
    return element_builders.element("filter", {"type": "or" if group.any else "and"}, items)


def _item(item: FilterItem, holder: str, depth: int) -> Element:
    """Return the element of a condition, link or group in a group of `holder` at `depth`."""
    match item:
        case Condition():
            return _condition(item, holder)
        case Link():
            return _link(item, depth)
    return _group(item, holder, depth + 1)


def _condition(condition: Condition, holder: str) -> Element:
    """Write a condition in the filter of `holder`: the entity's name, or a link's alias."""
    construct = f"condition {condition.attribute} {condition.operator.value}"
    operator = condition.operator
    try:
        texts = [_text(value) for value in condition.values]
        if operator in MATCHING and len(texts) == 1:
            operator, texts[0] = pattern_of(operator, texts[0])
        attributes: dict[str, str | None] = {
            "entityname": condition.link,
            "attribute": condition.attribute,
            "operator": operator.value,
        }
        if condition.value_of is not None:
            attributes["valueof"] = element_builders.value_of(condition.value_of, condition.link, holder)
            return element_builders.element("condition", attributes)
        # The operators of several values take value elements, even for one value.
        if operator in _SEVERAL:
            return element_builders.element(
                "condition", attributes, [element_builders.value(text) for text in texts]
            )
        if len(texts) > 1:
            raise InvalidQuery(
                Sentence(
                    "%(construct)s: one value is needed, %(given)s given.",
                    construct=construct,
                    given=len(texts),
                )
            )
        return element_builders.element("condition", {**attributes, "value": texts[0] if texts else None})
    except (TypeError, ValueError) as error:
        raise UnfitValue(
            Sentence("%(construct)s: %(message)s.", construct=construct, message=str(error))
        ) from None


def _text(value: Value) -> str:
    """Return a value as FetchXML writes it, instants in UTC. Raises ValueError, TypeError."""
    match value:
        case bool():
            return "1" if value else "0"
        case str():
            return value
        case int():
            return str(value)
        case float():
            # FetchXML has no exponents, such as the one of 1e-05.
            return f"{Decimal(repr(value)):f}"
        case Decimal():
            return f"{value:f}"
        case dt.datetime():
            if value.tzinfo is None:
                raise ValueError(Sentence("a date and time needs its offset from UTC"))
            return value.astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"
        case dt.date():
            return value.isoformat()
        case Reference():
            return value.id
        # The options of a multi-select choice, compared by eq or ne.
        case tuple():
            return ",".join(str(item) for item in value)
    raise TypeError(Sentence("a %(type)s cannot be compared with", type=type(value).__name__))
