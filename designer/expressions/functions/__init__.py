"""The functions of an expression: CEL's own, and what consultants miss in them.

A new one is a function in a module here, a line below, and a row with an example in `docs/expressions.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from crmclient.query.calendar import Moment
from designer.expressions.functions import dates, formats, lists, numbers, texts

STANDARD = frozenset(
    {
        *("size", "contains", "startsWith", "endsWith", "matches", "type"),
        *("int", "uint", "double", "string", "timestamp", "duration"),
        *("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"),
        *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
    }
)

OWN: Mapping[str, Callable[..., Any]] = {
    "join": lists.join,
    "coalesce": lists.coalesce,
    "min": lists.minimum,
    "max": lists.maximum,
    "sum": lists.total,
    "add": numbers.add,
    "sub": numbers.sub,
    "mul": numbers.mul,
    "div": numbers.div,
    "round": numbers.rounded,
    "num": numbers.num,
    "compare": numbers.compare,
    "upper": texts.upper,
    "lower": texts.lower,
    "trim": texts.trim,
    "substring": texts.substring,
    "replace": texts.replace,
    "padLeft": texts.pad_left,
}

OnTime: TypeAlias = Callable[..., Any]
# Those that depend on the present or the time zone: a Moment is their first argument.
TIMED: Mapping[str, OnTime] = {
    "today": dates.today,
    "dateOf": dates.date_of,
    "startOfDay": dates.start_of_day,
    "addHours": dates.add_hours,
    "addDays": dates.add_days,
    "addMonths": dates.add_months,
    "addYears": dates.add_years,
    "daysBetween": dates.days_between,
    "yearsBetween": dates.years_between,
    "format": formats.filled,
}

# Those whose text is an exact number: as a whole expression, they give the number itself.
EXACT = frozenset({"add", "sub", "mul", "div", "round", "sum"})
# Those that give one of their arguments as it is.
PASSING = frozenset({"coalesce", "min", "max"})

NAMES = STANDARD | OWN.keys() | TIMED.keys()

__all__ = ["EXACT", "NAMES", "OWN", "PASSING", "STANDARD", "TIMED", "Moment"]
