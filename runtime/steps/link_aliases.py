"""Aliases of the links that row rules bring into a query: each link of a query needs one of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import overload

from crmclient.query.ast import Condition, Filter, FilterItem, Link, Query


def aliases_of(query: Query) -> set[str]:
    """Return the aliases of all links of a query."""
    links = (*(query.filter.links if query.filter is not None else ()), *query.links)
    return {alias for link in links for alias in _aliases_of(link)}


def with_free_aliases(filter: Filter | None, taken: set[str]) -> Filter | None:
    """Return the filter with aliases that are not in `taken`, and add them to `taken`.

    Also in the filter itself, an alias may be there twice: a row rule is made of entries, each of which was
    written alone.
    """
    if filter is None or next(filter.links, None) is None:
        return filter
    return _renamed(filter, {}, taken)


def free_alias(alias: str, taken: set[str]) -> str:
    """Return `alias`, or one like it that is not in `taken`, and add it to `taken`."""
    free, number = alias, 1
    while free in taken:
        number += 1
        free = f"{alias}_{number}"
    taken.add(free)
    return free


def _aliases_of(link: Link) -> Iterator[str]:
    """Yield the aliases of a link and of the links in it."""
    yield link.alias
    for inner in (*(link.filter.links if link.filter is not None else ()), *link.links):
        yield from _aliases_of(inner)


@overload
def _renamed(item: Filter, names: Mapping[str, str], taken: set[str]) -> Filter: ...
@overload
def _renamed(item: Link, names: Mapping[str, str], taken: set[str]) -> Link: ...
@overload
def _renamed(item: FilterItem, names: Mapping[str, str], taken: set[str]) -> FilterItem: ...
def _renamed(item: FilterItem, names: Mapping[str, str], taken: set[str]) -> FilterItem:
    """Return an item of a filter with new aliases. `names` are those of the links that it is in, by the
    aliases that were written.
    """
    match item:
        case Filter():
            return replace(item, items=tuple(_renamed(inner, names, taken) for inner in item.items))
        case Link():
            alias = free_alias(item.alias, taken)
            names = {**names, item.alias: alias}
            return replace(
                item,
                alias=alias,
                filter=None if item.filter is None else _renamed(item.filter, names, taken),
                links=tuple(_renamed(link, names, taken) for link in item.links),
            )
        case Condition():
            value_of = item.value_of
            if value_of is not None:
                holder, attribute = value_of
                value_of = _new_name(holder, names), attribute
            return replace(item, link=_new_name(item.link, names), value_of=value_of)


def _new_name(alias: str | None, names: Mapping[str, str]) -> str | None:
    """Return the new name of a link; None for the entity or link that a filter stands in."""
    return None if alias is None else names.get(alias, alias)
