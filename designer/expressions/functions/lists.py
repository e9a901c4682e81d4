"""Several values as one. Nulls are left out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import reduce
from typing import Any

from designer.expressions.functions.arguments import exact, shown, text
from designer.expressions.functions.numbers import WIDE, written
from designer.expressions.limits import bounded
from designer.expressions.text import as_text
from designer.sentences import Sentence as _


def join(items: Any, separator: Any = ", ") -> str:
    """The items as one text."""
    texts = [_single(item) for item in _present("join", items)]
    return bounded("join", text("join", separator).join(texts), *texts)


def coalesce(*values: Any) -> Any:
    """The first value that is not null."""
    return next((value for value in values if value is not None), None)


def minimum(*values: Any) -> Any:
    """The least of several values or of a list; null of none."""
    return _extreme("min", min, values)


def maximum(*values: Any) -> Any:
    """The greatest of several values or of a list; null of none."""
    return _extreme("max", max, values)


def total(items: Any) -> str:
    """The sum of a list of numbers, exactly."""
    numbers = (exact("sum", item) for item in _present("sum", items))
    return written(reduce(WIDE.add, numbers, exact("sum", 0)))


def _extreme(function: str, choose: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    single = len(values) == 1 and isinstance(values[0], list)
    present = _present(function, values[0] if single else list(values))
    return choose(present, key=_ordered(function, present)) if present else None


def _ordered(function: str, values: list[Any]) -> Callable[[Any], Any] | None:
    """By what to compare: as instants, as numbers, else as texts, which suits dates."""
    if all(isinstance(value, dt.datetime) for value in values):
        return None
    try:
        for value in values:
            exact(function, value)
    except TypeError:
        if all(isinstance(value, str) for value in values):
            return None
        raise TypeError(
            _("%(function)s takes numbers, texts, or dates, all of one kind", function=function)
        ) from None
    return lambda value: exact(function, value)


def _single(item: Any) -> str:
    if isinstance(item, (list, dict)):
        raise TypeError(_("join takes a list of single values, not of %(given)s", given=shown(item)))
    return as_text(item)


def _present(function: str, items: Any) -> list[Any]:
    if not isinstance(items, list):
        raise TypeError(_("%(function)s takes a list, not %(given)s", function=function, given=shown(items)))
    return [item for item in items if item is not None]
