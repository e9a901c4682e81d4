"""What a query means, said once more in plain Python over lists: the measure for the compiled ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cmp_to_key
from typing import Any

from crmclient.query.ast import Column, Condition, Filter, FilterItem, Link, LinkType, Operator, Order, Query
from crmclient.query.families import OF_RECORDS_HIERARCHY
from crmclient.text import fold
from crmclient.values import Reference, Value
from tests.crmbox.library import GENRES, Row, Tables

Combined = dict[str | None, Row | None]
"""One row of the joins: the record of each alias, None where an outer link found nothing.

The entity's own record is under None and under the entity's name.
"""

_GENRE_LABELS = {option.value: fold(option.label.text()) for option in GENRES.options}


def evaluate(query: Query, tables: Tables) -> list[Row]:
    """The rows in full order."""
    combined: list[Combined] = [{None: row, query.entity: row} for row in tables[query.entity]]
    for link in query.links:
        combined = _joined(combined, link, None, tables)
    if query.filter is not None:
        combined = [row for row in combined if _group(query.filter, row, None, tables)]
    columns = _columns(query)
    if query.distinct:
        return _distinct(query, combined, columns)
    combined.sort(key=cmp_to_key(lambda a, b: _compare(_keys(query, a), _keys(query, b))))
    return [{key: _value(row, alias, column) for key, alias, column in columns} for row in combined][
        : query.top
    ]


def _links(links: tuple[Link, ...], parent: str | None) -> Iterator[tuple[Link, str | None]]:
    """Those whose columns rows have."""
    for link in links:
        if link.type.joins:
            yield link, parent
            yield from _links(link.links, link.alias)


def _joined(
    rows: list[Combined], link: Link, parent: str | None, tables: Tables, *, single: bool = False
) -> list[Combined]:
    """The rows with what a link and those in it find for each; `single`: of that, the first."""
    single = single or link.type is LinkType.FIRST
    if not link.type.joins:
        return [row for row in rows if _exists(link, row, parent, tables)]
    combinations: list[Combined] = []
    for row in rows:
        met = list(_met(row, link, parent, tables))
        if single:
            # One that everything below it is found for, and of these the lowest.
            met = [each for each in met if _below([each], link, tables)]
            met = sorted(met, key=lambda each: str((each[link.alias] or {})[f"{link.entity}id"]))[:1]
        if not met and link.type is LinkType.OUTER:
            met = [{**row, link.alias: None}]
        combinations += _below(met, link, tables, single=single)
    return combinations


def _below(rows: list[Combined], link: Link, tables: Tables, *, single: bool = False) -> list[Combined]:
    for nested in link.links:
        rows = _joined(rows, nested, link.alias, tables, single=single)
    return rows


def _met(row: Combined, link: Link, parent: str | None, tables: Tables) -> Iterator[Combined]:
    """The row with each record that meets it and fulfils the link's filter."""
    for other in tables[link.entity]:
        joined = {**row, link.alias: other}
        if _meets(row[parent], other, link) and (
            link.filter is None or _group(link.filter, joined, link.alias, tables)
        ):
            yield joined


def _meets(row: Row | None, other: Row, link: Link) -> bool:
    theirs = _compared(_get(row, link.to_attribute))
    return theirs is not None and bool(_compared(_get(other, link.from_attribute)) == theirs)


def _exists(link: Link, row: Combined, parent: str | None, tables: Tables) -> bool:
    is_met = any(_below([each], link, tables) for each in _met(row, link, parent, tables))
    if link.type is LinkType.NOT_ANY:
        return not is_met
    if link.type is LinkType.ALL:
        return not is_met and any(_meets(row[parent], other, link) for other in tables[link.entity])
    return is_met


def _group(group: Filter, row: Combined, own: str | None, tables: Tables) -> bool:
    if not group.items:
        return True
    held = [_item(item, row, own, tables) for item in group.items]
    return any(held) if group.any else all(held)


def _item(item: FilterItem, row: Combined, own: str | None, tables: Tables) -> bool:
    match item:
        case Condition():
            return _condition(item, row, own, tables)
        case Link():
            return _exists(item, row, own, tables)
    return _group(item, row, own, tables)


