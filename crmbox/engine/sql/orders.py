"""What a query's rows are sorted by, down to a total order.

Empty values are lowest. Text sorts by its comparison form, a choice by its English label, a lookup by the
name of its record, as on Dataverse. After the query's own orders come the keys of the links that can meet a
row more than once, then the entity's own key: without the former, a page would end in the middle of equal
rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from crmbox.engine.dialects.base import Dialect
from crmbox.engine.snapshot import Snapshot
from crmbox.engine.sql.operands import Operand, name_of
from crmbox.engine.sql.scope import Scope, output_key, selected_columns
from crmclient.errors import InvalidQuery
from crmclient.metadata import Attribute
from crmclient.query.ast import Order, Query
from crmclient.query.bounds import MOST_KEYS
from crmclient.query.families import UNSORTABLE, Family
from crmclient.text import fold

SORT_CHOICES_BY_LABEL: Final = True
"""As Dataverse does; False sorts them by value."""


@dataclass(frozen=True, slots=True)
class SortKey:
    """SQL to sort by.

    `to_token` makes text or a number for a page token of the value of `sql`; `from_token` turns it back.
    """

    sql: str
    descending: bool
    nullable: bool
    to_token: Callable[[Any], str | int | float]
    from_token: Callable[[Any], Any]

    def text(self, dialect: Dialect) -> str:
        """Return the term of ORDER BY."""
        if self.descending:
            return f"{self.sql} DESC{dialect.descending_nulls if self.nullable else ''}"
        return f"{self.sql}{dialect.nulls_first if self.nullable else ''}"


def sort_keys(query: Query, scope: Scope) -> list[SortKey]:
    """Return the whole order of a query that is neither distinct nor an aggregate.

    The primary ids come last, so that no two rows are equal in the order and a page token names one place.
    They go in the direction of the last key, so that one index can serve both.
    """
    keys = [sort_key(operand_of_order(order, query, scope), order, scope.snapshot) for order in query.orders]
    descending = bool(keys) and keys[-1].descending
    ids = [
        scope.operand(source, source.stored.entity.primary_id, "order")
        for source in (*(link for link in scope.links if link.may_repeat), scope.root)
    ]
    return with_ties(keys, ids, descending=descending)


def with_ties(keys: list[SortKey], ties: list[Operand], *, descending: bool) -> list[SortKey]:
    """Return `keys` without repetitions, and with those of `ties` that are not among them.

    `ties` are what rows that are equal by `keys` are sorted by. Raises InvalidQuery for too many keys.
    """
    # Reversed, so that of several keys with the same SQL the first wins.
    keys_by_sql = {key.sql: key for key in reversed(keys)}
    unique = [keys_by_sql[sql] for sql in dict.fromkeys(key.sql for key in keys)]
    for operand in ties:
        if operand.compared not in keys_by_sql:
            tie = _plain(operand, descending=descending)
            keys_by_sql[tie.sql] = tie
            unique.append(tie)
    if len(unique) > MOST_KEYS:
        raise InvalidQuery(
            f"order: rows are sorted by at most {MOST_KEYS} columns; distinct ones by all that are selected."
        )
    return unique


def operand_of_order(order: Order, query: Query, scope: Scope) -> Operand:
    """Return the operand of an order: an attribute, or a selected column by its alias."""
    if order.attribute is not None:
        construct = f"order {order.attribute}"
        source = scope.source(order.link, construct)
        if not source.takes_part:
            raise InvalidQuery(f"{construct}: the link {order.link!r} gives no columns to sort by.")
        return scope.operand(source, order.attribute, construct)
    construct = f"order {order.alias}"
    for source, column in selected_columns(query, scope):
        if output_key(source, column) == order.alias:
            return scope.operand(source, column.attribute, construct)
    raise InvalidQuery(f"{construct}: no column has this alias.")


def sort_key(operand: Operand, order: Order, snapshot: Snapshot) -> SortKey:
    """Return what an order by `operand` sorts by. Raises InvalidQuery for a family without an order."""
    if operand.family in UNSORTABLE:
        raise InvalidQuery(f"order {operand.label}: a {operand.family.value} cannot be sorted by.")
    if operand.family is Family.REFERENCE:
        return _plain(name_of(operand, snapshot), descending=order.descending)
    if operand.family is Family.CHOICE and SORT_CHOICES_BY_LABEL:
        return _by_label(operand, snapshot, descending=order.descending)
    return _plain(operand, descending=order.descending)


def _plain(operand: Operand, *, descending: bool) -> SortKey:
    """Sort by the operand's comparison form, whose values a page token holds as they are."""
    return SortKey(
        sql=operand.compared,
        descending=descending,
        nullable=operand.nullable,
        to_token=_plain_to_token,
        from_token=_as_it_is,
    )


def _plain_to_token(value: Any) -> str | int | float:
    return str(value) if isinstance(value, Decimal) else value


def _as_it_is(value: Any) -> Any:
    return value


def _by_label(operand: Operand, snapshot: Snapshot, *, descending: bool) -> SortKey:
    """Return the key that sorts a choice by the rank of each option's label.

    A page token holds the value of an option, not its rank, so that it stays valid when a label changes.
    """
    ranks = _ranks(operand.attribute, snapshot)
    if not ranks:
        return _plain(operand, descending=descending)
    cases = " ".join(f"WHEN {value:d} THEN {rank:d}" for value, rank in ranks.items())
    # Of several options with equal labels, a token holds the first.
    values = {rank: value for value, rank in reversed(ranks.items())}

    def from_token(value: Any) -> int:
        if value not in ranks:
            raise ValueError("the option it stood at is gone")
        return ranks[value]

    # Nullable, because CASE gives NULL for an empty value and for one that is no option.
    return SortKey(
        sql=f"CASE {operand.compared} {cases} END",
        descending=descending,
        nullable=True,
        to_token=values.__getitem__,
        from_token=from_token,
    )


def _ranks(attribute: Attribute, snapshot: Snapshot) -> dict[int, int]:
    """Return the rank of each option's label. Equal labels have the same rank."""
    labels = {option.value: fold(option.label.text()) for option in snapshot.options_of(attribute).options}
    places = {label: place for place, label in enumerate(sorted(set(labels.values())))}
    return {value: places[label] for value, label in labels.items()}
