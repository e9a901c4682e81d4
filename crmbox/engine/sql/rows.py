"""Plans of plain and of distinct queries, which return rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from crmbox.engine.dialects.base import Dialect, Storage
from crmbox.engine.names import quote
from crmbox.engine.revision import IS_KNOWN
from crmbox.engine.sql.filters import FilterWriter
from crmbox.engine.sql.fragment import Fragment, Slot, all_of, concat, where_clause
from crmbox.engine.sql.group_by import Groups
from crmbox.engine.sql.joins import filter_writer, from_clause
from crmbox.engine.sql.keyset import parts_after
from crmbox.engine.sql.operands import Operand
from crmbox.engine.sql.orders import SortKey, operand_of_order, sort_key, sort_keys, with_ties
from crmbox.engine.sql.outputs import Outputs
from crmbox.engine.sql.scope import Scope, selected_columns, unique_keys
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Query

_MOST_PAGES: Final = 64
"""For how many patterns of empty values statements are kept: a long order can have very many patterns."""

MOST_SEARCHED: Final = 1000
"""When a search finds more records, it is quicker to find the rows of a page along the order."""


@dataclass(frozen=True, slots=True)
class NarrowedPlan:
    """A plan that reads only the records that a search finds.

    `search` selects their ids, up to MOST_SEARCHED and one more. The values of `plan` end with a list of
    these ids.
    """

    search: Fragment
    plan: RowPlan


class RowPlan:
    """The plan of SELECT … FROM `source` WHERE `where` ORDER BY `keys`, from the first or from a given row
    on.

    The values of the parameters are those of the query (`value_count` of them), the limit, and then those of
    the last row. `narrowed` are other plans for the same rows, which are quicker when a search finds few
    records.
    """

    def __init__(
        self,
        outputs: Outputs,
        source: Fragment,
        where: Fragment | None,
        keys: Sequence[SortKey],
        value_count: int,
        dialect: Dialect,
        narrowed: Sequence[NarrowedPlan] = (),
    ) -> None:
        """Write the parts that all statements share, and the count of all rows. The statements themselves are
        made when they are first asked for, and kept.
        """
        self.narrowed = narrowed
        self._outputs = outputs
        self._source = source
        self._where = where
        self._keys = keys
        # Parameters are numbered from 0, those of the query first.
        self._limit_index = value_count
        self._dialect = dialect
        # This adds keys that are not selected to the outputs: it comes before their expressions are written.
        self._key_positions = [outputs.position_of(key.sql) for key in keys]
        self._select = f"SELECT {', '.join(outputs.expressions)} "
        self._order = " ORDER BY " + ", ".join(key.text(dialect) for key in keys)
        # The statements that give a page when they are run in turn, by which values of the last row are empty
        # (None: there is no last row), and whether there is a limit.
        self._pages: dict[tuple[tuple[bool, ...] | None, bool], tuple[Fragment, ...]] = {}
        # By the same, and whether all rows are counted too: the one statement that gives a page and checks
        # the metadata with it. None where a page takes several.
        self._at_once: dict[tuple[tuple[bool, ...] | None, bool, bool], Fragment | None] = {}
        self.count = concat("SELECT COUNT(*) ", source, *where_clause(where))
        self.records = outputs.records

    def position(self, row: Sequence[Any]) -> list[Any]:
        """Return the position of `row` in the order, as a page token holds it."""
        return [
            None if row[index] is None else key.to_token(row[index])
            for key, index in zip(self._keys, self._key_positions, strict=True)
        ]

    def fits(self, position: Sequence[Any]) -> bool:
        """Whether a position can be one of this plan."""
        return len(position) == len(self._keys) and all(
            value is not None or key.nullable for value, key in zip(position, self._keys, strict=True)
        )

    def statements(self, position: Sequence[Any] | None, *, limited: bool) -> tuple[Fragment, ...]:
        """Return the statements that give the rows after `position` (None: from the first), to run in turn.

        The SQL depends on which values of the position are empty, so it is kept by that pattern.
        """
        empty = None if position is None else tuple(value is None for value in position)
        page = self._pages.get((empty, limited))
        if page is None:
            conditions = (None,) if empty is None else self._conditions_after(empty)
            page = tuple(self._statement(condition, limited=limited) for condition in conditions)
            if len(self._pages) < _MOST_PAGES:
                self._pages[empty, limited] = page
        return page

    def at_once(self, position: Sequence[Any] | None, *, limited: bool, total: bool) -> Fragment | None:
        """Return the statement that reads a page alone, for SingleRead; None where several are needed.

        Its last value is the metadata's token that the reader knows: if the token has changed, it finds no
        rows. With `total`, the last column of each row is the total of all rows.
        """
        empty = None if position is None else tuple(value is None for value in position)
        key = (empty, limited, total)
        if key not in self._at_once:
            statement = self._single_statement(empty, limited=limited, total=total)
            if len(self._at_once) >= _MOST_PAGES:
                return statement
            self._at_once[key] = statement
        return self._at_once[key]

    def _single_statement(
        self, empty: tuple[bool, ...] | None, *, limited: bool, total: bool
    ) -> Fragment | None:
        """Return the statement that reads a page at once, with the metadata's token checked in it; None where
        several are needed.
        """
        conditions = (None,) if empty is None else self._conditions_after(empty)
        if self.narrowed or len(conditions) != 1:
            return None
        # The parameters are the query's values, the limit, those of the last row if there is one, the token.
        token_index = self._limit_index + 1 + (0 if empty is None else len(self._keys))
        token = Slot(token_index, str, "token")
        token_condition = Fragment(IS_KNOWN.format(self._dialect.placeholder), (token,))
        return self._statement(conditions[0], token_condition, limited=limited, total=total)

    def _conditions_after(self, empty: tuple[bool, ...]) -> tuple[Fragment, ...]:
        """Return the condition of each statement that reads rows after the last one."""
        return parts_after(self._keys, empty, self._limit_index + 1, self._dialect.placeholder)

    def _statement(self, *conditions: Fragment | None, limited: bool, total: bool = False) -> Fragment:
        """Return the SELECT with further conditions, with a limit, and with the number of all rows as a
        column.
        """
        where = where_clause(self._where, *conditions)
        # With `total`, a subquery adds the number of all rows as the last column.
        counted = (self._select.rstrip(), ", (", self.count, ") ") if total else (self._select,)
        parts = [*counted, self._source, *where, self._order]
        if limited:
            slot = Slot(self._limit_index, int, "limit")
            parts.append(Fragment(f" LIMIT {self._dialect.placeholder}", (slot,)))
        return concat(*parts)


def plain_plan(query: Query, scope: Scope, dialect: Dialect) -> RowPlan:
    """Return the plan of a plain query. Raises InvalidQuery.

    Where an index can search for a text of the filter, the plan is narrowed: another plan for the ids that
    the search finds, if they are few.
    """
    filters = filter_writer(scope, dialect)
    where = filters.write(query.filter, scope.root)
    source, link_conditions = from_clause(query, filters)
    where = all_of(where, *link_conditions)
    columns = _columns(query, scope)
    keys = sort_keys(query, scope)

    outputs = Outputs(columns, scope.snapshot)
    value_count = _value_count(query, filters)
    narrowed: list[NarrowedPlan] = []
    if filters.searches:
        # The ids that a search finds are one more value, after those of the query.
        ids = Slot(value_count, dialect.list_parameter, "search")
        is_found = Fragment(dialect.among(_id_sql(scope), Storage.GUID), (ids,))
        plan_of_found = RowPlan(
            outputs=outputs,
            source=source,
            where=all_of(where, is_found),
            keys=keys,
            value_count=value_count + 1,
            dialect=dialect,
        )
        limit = f" LIMIT {MOST_SEARCHED + 1}"
        narrowed = [NarrowedPlan(concat(search, limit), plan_of_found) for search in filters.searches]
    return RowPlan(
        outputs=outputs,
        source=source,
        where=where,
        keys=keys,
        value_count=value_count,
        dialect=dialect,
        narrowed=narrowed,
    )


def distinct_plan(query: Query, scope: Scope, dialect: Dialect) -> RowPlan:
    """Return the plan of a distinct query.

    Its rows are the groups of all selected columns, so it can be sorted by these columns only.
    """
    filters = filter_writer(scope, dialect)
    where = filters.write(query.filter, scope.root)
    joined, link_conditions = from_clause(query, filters)
    groups = Groups()
    # The operand of each column in the outer select, by its SQL in the inner one.
    outer_by_sql: dict[str, Operand] = {}
    columns: list[tuple[str, Operand]] = []
    for key, operand in _columns(query, scope):
        outer = groups.add(operand)
        outer_by_sql.setdefault(operand.value, outer)
        columns.append((key, outer))
    inner = concat(
        f"SELECT {groups.select} ", joined, *where_clause(where, *link_conditions), groups.group_by
    )
    keys = []
    for order in query.orders:
        selected_operand = outer_by_sql.get(operand_of_order(order, query, scope).value)
        if selected_operand is None:
            name = order.attribute or order.alias
            raise InvalidQuery(f"order {name}: a distinct query is sorted by columns that it selects only.")
        keys.append(sort_key(selected_operand, order, scope.snapshot))
    keys = with_ties(keys, [operand for _, operand in columns], descending=False)
    outputs = Outputs(columns, scope.snapshot)
    source = concat("FROM (", inner, ") AS d")
    return RowPlan(
        outputs=outputs,
        source=source,
        where=None,
        keys=keys,
        value_count=_value_count(query, filters),
        dialect=dialect,
    )


def _columns(query: Query, scope: Scope) -> list[tuple[str, Operand]]:
    """Return the selected columns, each with its key in a row. Raises InvalidQuery."""
    columns = selected_columns(query, scope)
    return [
        (key, scope.operand(source, column.attribute, f"attribute {column.attribute}"))
        for key, (source, column) in zip(unique_keys(columns), columns, strict=True)
    ]


def _value_count(query: Query, filters: FilterWriter) -> int:
    """Return how many values the query has.

    `top` is the last one, as in `shape_of`. No statement takes it from there, because it is the limit, too.
    """
    return filters.values + (query.top is not None)


def _id_sql(scope: Scope) -> str:
    return f"{scope.root.sql}.{quote(scope.root.stored.id_column.name)}"