def _above(id: Value, tables: Tables) -> set[Value]:
    """The ids of all mentors of an author, and of theirs."""
    mentors = {row["lib_authorid"]: _compared(row["mentorid"]) for row in tables["lib_author"]}
    mentor_ids: set[Value] = set()
    above = mentors.get(id)
    while above is not None and above not in mentor_ids:
        mentor_ids.add(above)
        above = mentors.get(above)
    return mentor_ids


def _in_hierarchy(operator: Operator, value: Value, wanted: Value, tables: Tables) -> bool:
    match operator:
        case Operator.UNDER:
            return wanted in _above(value, tables)
        case Operator.EQ_OR_UNDER:
            return value == wanted or wanted in _above(value, tables)
        case Operator.NOT_UNDER:
            return value is None or wanted not in _above(value, tables)
        case Operator.ABOVE:
            return value in _above(wanted, tables)
    return value == wanted or value in _above(wanted, tables)


def _condition(condition: Condition, row: Combined, own: str | None, tables: Tables) -> bool:
    alias = own if condition.link is None else condition.link
    value = _get(row[alias], condition.attribute)
    if condition.operator in OF_RECORDS_HIERARCHY:
        return (value is not None or condition.operator is Operator.NOT_UNDER) and _in_hierarchy(
            condition.operator, _compared(value), condition.values[0], tables
        )
    if condition.value_of is not None:
        other_alias, attribute = condition.value_of
        other = _get(row[own if other_alias is None else other_alias], attribute)
        if condition.operator is Operator.NE:
            return value is None or other is None or _compared(value) != _compared(other)
        return (
            value is not None
            and other is not None
            and _COMPARISONS[condition.operator](_compared(value), _compared(other))
        )
    if condition.operator is Operator.NULL:
        return value is None
    if condition.operator is Operator.NOT_NULL:
        return value is not None
    if condition.operator in _NEGATIONS:
        return value is None or not _holds(_NEGATIONS[condition.operator], value, condition.values)
    return value is not None and _holds(condition.operator, value, condition.values)


def _holds(operator: Operator, value: Value, wanted: tuple[Value, ...]) -> bool:
    if operator in _COMPARISONS:
        return bool(_COMPARISONS[operator](_compared(value), _compared(wanted[0])))
    if operator is Operator.BETWEEN:
        return bool(_compared(wanted[0]) <= _compared(value) <= _compared(wanted[1]))
    if operator is Operator.IN:
        return _compared(value) in [_compared(item) for item in wanted]
    if operator is Operator.CONTAIN_VALUES:
        return bool(set(value) & set(wanted))  # type: ignore[arg-type]
    text = fold(value.name or "" if isinstance(value, Reference) else str(value))
    pattern = str(wanted[0])
    if operator is Operator.LIKE:
        return re.fullmatch(_like(pattern), text, re.DOTALL) is not None
    place: Callable[[str], bool] = {
        Operator.BEGINS_WITH: text.startswith,
        Operator.ENDS_WITH: text.endswith,
        Operator.CONTAINS: lambda part: part in text,
    }[operator]
    return bool(place(fold(pattern)))


_COMPARISONS: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQ: lambda a, b: a == b,
    Operator.GT: lambda a, b: a > b,
    Operator.GE: lambda a, b: a >= b,
    Operator.LT: lambda a, b: a < b,
    Operator.LE: lambda a, b: a <= b,
}
_NEGATIONS = {
    Operator.NE: Operator.EQ,
    Operator.NOT_IN: Operator.IN,
    Operator.NOT_BETWEEN: Operator.BETWEEN,
    Operator.NOT_LIKE: Operator.LIKE,
    Operator.NOT_BEGINS_WITH: Operator.BEGINS_WITH,
    Operator.NOT_ENDS_WITH: Operator.ENDS_WITH,
    Operator.NOT_CONTAIN_VALUES: Operator.CONTAIN_VALUES,
}


