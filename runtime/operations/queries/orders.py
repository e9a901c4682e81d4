"""The orders that callers may choose from, and what settles the order of equal rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from crmclient import Platform
from crmclient.query.ast import Order
from crmclient.query.designed import DesignedQuery
from designer.kinds.queries import OfferedOrder
from designer.queries.answered_columns import sortable
from designer.sentences import Sentence
from designer.types import InvalidInput
from runtime.http.failures import Misconfigured


def with_primary_key(
    orders: tuple[Order, ...], query: DesignedQuery, platform: Platform
) -> tuple[Order, ...]:
    """Return `orders` followed by the entity's primary key, so that equal rows, too, have a fixed order.

    Groups and distinct rows have no key: the platform decides their order.
    """
    key = platform.entities()[query.entity].primary_id
    if query.is_aggregate or query.distinct or any(_is_by_primary_key(order, key) for order in orders):
        return orders
    return (*orders, Order(key, descending=bool(orders) and orders[-1].descending))


class Orders:
    """The orders that are `offered` to callers, by name. Each may be reversed by a minus before its name.

    Raises Misconfigured for an order by an unknown key.
    """

    def __init__(self, offered: Iterable[OfferedOrder], query: DesignedQuery, platform: Platform) -> None:
        by_key = sortable(query, platform.attributes)
        self._by_name: dict[str, tuple[Order, ...]] = {}
        for name, orders in _both_ways(offered, by_key):
            self._by_name[name] = with_primary_key(orders, query, platform)

    @property
    def names(self) -> frozenset[str]:
        """The name of the parameter as a set; empty when there is no order to choose."""
        return frozenset({"order"}) if self._by_name else frozenset()

    def chosen(self, text: str) -> tuple[Order, ...]:
        """Return the order with this name. Raises InvalidInput for an order that is not offered."""
        orders = self._by_name.get(text)
        if orders is None:
            raise InvalidInput("not_allowed", f"Must be one of: {', '.join(self._by_name)}.")
        return orders

    def document(self) -> tuple[dict[str, Any], ...]:
        """Return the OpenAPI parameter `order`; nothing when there is no order to choose."""
        if not self._by_name:
            return ()
        return (
            {
                "name": "order",
                "in": "query",
                "description": gettext_noop(
                    "How the rows are sorted; with a minus in front, the other way round."
                ),
                "schema": {"type": "string", "enum": list(self._by_name)},
            },
        )


def _both_ways(
    offered: Iterable[OfferedOrder], by_key: Mapping[str, Order]
) -> Iterator[tuple[str, tuple[Order, ...]]]:
    """Yield the name and orders of each choice, and the same with a minus, sorted the other way round."""
    for choice in offered:
        orders = tuple(_order(key, by_key) for key in choice.by)
        yield choice.name, orders
        yield (
            f"-{choice.name}",
            tuple(replace(order, descending=not order.descending) for order in orders),
        )


def _order(key: str, by_key: Mapping[str, Order]) -> Order:
    """Return the order by a key of the query; descending when `key` begins with a minus. Raises Misconfigured
    for an unknown key.
    """
    name = key.removeprefix("-")
    if name not in by_key:
        raise Misconfigured(Sentence("there is no %(name)s to sort by", name=repr(name)))
    return replace(by_key[name], descending=name != key)


def _is_by_primary_key(order: Order, key: str) -> bool:
    """Whether an order is by the primary key `key` of the query's own entity."""
    return order.link is None and order.attribute == key
