"""Designed queries as FetchXML: one way to write each, in the order that Dataverse's designers write it."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from crmclient.errors import InvalidQuery
from crmclient.query.ast import Order
from crmclient.query.designed import (
    DesignedCondition,
    DesignedFilter,
    DesignedItem,
    DesignedLink,
    DesignedQuery,
    values_taken,
)
from crmclient.query.fetchxml import element_builders
from crmclient.query.fetchxml.document import Element
from crmclient.query.fetchxml.placeholders import write_value
from crmclient.sentences import Sentence


def write(query: DesignedQuery) -> str:
    """Return the FetchXML text that `parse` reads as the same query.

    Raises InvalidQuery for a value with characters that XML cannot hold, such as NUL.
    """
    entity = element_builders.element("entity", {"name": query.entity}, _body(query, query.orders))
    fetch = {
        "top": None if query.top is None else str(query.top),
        "count": None if query.page_size is None else str(query.page_size),
        "page": None if query.page == 1 else str(query.page),
        "paging-cookie": query.paging_cookie,
        "returntotalrecordcount": element_builders.flag(query.total),
        "distinct": element_builders.flag(query.distinct),
        "aggregate": element_builders.flag(query.is_aggregate),
    }
    try:
        root = element_builders.element("fetch", fetch, [entity])
    except ValueError:
        raise InvalidQuery(Sentence("fetch: its cookie has characters that XML cannot hold.")) from None
    return etree.tostring(root, pretty_print=True, encoding="unicode")


def write_filter(filter: DesignedFilter) -> str:
    """Return the text that `parse_filter` reads as the same filter. Raises InvalidQuery, as `write` does."""
    return etree.tostring(_filter(filter, None), pretty_print=True, encoding="unicode")


def _body(source: DesignedQuery | DesignedLink, orders: tuple[Order, ...] = ()) -> Iterator[Element]:
    """Yield the elements inside the element of a query or link. Only a query has `orders`."""
    if source.all_columns:
        yield element_builders.element("all-attributes", {})
    for column in source.columns:
        yield element_builders.column(column, user_time_zone=column.user_time_zone)
    for order in orders:
        yield element_builders.order(order)
    if source.filter is not None:
        yield _filter(source.filter, _name(source))
    for link in source.links:
        yield _link(link)


def _link(link: DesignedLink) -> Element:
    """Return the element of a link, with all that is in the link."""
    return element_builders.link(link, _body(link))


def _name(source: DesignedQuery | DesignedLink) -> str:
    """Return the name by which conditions refer to the query or to the link."""
    return source.alias if isinstance(source, DesignedLink) else source.entity


def _filter(group: DesignedFilter, holder: str | None) -> Element:
    """Return the element of a filter, or of a group in it.

    `holder` is the name of the query or link that has the filter (see `_name`); None for a filter that
    stands alone.
    """
    items = (_item(item, holder) for item in group.items)
    return element_builders.element("filter", {"type": "or" if group.any else "and"}, items)


def _item(item: DesignedItem, holder: str | None) -> Element:
    """Return the element of a condition, link or group in a filter of `holder`."""
    match item:
        case DesignedCondition():
            return _condition(item, holder)
        case DesignedLink():
            return _link(item)
    return _filter(item, holder)


def _condition(condition: DesignedCondition, holder: str | None) -> Element:
    """Return the element of a condition in a filter of `holder`.

    An operator of one value has it as an attribute, any other operator has its values as elements. Raises
    InvalidQuery for characters that XML cannot hold.
    """
    attributes: dict[str, str | None] = {
        "entityname": condition.link,
        "attribute": condition.attribute,
        "operator": condition.operator.value,
    }
    texts = [write_value(value, condition.operator) for value in condition.values]
    try:
        if condition.value_of is not None:
            attributes["valueof"] = element_builders.value_of(condition.value_of, condition.link, holder)
        elif values_taken(condition.operator) == 1:
            attributes["value"] = texts[0]
        else:
            return element_builders.element(
                "condition", attributes, [element_builders.value(text) for text in texts]
            )
        return element_builders.element("condition", attributes)
    except ValueError:
        raise InvalidQuery(
            Sentence(
                "%(construct)s: its value has characters that XML cannot hold.",
                construct=f"condition {condition.attribute} {condition.operator.value}",
            )
        ) from None
