"""What a query compares, joins and sorts by: none of it may be an attribute whose value nobody reads.

Its value could be found out by asking again and again, so this is not left to the platform.
"""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.dataverse.queries.sources import Source, Sources, source_named
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Condition, Filter, Link, Query
from crmclient.query.families import UNREADABLE
from crmclient.query.lookup_names import attribute_of_column


def refuse_unreadable(source: Source, name: str, construct: str) -> None:
    """Raise InvalidQuery for an attribute, or the name of a lookup's record, that is not readable.

    `construct` names the part of the query. What the metadata do not know is left to the platform.
    """
    attribute = attribute_of_column(name, source.document.attributes)
    if attribute is not None and not attribute.readable:
        raise InvalidQuery(f"{construct}: {UNREADABLE}.")


def refuse_unreadable_conditions(query: Query, sources: Sources) -> None:
    """Raise InvalidQuery for a filter or a link over an attribute that is not readable."""
    if query.filter is not None:
        _refuse_in_filter(query.filter, None, sources)
    for link in query.links:
        _refuse_in_link(link, None, sources)


def _refuse_in_link(link: Link, parent: str | None, sources: Sources) -> None:
    """Raise InvalidQuery for an unreadable attribute that a link joins by, or that a filter in it compares.

    `parent` is the alias of the link that has it; None: the entity.
    """
    construct = f"link-entity {link.alias!r}"
    refuse_unreadable(sources[link.alias], link.from_attribute, f"{construct} from")
    refuse_unreadable(sources[parent], link.to_attribute, f"{construct} to")
    if link.filter is not None:
        _refuse_in_filter(link.filter, link.alias, sources)
    for nested in link.links:
        _refuse_in_link(nested, link.alias, sources)


def _refuse_in_filter(group: Filter, holder: str | None, sources: Sources) -> None:
    """Raise InvalidQuery for an unreadable attribute that a filter compares, or that a link in it joins by.

    `holder` is the alias of the link that has the filter; None: the entity.
    """
    for item in group.items:
        match item:
            case Filter():
                _refuse_in_filter(item, holder, sources)
            case Link():
                _refuse_in_link(item, holder, sources)
            case Condition():
                construct = f"condition {item.attribute} {item.operator.value}"
                for alias, name in _compared_attributes(item):
                    refuse_unreadable(source_named(sources, alias, holder, construct), name, construct)


def _compared_attributes(condition: Condition) -> Iterator[tuple[str | None, str]]:
    """Yield the attributes that a condition compares, each after the alias of what it belongs to."""
    yield condition.link, condition.attribute
    if condition.value_of is not None:
        yield condition.value_of
