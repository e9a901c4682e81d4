"""The functions of an expression: CEL's own, and what consultants miss in them.

A new one is a function in a module here, a line below, and a row with an example in `docs/expressions.md`.
A package adds one by an entry point of `portico.functions` (`docs/extending.md`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crmclient.extensions import Registry
from crmclient.query.calendar import Moment
from designer.expressions.functions import dates, formats, lists, numbers, texts

# CEL writes macros like functions.
_MACROS = frozenset({"has", "all", "exists", "exists_one", "map", "filter"})
STANDARD = frozenset(
    {
        *("size", "contains", "startsWith", "endsWith", "matches", "type"),
        *("int", "uint", "double", "string", "timestamp", "duration"),
        *("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"),
        *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
    }
)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of expressions, called `name` in them.

    `call` takes and gives values of CEL: texts, numbers, booleans, None, lists, dicts, dates and times. A
    wrong argument is a TypeError or ValueError whose text says what would be right. `is_timed`: it depends on
    the present or the time zone, and a Moment is its first argument. `is_exact`: its text is an exact number,
    and a whole expression gives the number itself. `passes_on`: it gives one of its arguments as it is.
    """

    name: str
    call: Callable[..., Any]
    is_timed: bool = False
    is_exact: bool = False
    passes_on: bool = False

    def __post_init__(self) -> None:
        if not (self.name.isascii() and self.name.isidentifier()):
            raise ValueError(f"a function cannot be called {self.name!r}: use letters, digits and _")


FUNCTIONS: Registry[Function] = Registry(
    "portico.functions",
    "a function of expressions (designer.expressions.functions.Function)",
    lambda item: isinstance(item, Function),
    lambda item: item.name,
    reserved=STANDARD | _MACROS,
)
FUNCTIONS.register(
    Function("join", lists.join),
    Function("coalesce", lists.coalesce, passes_on=True),
    Function("min", lists.minimum, passes_on=True),
    Function("max", lists.maximum, passes_on=True),
    Function("sum", lists.total, is_exact=True),
    Function("add", numbers.add, is_exact=True),
    Function("sub", numbers.sub, is_exact=True),
    Function("mul", numbers.mul, is_exact=True),
    Function("div", numbers.div, is_exact=True),
    Function("round", numbers.rounded, is_exact=True),
    Function("num", numbers.num),
    Function("compare", numbers.compare),
    Function("upper", texts.upper),
    Function("lower", texts.lower),
    Function("trim", texts.trim),
    Function("substring", texts.substring),
    Function("replace", texts.replace),
    Function("padLeft", texts.pad_left),
    Function("today", dates.today, is_timed=True),
    Function("dateOf", dates.date_of, is_timed=True),
    Function("startOfDay", dates.start_of_day, is_timed=True),
    Function("addHours", dates.add_hours, is_timed=True),
    Function("addDays", dates.add_days, is_timed=True),
    Function("addMonths", dates.add_months, is_timed=True),
    Function("addYears", dates.add_years, is_timed=True),
    Function("daysBetween", dates.days_between, is_timed=True),
    Function("yearsBetween", dates.years_between, is_timed=True),
    Function("format", formats.filled, is_timed=True),
)

__all__ = ["FUNCTIONS", "STANDARD", "Function", "Moment", "names"]


def names() -> frozenset[str]:
    """Return the names of all functions that an expression may call."""
    return STANDARD | FUNCTIONS.keys()
