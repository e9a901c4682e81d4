"""Queries as SQL: filters, orders, pages and counts of one table. What is declared nowhere is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from crmclient.conventions import Ability
from crmclient.errors import InvalidQuery, UnfitValue
from crmclient.metadata import Attribute, AttributeType
from crmclient.query.ast import Column, Condition, Filter, FilterItem, Link, Operator, Order, Page, Query
from crmclient.query.families import FAMILY, OPERATORS, Family, are_comparable
from crmclient.query.pages import check_page
from crmclient.query.patterns import MATCHING
from crmclient.query.shape import digest, shape_of
from crmclient.text import fold
from crmclient.values import Reference
from tests.plain_tables.cells import fit, to_cell
from tests.plain_tables.tables import ATTRIBUTES, ENTITIES

Sql: TypeAlias = tuple[str, list[Any]]

_COMPARED: Final = {
    Operator.EQ: "=",
    Operator.GT: ">",
    Operator.GE: ">=",
    Operator.LT: "<",
    Operator.LE: "<=",
    Operator.NE: "<>",
}
# Each holds for empty values, and is what the other does not.
_NEGATIONS: Final = {
    Operator.NOT_IN: Operator.IN,
    Operator.NOT_BETWEEN: Operator.BETWEEN,
    Operator.NOT_LIKE: Operator.LIKE,
    Operator.NOT_BEGINS_WITH: Operator.BEGINS_WITH,
    Operator.NOT_ENDS_WITH: Operator.ENDS_WITH,
}
_COUNTS: Final = {Operator.NULL: (0, 0), Operator.NOT_NULL: (0, 0), Operator.BETWEEN: (2, 2)}
_PATTERNS: Final = {Operator.CONTAINS: "%{}%", Operator.BEGINS_WITH: "{}%", Operator.ENDS_WITH: "%{}"}


def likes(value: str | None, pattern: str) -> bool:
    """The function of the same name in SQL: `%`, `_` and `[0-9]`, without regard to case and accents."""
    if value is None:
        return False
    parts = re.split(r"(%|_|\[[^\]]+\])", pattern)
    wildcards = {"%": ".*", "_": "."}
    text = "".join(
        wildcards.get(part) or (part if part[:1] == "[" else re.escape(fold(part))) for part in parts
    )
    return re.fullmatch(text, fold(value), re.DOTALL) is not None


class Statement:
    """What a query asks of its table. Raises InvalidQuery for what it cannot ask."""

    def __init__(self, query: Query, page: Page, abilities: frozenset[Ability]) -> None:
        check_page(query, page)
        for ability, is_asked in (
            (Ability.LINKS, bool(query.links)),
            (Ability.AGGREGATES, query.is_aggregate),
            (Ability.DISTINCT, query.distinct),
            (Ability.PAGES, page.token is not None),
            (Ability.TOTALS, page.total),
        ):
            if is_asked and ability not in abilities:
                raise InvalidQuery(f"{ability.value}: plain tables have none.")
        self.query, self.page = query, page
        self.attributes = ATTRIBUTES[query.entity]
        self.columns = query.columns or tuple(Column(name) for name in self.attributes)
        keys = [column.alias or column.attribute for column in self.columns]
        if len(set(keys)) < len(keys):
            raise InvalidQuery("Two columns have one key.")
        shape, values = shape_of(query)
        self._question = digest((shape, tuple(map(repr, values))))
        self.offset = self._offset(page.token)

    @property
    def limit(self) -> int:
        """How many rows are read: of a page one more than it has, which says whether there is another."""
        if self.query.top is not None:
            return min(self.query.top, 5000)
        return -1 if self.page.size is None else self.page.size + 1

    def token(self) -> str:
        """What asks for the page after this one."""
        return f"{self._question}.{self.offset + (self.page.size or 0)}"

    def rows(self) -> Sql:
        selected = ", ".join(self._selected(column) for column in self.columns)
        where, values = self._where()
        orders = ", ".join([*map(self._order, self.query.orders), "t.rowid"])
        sql = f"SELECT {selected} FROM {self.query.entity} t WHERE {where} ORDER BY {orders} LIMIT ? OFFSET ?"
        return sql, [*values, self.limit, self.offset]

    def total(self) -> Sql:
        where, values = self._where()
        return f"SELECT COUNT(*) FROM {self.query.entity} t WHERE {where}", values

    def _offset(self, token: str | None) -> int:
        if token is None:
            return 0
        question, _, offset = token.partition(".")
        if question != self._question or not re.fullmatch(r"[0-9]{1,9}", offset):
            raise InvalidQuery("The token is not of this query.")
        return int(offset)

    def attribute(self, name: str) -> Attribute:
        try:
            return self.attributes[name]
        except KeyError:
            raise InvalidQuery(f"{self.query.entity} has no attribute {name!r}.") from None

    def _selected(self, column: Column) -> str:
        """A cell, and of a lookup the name of what it points at."""
        attribute = self._named(column.attribute) or self.attribute(column.attribute)
        name = name_of(attribute) if attribute.type.is_reference else "NULL"
        own = name if self._named(column.attribute) else f"t.{column.attribute}"
        return f"{own}, {name}"

    def _named(self, name: str) -> Attribute | None:
        """The lookup whose name the column `name` holds."""
        attribute = self.attributes.get(name.removesuffix("name")) if name not in self.attributes else None
        return attribute if attribute is not None and attribute.type.is_reference else None

    def held(self, column: Column) -> Attribute:
        """What comes out of a column."""
        if self._named(column.attribute):
            return Attribute(column.attribute, AttributeType.STRING)
        return self.attribute(column.attribute)

    def _order(self, order: Order) -> str:
        if order.link is not None or order.attribute is None:
            raise InvalidQuery("Only attributes of the entity itself sort its rows.")
        attribute = self.attribute(order.attribute)
        return f"{comparable(attribute)} {'DESC' if order.descending else 'ASC'}"

    def _where(self) -> Sql:
        return self._group(self.query.filter) if self.query.filter else ("1", [])

    def _group(self, group: Filter) -> Sql:
        parts = [self._item(item) for item in group.items]
        if not parts:
            return "1", []
        joined = (" OR " if group.any else " AND ").join(sql for sql, _ in parts)
        return f"({joined})", [value for _, values in parts for value in values]

    def _item(self, item: FilterItem) -> Sql:
        match item:
            case Condition():
                return self._condition(item)
            case Link():
                raise InvalidQuery("Tables are asked one at a time.")
        return self._group(item)

    def _condition(self, condition: Condition) -> Sql:
        attribute, operator = self.attribute(condition.attribute), condition.operator
        if condition.link is not None or FAMILY[attribute.type] not in OPERATORS[operator]:
            raise InvalidQuery(f"{operator.value} does not apply to {condition.attribute}.")
        if condition.value_of is not None:
            return self._with_attribute(condition, attribute, condition.value_of)
        least, most = _COUNTS.get(_NEGATIONS.get(operator, operator), (1, 1))
        if operator not in (Operator.IN, Operator.NOT_IN) and not least <= len(condition.values) <= most:
            raise InvalidQuery(f"{operator.value} takes another number of values.")
        if operator in (Operator.NULL, Operator.NOT_NULL):
            return f"t.{condition.attribute} IS {operator.value.replace('-', ' ').upper()}", []
        negated = _NEGATIONS.get(operator)
        if negated is not None:
            sql, values = self._plain(attribute, negated, condition)
            return f"COALESCE(NOT {sql}, 1)", values
        return self._plain(attribute, operator, condition)

    def _plain(self, attribute: Attribute, operator: Operator, condition: Condition) -> Sql:
        if operator in MATCHING:
            return self._pattern(attribute, operator, str(_text(condition.values[0])))
        own, values = comparable(attribute, by_id=True), [_value(attribute, one) for one in condition.values]
        if operator is Operator.IN:
            return f"({own} IN ({', '.join('?' * len(values))}))", values
        if operator is Operator.BETWEEN:
            return f"({own} BETWEEN ? AND ?)", values
        sql = f"({own} {_COMPARED[operator]} ?)"
        return (f"COALESCE({sql}, 1)" if operator is Operator.NE else sql), values

    def _pattern(self, attribute: Attribute, operator: Operator, text: str) -> Sql:
        name = name_of(attribute) if attribute.type.is_reference else f"t.{attribute.logical_name}"
        if operator in _PATTERNS:
            # A bracket makes each of these characters one that is meant.
            text = _PATTERNS[operator].format(re.sub(r"[%_\[]", r"[\g<0>]", text).replace("[[]", "[\\[]"))
        return f"likes({name}, ?)", [text]

    def _with_attribute(
        self, condition: Condition, attribute: Attribute, other: tuple[str | None, str]
    ) -> Sql:
        compared = self.attribute(other[1])
        if other[0] is not None or not are_comparable(attribute, compared):
            raise InvalidQuery("The two attributes cannot be compared.")
        left, right = comparable(attribute, by_id=True), comparable(compared, by_id=True)
        sql = f"({left} {_COMPARED[condition.operator]} {right})"
        return (f"COALESCE({sql}, 1)" if condition.operator is Operator.NE else sql), []


def name_of(attribute: Attribute) -> str:
    """The name of the record that a lookup points at."""
    target = ENTITIES[attribute.targets[0]]
    own = f"t.{attribute.logical_name}"
    return (
        f"(SELECT o.{target.primary_name} FROM {target.logical_name} o WHERE o.{target.primary_id} = {own})"
    )


def comparable(attribute: Attribute, *, by_id: bool = False) -> str:
    """What is compared or sorted by: texts folded, lookups by id or by name."""
    if attribute.type.is_reference:
        return f"t.{attribute.logical_name}" if by_id else f"folded({name_of(attribute)})"
    own = f"t.{attribute.logical_name}"
    return f"folded({own})" if FAMILY[attribute.type] is Family.TEXT else own


def _value(attribute: Attribute, value: Any) -> Any:
    """Raises UnfitValue for a value that the attribute is not compared with."""
    if attribute.type.is_reference:
        value = value if isinstance(value, Reference) else Reference(attribute.targets[0], value)
    try:
        cell = to_cell(attribute, fit(attribute, value))
    except (TypeError, ValueError) as error:
        raise UnfitValue(f"{attribute.logical_name}: {error}.") from error
    return fold(cell) if FAMILY[attribute.type] is Family.TEXT and cell is not None else cell


def _text(value: Any) -> str:
    try:
        return str(fit(Attribute("pattern", AttributeType.STRING), value))
    except (TypeError, ValueError) as error:
        raise UnfitValue(f"The pattern: {error}.") from error


def pairs(row: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """Cell and name of each column, as `Statement.rows` selects them."""
    return zip(row[::2], row[1::2], strict=True)
