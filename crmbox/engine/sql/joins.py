"""The entity and its links as a FROM clause and conditions.

Links are joined one after the other in the order written, nested ones after their parent. An inner link
inside an outer one therefore leaves out the rows that the outer one found nothing for; so does a link that
joins nothing. A link of the type “first” joins the record with the lowest id, because the platform
promises no order.
"""

from __future__ import annotations

from dataclasses import dataclass

from crmbox.engine.dialects.base import Dialect
from crmbox.engine.names import quote
from crmbox.engine.sql.filters import FilterWriter, check_comparable
from crmbox.engine.sql.fragment import Fragment, concat, join
from crmbox.engine.sql.scope import JoinedSource, Scope
from crmclient.query.ast import Link, LinkType, Query


@dataclass(frozen=True, slots=True)
class _LinkSQL:
    """A link as SQL. `on` is the condition that two records meet, `filter` the link's other conditions."""

    source: JoinedSource
    on: Fragment
    filter: Fragment | None
    nested: tuple[_LinkSQL, ...]

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
    return FilterWriter(scope, dialect, _link_as_condition)


def from_clause(query: Query, filters: FilterWriter) -> tuple[Fragment, list[Fragment]]:
    """Return the FROM clause with the joins, and the conditions of links that only filter, such as `any`.

    The conditions belong into WHERE, where all of them must hold.
    """
    root = filters.scope.root
    clause = Fragment(f"FROM {quote(root.stored.table)} AS {root.sql}")
    conditions: list[Fragment] = []
    for link in query.links:
        joined, link_conditions = _joins_of(_write_join(link, filters))
        clause = concat(clause, *joined)
        conditions += link_conditions
    return clause, conditions


def _write_join(link: Link, filters: FilterWriter) -> _LinkSQL:
    """Return a link and those in it as SQL. Raises InvalidQuery.

    The filter is written before the nested links, because the values of the query are counted in that order.
    """
    source = filters.scope.of_link(link)
    construct = f"link-entity {link.alias!r}"
    link_operand = filters.scope.operand(source, link.from_attribute, f"{construct} from")
    parent_operand = filters.scope.operand(source.parent, link.to_attribute, f"{construct} to")
    check_comparable(link_operand, parent_operand, construct)
    on = Fragment(f"{link_operand.compared} = {parent_operand.compared}")
    filter = filters.write(link.filter, source)
    return _LinkSQL(source, on, filter, tuple(_write_join(nested, filters) for nested in link.links))


def _link_as_condition(filters: FilterWriter, link: Link) -> Fragment:
    return _condition_of(_write_join(link, filters))


def _joins_of(link_sql: _LinkSQL) -> tuple[list[str | Fragment], list[Fragment]]:
    """Return the SQL of a link and of those in it: the joins, each with a blank before it, and the conditions
    of the links that join nothing.
    """
    source = link_sql.source
    if not source.link.type.joins:
        return [], [_condition_of(link_sql)]
    join = " LEFT JOIN" if source.link.type is LinkType.OUTER else " JOIN"
    beginning = f"{join} {link_sql.table} ON "
    if source.is_single:
        # The join is on the id of one record, which a subquery finds. Inside the subquery, the same alias
        # stands for each record that it looks at.
        first = concat(_select(link_sql, link_sql.id), f" ORDER BY {link_sql.id} LIMIT 1")
        joins: list[str | Fragment] = [beginning, f"{link_sql.id} = (", first, ")"]
    else:
        joins = [beginning, link_sql.conditions]
    conditions: list[Fragment] = []
    for nested in link_sql.nested:
        nested_joins, nested_conditions = _joins_of(nested)
        joins += nested_joins
        conditions += nested_conditions
    return joins, conditions


def _condition_of(link_sql: _LinkSQL) -> Fragment:
    """Return a link that joins nothing, such as one of the type any or all, as an EXISTS condition."""
    condition = concat("EXISTS (", _select(link_sql, "1"), ")")
    match link_sql.source.link.type:
        case LinkType.NOT_ANY:
            return concat("NOT ", condition)
        case LinkType.ALL:
            # Despite the name: rows meet, and none of them fulfils the filter of the link.
            some = concat(f"EXISTS (SELECT 1 FROM {link_sql.table} WHERE ", link_sql.on, ")")
            return concat("(", some, " AND NOT ", condition, ")")
    return condition


def _select(link_sql: _LinkSQL, columns: str) -> Fragment:
    """Return a select of the linked records that meet the parent and all conditions of the link."""
    joins: list[str | Fragment] = []
    conditions = [link_sql.conditions]
    for nested in link_sql.nested:
        nested_joins, nested_conditions = _joins_of(nested)
        joins += nested_joins
        conditions += nested_conditions
    return concat(f"SELECT {columns} FROM {link_sql.table}", *joins, " WHERE ", join(" AND ", conditions))
