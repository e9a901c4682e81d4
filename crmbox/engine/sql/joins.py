"""The entity and its links as a FROM clause.

Links are joined one after the other in the order written, nested ones after their parent. An inner link
inside an outer one therefore leaves out the rows that the outer one found nothing for.
"""

from __future__ import annotations

from crmbox.engine.names import quote
from crmbox.engine.sql.filters import FilterWriter, check_comparable
from crmbox.engine.sql.fragment import Fragment, concat
from crmbox.engine.sql.scope import Joined, Scope


def from_clause(scope: Scope, filters: FilterWriter) -> Fragment:
    clause = Fragment(f"FROM {quote(scope.root.stored.table)} AS {scope.root.sql}")
    for source in scope.links:
        clause = concat(clause, " ", _join(source, scope, filters))
    return clause


def _join(source: Joined, scope: Scope, filters: FilterWriter) -> Fragment:
    link, parent = source.link, source.parent
    construct = f"link-entity {link.alias!r}"
    own = scope.operand(source, link.from_attribute, f"{construct} from")
    theirs = scope.operand(parent, link.to_attribute, f"{construct} to")
    check_comparable(own, theirs, construct)
    kind = "LEFT JOIN" if link.outer else "JOIN"
    on = Fragment(
        f"{kind} {quote(source.stored.table)} AS {source.sql} ON {own.compared} = {theirs.compared}"
    )
    extra = filters.write(link.filter, source)
    return on if extra is None else concat(on, " AND ", extra)
