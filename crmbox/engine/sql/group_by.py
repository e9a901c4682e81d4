"""Columns that rows are grouped by: for distinct queries and for aggregates.

Texts that compare equal are one group, shown in the spelling that sorts first. The groups are an inner
select; what is shown, sorted and paged is an outer one over it, named `d`.
"""

from __future__ import annotations

from dataclasses import replace

from crmbox.calendar import calendar
from crmbox.engine.dialects.base import Dialect, Storage
from crmbox.engine.sql.fiscal_parts import CivilDate, fiscal_part
from crmbox.engine.sql.operands import Operand
from crmclient.errors import InvalidQuery
from crmclient.query.ast import CalendarPart, Column, DateGrouping
from crmclient.query.families import Family


class Groups:
    """The columns of the inner select.

    `selected` are the expressions that rows are grouped by, `count` their number. In both selects, `k0` is
    what the first operand is grouped by, `v0` its spelling that is shown, and `e0` the entity that it points
    at.
    """

    def __init__(self) -> None:
        self.selected: list[str] = []
        self.count = 0
        self._shown: list[str] = []

    def add(self, operand: Operand) -> Operand:
        """Group by what `operand` is compared by. Return the operand that stands for it in the outer select.

        Where values that compare equal are shown in several ways, the group shows the least of them.
        """
        number = self.count
        self.count += 1
        self.selected.append(f"{operand.compared} AS k{number}")
        value = f"d.k{number}"
        if operand.value != operand.compared:
            self._shown.append(f"MIN({operand.value}) AS v{number}")
            value = f"d.v{number}"
        target = None
        if operand.target is not None:
            self._shown.append(f"MIN({operand.target}) AS e{number}")
            target = f"d.e{number}"
        return replace(operand, value=value, compared=f"d.k{number}", target=target, nullable=True)

    @property
    def select(self) -> str:
        """The columns of the inner select: the groups, then what is shown of each."""
        return ", ".join((*self.selected, *self._shown))

    @property
    def group_by(self) -> str:
        """Write GROUP BY with positions.

        PostgreSQL does not see that two expressions with a parameter are the same.
        """
        return f" GROUP BY {', '.join(str(n + 1) for n in range(self.count))}" if self.count else ""

    def show(self, expression: str, name: str) -> str:
        """Select an expression beside the groups. Return its name in the outer select."""
        self._shown.append(f"{expression} AS {name}")
        return f"d.{name}"


def date_part(operand: Operand, column: Column, dialect: Dialect) -> Operand:
    """Return an operand for the part of a date that a column groups by, such as its month, as a number, in
    UTC.

    Only what a select reads is changed: `encode` and `attribute` stay those of the date, because no condition
    compares with a group. Without a dategrouping, return the operand itself. Raises InvalidQuery for anything
    but a date.
    """
    if column.date_grouping is None:
        return operand
    if operand.family is not Family.TIME:
        raise InvalidQuery(f"attribute {operand.label}: only dates have a dategrouping.")
    part = _part(operand, column.date_grouping, dialect)
    return replace(
        operand, family=Family.NUMBER, value=part, compared=part, storage=Storage.INTEGER, decode=None
    )


def _part(operand: Operand, grouping: DateGrouping, dialect: Dialect) -> str:
    """Return the SQL of the part of a date by which rows are grouped. Raises InvalidQuery."""

    def calendar_part(part: CalendarPart) -> str:
        return dialect.date_part(operand.compared, part, operand.storage)

    if grouping is not DateGrouping.FISCAL_PERIOD and grouping is not DateGrouping.FISCAL_YEAR:
        return calendar_part(grouping)
    date = CivilDate(
        calendar_part(DateGrouping.YEAR), calendar_part(DateGrouping.MONTH), calendar_part(DateGrouping.DAY)
    )
    try:
        return fiscal_part(grouping, date, calendar().fiscal)
    except ValueError as error:
        raise InvalidQuery(f"attribute {operand.label}: {error}.") from None
