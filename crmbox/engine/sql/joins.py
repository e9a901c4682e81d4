"""The entity and its links as a FROM clause and conditions.

Links are joined one after the other in the order written, nested ones after their parent. An inner link
inside an outer one therefore leaves out the rows that the outer one found nothing for; so does a link that
joins nothing. Of the records that the first one of is joined, that is the one with the lowest id: the
platform promises no order.
"""

from __future__ import annotations

from dataclasses import dataclass

from crmbox.engine.dialects.base import Dialect
from crmbox.engine.names import quote
from crmbox.engine.sql.filters import FilterWriter, check_comparable
from crmbox.engine.sql.fragment import Fragment, concat, join
from crmbox.engine.sql.scope import Joined, Scope
from crmclient.query.ast import Link, LinkType, Query


@dataclass(frozen=True, slots=True)
class _Written:
    """A link with its text. `on` is that two records meet; `filter` what the link asks for besides."""

    source: Joined
    on: Fragment
    filter: Fragment | None
    nested: tuple[_Written, ...]

    @property
    def table(self) -> str:
        return f"{quote(self.source.stored.table)} AS {self.source.sql}"

    @property
    def id(self) -> str:
        return f"{self.source.sql}.{quote(self.source.stored.id_column.name)}"

    @property
    def conditions(self) -> Fragment:
        return self.on if self.filter is None else concat(self.on, " AND ", self.filter)


def filter_writer(scope: Scope, dialect: Dialect) -> FilterWriter:
    return FilterWriter(scope, dialect, _in_filter)


def from_clause(query: Query, filters: FilterWriter) -> tuple[Fragment, list[Fragment]]:
    """The clause, and the conditions of links that join nothing, all of which must hold."""
    root = filters.scope.root
    clause = Fragment(f"FROM {quote(root.stored.table)} AS {root.sql}")
    conditions: list[Fragment] = []
    for link in query.links:
        joined, also = _taken(_written(link, filters))
        clause = concat(clause, *joined)
        conditions += also
    return clause, conditions


def _written(link: Link, filters: FilterWriter) -> _Written:
    """Takes values in the walk order: those of the filter first, then those of the links in it."""
    source = filters.scope.of_link(link)
    construct = f"link-entity {link.alias!r}"
    own = filters.scope.operand(source, link.from_attribute, f"{construct} from")
    theirs = filters.scope.operand(source.parent, link.to_attribute, f"{construct} to")
    check_comparable(own, theirs, construct)
    on = Fragment(f"{own.compared} = {theirs.compared}")
    filter = filters.write(link.filter, source)
    return _Written(source, on, filter, tuple(_written(nested, filters) for nested in link.links))


def _in_filter(filters: FilterWriter, link: Link) -> Fragment:
    return _existing(_written(link, filters))


def _taken(written: _Written) -> tuple[list[str | Fragment], list[Fragment]]:
    """A link and those in it as joins, each after a blank, and conditions."""
    source = written.source
    if not source.link.type.joins:
        return [], [_existing(written)]
    kind = " LEFT JOIN" if source.link.type is LinkType.OUTER else " JOIN"
    beginning = f"{kind} {written.table} ON "
    if source.is_single:
        # By its own alias, which means the record that is looked for in there.
        first = concat(_select(written, written.id), f" ORDER BY {written.id} LIMIT 1")
        joins: list[str | Fragment] = [beginning, f"{written.id} = (", first, ")"]
    else:
        joins = [beginning, written.conditions]
    conditions: list[Fragment] = []
    for nested in written.nested:
        more, also = _taken(nested)
        joins += more
        conditions += also
    return joins, conditions


def _existing(written: _Written) -> Fragment:
    """A link that joins nothing, as a condition on its parent."""
    found = concat("EXISTS (", _select(written, "1"), ")")
    match written.source.link.type:
        case LinkType.NOT_ANY:
            return concat("NOT ", found)
        case LinkType.ALL:
            some = concat(f"EXISTS (SELECT 1 FROM {written.table} WHERE ", written.on, ")")
            return concat("(", some, " AND NOT ", found, ")")
    return found


def _select(written: _Written, what: str) -> Fragment:
    """A select of the linked records that meet the parent and all that the link asks for."""
    joins: list[str | Fragment] = []
    conditions = [written.conditions]
    for nested in written.nested:
        more, also = _taken(nested)
        joins += more
        conditions += also
    return concat(f"SELECT {what} FROM {written.table}", *joins, " WHERE ", join(" AND ", conditions))