def _like(pattern: str) -> str:
    """As a regular expression, for patterns whose brackets hold letters, digits, signs or one range."""
    written = []
    for part in re.findall(r"\[[^\]]+\]|.", pattern, re.DOTALL):
        if part == "%":
            written.append(".*")
        elif part == "_":
            written.append(".")
        elif len(part) > 2 and part[0] == "[":
            inside = fold(part[1:-1])
            negated = inside.startswith("^") and len(inside) > 1
            inside = inside[1:] if negated else inside
            members = inside if re.fullmatch(r"\w-\w", inside) else re.escape(inside)
            written.append(f"[{'^' if negated else ''}{members}]")
        else:
            written.append(re.escape(fold(part)))
    return "".join(written)


def _get(row: Row | None, attribute: str) -> Value:
    if row is None:
        return None
    if attribute not in row and attribute.endswith("name"):
        reference = row[attribute.removesuffix("name")]
        return reference.name if isinstance(reference, Reference) else None
    return row[attribute]


def _compared(value: Any) -> Any:
    """What equality and order look at."""
    if isinstance(value, Reference):
        return value.id
    if isinstance(value, tuple):
        return tuple(sorted(value))
    return fold(value) if isinstance(value, str) else value


def _columns(query: Query) -> list[tuple[str, str | None, Column]]:
    columns = [(column.alias or column.attribute, None, column) for column in query.columns]
    all_columns: list[tuple[str, str | None, Column]] = list(columns)
    for link, _ in _links(query.links, None):
        all_columns += [(c.alias or f"{link.alias}.{c.attribute}", link.alias, c) for c in link.columns]
    return all_columns or [(f"{query.entity}id", None, Column(f"{query.entity}id"))]


def _value(row: Combined, alias: str | None, column: Column) -> Value:
    return _get(row[alias], column.attribute)


def _distinct(query: Query, rows: list[Combined], columns: list[tuple[str, str | None, Column]]) -> list[Row]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        record = {key: _value(row, alias, column) for key, alias, column in columns}
        groups.setdefault(tuple(_compared(value) for value in record.values()), []).append(record)
    # Spellings that compare equal are one row: the tests look at the comparison form only.
    distinct = [records[0] for records in groups.values()]

    def order(record: Row) -> list[tuple[Any, bool]]:
        named = []
        for wanted in query.orders:
            key, attribute = _output(wanted, columns)
            named.append((_sorted_value(record[key], attribute), wanted.descending))
        return [*named, *((_compared(value), False) for value in record.values())]

    distinct.sort(key=cmp_to_key(lambda a, b: _compare(order(a), order(b))))
    return distinct[: query.top]


def _output(order: Order, columns: list[tuple[str, str | None, Column]]) -> tuple[str, str]:
    for key, alias, column in columns:
        if key == order.alias or (alias == order.link and column.attribute == order.attribute):
            return key, column.attribute
    raise AssertionError(order)


def _keys(query: Query, row: Combined) -> list[tuple[Any, bool]]:
    keys = [
        (_sorted_value(_get(row[order.link], str(order.attribute)), order.attribute), order.descending)
        for order in query.orders
    ]
    descending = bool(keys) and keys[-1][1]
    for link in _repeating(query.links):
        if link.from_attribute != f"{link.entity}id":
            keys.append((_get(row[link.alias], f"{link.entity}id"), descending))
    return [*keys, (_get(row[None], f"{query.entity}id"), descending)]


def _repeating(links: tuple[Link, ...]) -> Iterator[Link]:
    """Links that can find several records for one."""
    for link in links:
        if link.type in (LinkType.INNER, LinkType.OUTER):
            yield link
            yield from _repeating(link.links)


def _sorted_value(value: Value, attribute: str | None) -> Any:
    if isinstance(value, Reference):
        return fold(value.name or "")
    return _GENRE_LABELS[value] if attribute == "genre" and isinstance(value, int) else _compared(value)


def _compare(left: list[tuple[Any, bool]], right: list[tuple[Any, bool]]) -> int:
    for (a, descending), (b, _) in zip(left, right, strict=True):
        if a == b:
            continue
        # Empty values are lowest.
        lower = a is None or (b is not None and a < b)
        return 1 if lower == descending else -1
    return 0
