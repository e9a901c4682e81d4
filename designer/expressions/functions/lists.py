"""Several values as one. Nulls are left out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import reduce
from typing import Any

from designer.expressions.functions.arguments import argument_in_words, exact, text
from designer.expressions.functions.numbers import WIDE, plain_digits
from designer.expressions.limits import bounded
from designer.expressions.values import as_text
from designer.sentences import Sentence as _


def join(items: Any, separator: Any = ", ") -> str:
    """Return the items as one text. Raises TypeError for items that are lists or objects."""
    texts = [_text_of_single(item) for item in _present_items("join", items)]
    return bounded("join", text("join", separator).join(texts), *texts)


def coalesce(*values: Any) -> Any:
    """Return the first value that is not null; null where there is none."""
    return next((value for value in values if value is not None), None)


def minimum(*values: Any) -> Any:
    """Return the least of several values, or of a list; null where there is none."""
    return _extreme("min", min, values)


def maximum(*values: Any) -> Any:
    """Return the greatest of several values, or of a list; null where there is none."""
    return _extreme("max", max, values)


def total(items: Any) -> str:
    """Return the exact sum of a list of numbers, as text."""
    numbers = (exact("sum", item) for item in _present_items("sum", items))
    return plain_digits(reduce(WIDE.add, numbers, exact("sum", 0)))


def _extreme(function: str, choose: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """Return the least or greatest of values that are not null, by `choose`; null where there is none.

    One list stands for its items. `function` is its name in messages.
    """
    single = len(values) == 1 and isinstance(values[0], list)
    present = _present_items(function, values[0] if single else list(values))
    return choose(present, key=_sort_key(function, present)) if present else None


def _sort_key(function: str, values: list[Any]) -> Callable[[Any], Any] | None:
    """Return the key to compare the values by: numbers exactly; None for instants, and for texts, which suits
    dates.
    """
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


def _text_of_single(item: Any) -> str:
    """Return an item as text. Raises TypeError for a list or object."""
    if isinstance(item, (list, dict)):
        raise TypeError(
            _("join takes a list of single values, not of %(given)s", given=argument_in_words(item))
        )
    return as_text(item)


def _present_items(function: str, items: Any) -> list[Any]:
    """Return the items that are not null. Raises TypeError for anything but a list."""
    if not isinstance(items, list):
        raise TypeError(
            _("%(function)s takes a list, not %(given)s", function=function, given=argument_in_words(items))
        )
    return [item for item in items if item is not None]
