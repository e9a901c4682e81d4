"""The tables of a statement: the one after FROM, and those that are joined to it, as links of the query."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from crmbox.webapi.errors import bad_url, unsupported
from crmbox.webapi.model import EntityType, Model
from crmbox.webapi.odata.properties import no_property
from crmbox.webapi.sql.statement import unsupported_node
from crmclient.errors import UnknownEntity
from crmclient.metadata import Attribute
from crmclient.query.ast import Column, Link, LinkType

# What may be said of a table. Hints, such as NOLOCK, change nothing of the rows.
_PARTS_OF_TABLE = frozenset({"this", "alias", "hints"})


@dataclass(slots=True)
class Table:
    """A table of a statement. `link` is the alias of its link in the query; None for the first table.

    `own` and `parents` are the attributes that its join compares: its own, and the one of the table that it
    is joined to.
    """

    type: EntityType
    link: str | None
    outer: bool = False
    own: str = ""
    parents: str = ""
    columns: list[Column] = field(default_factory=list)
    children: list[Table] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """The attribute that a column of the statement names, in its table."""

    table: Table
    attribute: Attribute


class Tables:
    """The tables of one statement by their aliases."""

    def __init__(self, model: Model, select: exp.Select) -> None:
        """Raises WebApiError for unknown tables, and for joins that cannot be links of a query."""
        self._model = model
        self._named: dict[str, Table] = {}
        self.first = self._table(select.args["from_"].this)
        for join in select.args.get("joins") or ():
            self._join(join)

    def place(self, node: exp.Expr) -> NamedColumn:
        """Return the table and attribute that a column names. Raises WebApiError.

        A lookup is also named `_x_value`.
        """
        if not isinstance(node, exp.Column) or node.args.get("db") or isinstance(node.this, exp.Star):
            raise unsupported_node(node)
        name, table_name = node.name.lower(), node.table.lower()
        if table_name:
            if table_name not in self._named:
                raise bad_url(f"There is no table '{node.table}' in the statement.")
            return NamedColumn(self._named[table_name], _attribute(self._named[table_name], name))
        tables_with_name = [
            table for table in self._named.values() if _attribute_or_none(table, name) is not None
        ]
        if len(tables_with_name) > 1:
            raise bad_url(f"Ambiguous column name '{node.name}'.")
        # Where no table has it, the error names the first one.
        owner = tables_with_name[0] if tables_with_name else self.first
        return NamedColumn(owner, _attribute(owner, name))

    def links(self) -> tuple[Link, ...]:
        """Return the links of the query. Call this after all columns have been assigned to their tables."""
        return _links(self.first)

    def _table(self, node: exp.Expr, *, outer: bool = False) -> Table:
        """Add a table by its alias, and return it. Raises WebApiError for a table of no entity."""
        if not isinstance(node, exp.Table) or any(
            part for name, part in node.args.items() if name not in _PARTS_OF_TABLE
        ):
            raise unsupported_node(node)
        try:
            type_ = self._model.entity_type(node.name.lower())
        except UnknownEntity:
            raise bad_url(f"There is no table '{node.name}'.") from None
        known_as = node.alias_or_name.lower()
        if known_as in self._named:
            raise bad_url(f"Two tables are called '{known_as}'.")
        # The first table is the entity of the query, which has no link.
        table = Table(type_, known_as if self._named else None, outer)
        self._named[known_as] = table
        return table

    def _join(self, join: exp.Join) -> None:
        """Add the table of a join to the table that its condition compares it with. Raises WebApiError."""
        side, on = join.side.upper(), join.args.get("on")
        if side not in ("", "LEFT") or join.kind.upper() not in ("", "INNER", "OUTER") or on is None:
            raise unsupported(
                f"{side or join.kind or 'CROSS'} JOIN in sql: INNER JOIN and LEFT JOIN … ON are"
            )
        table = self._table(join.this, outer=side == "LEFT")
        while isinstance(on, exp.Paren):
            on = on.this
        if not isinstance(on, exp.EQ):
            raise unsupported("a join in sql on anything but one equality")
        own_column, parent_column = self.place(on.this), self.place(on.expression)
        if own_column.table is not table:
            own_column, parent_column = parent_column, own_column
        if own_column.table is not table or parent_column.table is table:
            raise bad_url(
                f"The join of '{table.link}' must compare a column of it with one of another table."
            )
        table.own, table.parents = own_column.attribute.logical_name, parent_column.attribute.logical_name
        parent_column.table.children.append(table)


def _links(table: Table) -> tuple[Link, ...]:
    """Return a link for each table that is joined to this one, with the tables joined to that in it."""
    return tuple(
        Link(
            child.type.name,
            child.own,
            child.parents,
            child.link or "",
            type=LinkType.OUTER if child.outer else LinkType.INNER,
            columns=tuple(child.columns),
            links=_links(child),
        )
        for child in table.children
    )


def _attribute_or_none(table: Table, name: str) -> Attribute | None:
    """Return the attribute of a logical or property name; None for any other."""
    return table.type.attributes.get(name) or table.type.properties.get(name)


def _attribute(table: Table, name: str) -> Attribute:
    """Return the attribute of a logical or property name. Raises WebApiError for any other."""
    attribute = _attribute_or_none(table, name)
    if attribute is None:
        raise no_property(name, table.type)
    return attribute
