"""Designed queries as FetchXML: one way to write each, in the order that Dataverse's designers write it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lxml import etree

from crmclient.errors import InvalidQuery
from crmclient.query.ast import Order
from crmclient.query.designed import (
    DesignedColumn,
    DesignedCondition,
    DesignedFilter,
    DesignedLink,
    DesignedQuery,
    values_taken,
)
from crmclient.query.fetchxml.document import Element
from crmclient.query.fetchxml.placeholders import write_value


def write(query: DesignedQuery) -> str:
    """A text that `parse` reads as the same query.

    Raises InvalidQuery for a value with characters that XML cannot hold, such as NUL.
    """
    entity = _element("entity", {"name": query.entity}, _body(query, query.orders))
    fetch = {
        "top": None if query.top is None else str(query.top),
        "count": None if query.page_size is None else str(query.page_size),
        "returntotalrecordcount": _flag(query.total),
        "distinct": _flag(query.distinct),
        "aggregate": _flag(query.is_aggregate),
    }
    return etree.tostring(_element("fetch", fetch, [entity]), pretty_print=True, encoding="unicode")


def _body(source: DesignedQuery | DesignedLink, orders: tuple[Order, ...] = ()) -> Iterator[Element]:
    if source.all_columns:
        yield _element("all-attributes", {})
    for column in source.columns:
        yield _column(column)
    for order in orders:
        yield _order(order)
    if source.filter is not None:
        yield _filter(source.filter)
    for link in source.links:
        yield _link(link)


def _link(link: DesignedLink) -> Element:
    attributes = {
        "name": link.entity,
        "from": link.from_attribute,
        "to": link.to_attribute,
        "link-type": "outer" if link.outer else "inner",
        "alias": link.alias,
    }
    return _element("link-entity", attributes, _body(link))


def _column(column: DesignedColumn) -> Element:
    attributes = {
        "name": column.attribute,
        "alias": column.alias,
        "aggregate": None if column.aggregate is None else column.aggregate.value,
        "groupby": _flag(column.group_by),
        "dategrouping": None if column.date_grouping is None else column.date_grouping.value,
        "distinct": _flag(column.distinct),
        "usertimezone": None if column.user_time_zone else "false",
    }
    return _element("attribute", attributes)


def _order(order: Order) -> Element:
    attributes = {
        "attribute": order.attribute,
        "alias": order.alias,
        "entityname": order.link,
        "descending": _flag(order.descending),
    }
    return _element("order", attributes)


def _filter(group: DesignedFilter) -> Element:
    items = (
        _condition(item) if isinstance(item, DesignedCondition) else _filter(item) for item in group.items
    )
    return _element("filter", {"type": "or" if group.any else "and"}, items)


def _condition(condition: DesignedCondition) -> Element:
    attributes: dict[str, str | None] = {
        "entityname": condition.link,
        "attribute": condition.attribute,
        "operator": condition.operator.value,
    }
    texts = [write_value(value, condition.operator) for value in condition.values]
    try:
        if condition.value_of is not None:
            alias, name = condition.value_of
            attributes["valueof"] = name if alias is None else f"{alias}.{name}"
        elif values_taken(condition.operator) == 1:
            attributes["value"] = texts[0]
        else:
            return _element("condition", attributes, [_value(text) for text in texts])
        return _element("condition", attributes)
    except ValueError:
        raise InvalidQuery(
            f"condition {condition.attribute} {condition.operator.value}: its value has characters that XML "
            "cannot hold."
        ) from None


def _value(text: str) -> Element:
    value = etree.Element("value")
    value.text = text
    return value


def _element(name: str, attributes: Mapping[str, str | None], children: Iterable[Element] = ()) -> Element:
    """An element with the attributes that are given."""
    element = etree.Element(name, {key: text for key, text in attributes.items() if text is not None})
    element.extend(children)
    return element


def _flag(value: bool) -> str | None:
    return "true" if value else None
