"""The elements that designed queries and plain ones are written with alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lxml import etree

from crmclient.query.ast import Column, Link, Order
from crmclient.query.designed import DesignedLink
from crmclient.query.fetchxml.document import Element


def element(name: str, attributes: Mapping[str, str | None], children: Iterable[Element] = ()) -> Element:
    """An element with the attributes that are given. Raises ValueError for text that XML cannot hold."""
    made = etree.Element(name, {key: text for key, text in attributes.items() if text is not None})
    made.extend(children)
    return made


def column(column: Column, *, user_time_zone: bool) -> Element:
    attributes = {
        "name": column.attribute,
        "alias": column.alias,
        "aggregate": None if column.aggregate is None else column.aggregate.value,
        "groupby": flag(column.group_by),
        "dategrouping": None if column.date_grouping is None else column.date_grouping.value,
        "distinct": flag(column.distinct),
        "usertimezone": None if user_time_zone else "false",
    }
    return element("attribute", attributes)


def order(order: Order) -> Element:
    attributes = {
        "attribute": order.attribute,
        "alias": order.alias,
        "entityname": order.link,
        "descending": flag(order.descending),
    }
    return element("order", attributes)


def link(link: Link | DesignedLink, children: Iterable[Element]) -> Element:
    attributes = {
        "name": link.entity,
        "from": link.from_attribute,
        "to": link.to_attribute,
        "link-type": link.type.value,
        "alias": link.alias,
    }
    return element("link-entity", attributes, children)


def value(text: str) -> Element:
    made = etree.Element("value")
    made.text = text
    return made


def value_of(other: tuple[str | None, str], link: str | None, standing: str | None) -> str:
    """What a condition on `link` is compared with: `other` has alias and name, `standing` has the filter."""
    alias, name = other
    # Without a prefix it would be an attribute of what the condition names.
    prefix = standing if alias is None and link is not None else alias
    return name if prefix is None else f"{prefix}.{name}"


def flag(value: bool) -> str | None:
    return "true" if value else None
