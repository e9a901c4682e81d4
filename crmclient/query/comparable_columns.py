"""Which columns make groups, and which tell distinct rows apart. Every platform refuses the others.

The name of a lookup's record is read with the lookup, and files and party lists by requests of their own: no
platform compares them. Distinct rows may have them beside what they depend on, since they add nothing there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from crmclient.errors import InvalidQuery
from crmclient.metadata import Attribute
from crmclient.query.ast import Column, Link, Query
from crmclient.query.families import FAMILY
from crmclient.query.lookup_names import lookup_named_by
from crmclient.sentences import Sentence


def refuse_incomparable_columns(query: Query, attributes: Callable[[str], Mapping[str, Attribute]]) -> None:
    """Raise InvalidQuery for a column that cannot be compared, in a query that is distinct or aggregates.

    `attributes` returns those of an entity.
    """
    aggregate = query.is_aggregate
    if not query.distinct and not aggregate:
        return
    for source in _sources(query):
        of_entity = attributes(source.entity)
        for column, message in incomparable_columns(source.columns, of_entity, aggregate=aggregate):
            raise InvalidQuery(
                Sentence(
                    "%(construct)s: %(message)s.",
                    construct=f"attribute {column.attribute}",
                    message=message,
                )
            )


def incomparable_columns(
    columns: Sequence[Column], attributes: Mapping[str, Attribute], *, aggregate: bool
) -> Iterator[tuple[Column, Sentence]]:
    """Yield each column that cannot be compared, with what is wrong.

    `columns` are those of the entity or of one link in a query that is distinct or, with `aggregate`,
    aggregates; `attributes` are those of its entity.
    """
    find_reason = _why_not_grouped if aggregate else _why_not_distinct
    for column in columns:
        message = find_reason(column, columns, attributes)
        if message is not None:
            yield column, message


def _why_not_grouped(
    column: Column, columns: Sequence[Column], attributes: Mapping[str, Attribute]
) -> Sentence | None:
    """Return why a query that aggregates cannot have this column; None: it can.

    `columns` is not used. It is there because `_why_not_distinct` takes the same arguments.
    """
    lookup = lookup_named_by(column.attribute, attributes)
    if lookup is not None:
        return Sentence(
            "the name of a lookup's record is neither grouped nor counted; take %(lookup)s instead",
            lookup=lookup.logical_name,
        )
    attribute = attributes.get(column.attribute)
    if attribute is None or not column.group_by or not _is_read_apart(attribute):
        return None
    return Sentence("a %(family)s is not grouped by", family=FAMILY[attribute.type].words)


def _why_not_distinct(
    column: Column, columns: Sequence[Column], attributes: Mapping[str, Attribute]
) -> Sentence | None:
    """Return why a distinct query cannot have this column beside the other `columns`; None: it can."""
    selected = {other.attribute for other in columns}
    lookup = lookup_named_by(column.attribute, attributes)
    if lookup is not None:
        if lookup.logical_name in selected:
            return None
        return Sentence(
            "rows are not told apart by the name of a lookup's record; select %(lookup)s, too",
            lookup=lookup.logical_name,
        )
    attribute = attributes.get(column.attribute)
    if attribute is None or not _is_read_apart(attribute):
        return None
    primary_id = next((name for name, other in attributes.items() if other.is_primary_id), "")
    if primary_id in selected:
        return None
    return Sentence(
        "rows are not told apart by a %(family)s; select %(id)s, too",
        family=FAMILY[attribute.type].words,
        id=primary_id,
    )


def _is_read_apart(attribute: Attribute) -> bool:
    """Whether the values of the attribute are read by requests of their own, after the query."""
    return attribute.type.holds_file or attribute.type.holds_parties


def _sources(source: Query | Link) -> Iterator[Query | Link]:
    """Yield a query or link, and all links in it: everything that has columns."""
    yield source
    for link in source.links:
        yield from _sources(link)
