"""Builds the elements that designed queries and plain ones share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lxml import etree

from crmclient.query.ast import Column, Link, Order
from crmclient.query.designed import DesignedLink
from crmclient.query.fetchxml.document import Element


def element(name: str, attributes: Mapping[str, str | None], children: Iterable[Element] = ()) -> Element:
    """Return an element with those attributes that are not None. Raises ValueError for text that XML cannot
    hold.
    """
    new_element = etree.Element(name, {key: text for key, text in attributes.items() if text is not None})
    new_element.extend(children)
    return new_element


def column(column: Column, *, user_time_zone: bool) -> Element:
    """Return the element `attribute` for a column. Without `user_time_zone`, dates are grouped in UTC."""
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
    """Return the element `order`, whose `entityname` is the alias of a link."""
    attributes = {
        "attribute": order.attribute,
        "alias": order.alias,
        "entityname": order.link,
        "descending": flag(order.descending),
    }
    return element("order", attributes)


def link(link: Link | DesignedLink, children: Iterable[Element]) -> Element:
    """Return the element `link-entity` with its `children`, the elements for what is in the link."""
    attributes = {
        "name": link.entity,
        "from": link.from_attribute,
        "to": link.to_attribute,
        "link-type": link.type.value,
        "alias": link.alias,
    }
    return element("link-entity", attributes, children)


def value(text: str) -> Element:
    new_element = etree.Element("value")
    new_element.text = text
    return new_element


def value_of(other: tuple[str | None, str], link: str | None, holder: str | None) -> str:
    """Return the `valueof` of a condition on `link`.

    `other` is the alias and the name of the attribute to compare with; `holder` is the link whose filter
    has the condition.
    """
    alias, name = other
    # Without a prefix it would be an attribute of what the condition names.
    prefix = holder if alias is None and link is not None else alias
    return name if prefix is None else f"{prefix}.{name}"


def flag(value: bool) -> str | None:
    """Return a boolean as FetchXML writes it; None, which leaves the attribute out, for False."""
    return "true" if value else None
