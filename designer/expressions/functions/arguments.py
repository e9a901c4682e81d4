"""What functions take. A wrong argument is a TypeError whose text says what would be right."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from typing import Any, TypeGuard

from designer.sentences import Sentence as _

# More than any attribute holds, and few enough to calculate with at little cost.
MOST_DIGITS = 60
_NUMERAL = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,{MOST_DIGITS}}})?", re.ASCII)
_LONGEST_SHOWN = 30


def exact(function: str, value: Any) -> Decimal:
    """Return a number, or a text of digits, as exactly that Decimal. Raises TypeError or ValueError for any
    other.
    """
    if is_number(value):
        number = Decimal(repr(value))
        if abs(number.adjusted()) > MOST_DIGITS:
            raise ValueError(
                _(
                    "%(function)s takes numbers of at most %(most)s digits, not %(value)s",
                    function=function,
                    most=MOST_DIGITS,
                    value=value,
                )
            )
        return number
    if isinstance(value, str) and _NUMERAL.fullmatch(value):
        return Decimal(value)
    raise TypeError(
        _(
            "%(function)s takes numbers, or digits as text, not %(given)s",
            function=function,
            given=argument_in_words(value),
        )
    )


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether the value is a finite number of CEL; true and false are no numbers."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def whole(function: str, argument: str, value: Any, lowest: int, highest: int) -> int:
    """Return `value` if it is a whole number from `lowest` to `highest`. Raises TypeError for any other.

    `argument` is its name in the message.
    """
    if isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest:
        return value
    raise TypeError(
        _(
            "%(function)s takes %(what)s from %(lowest)s to %(highest)s, a whole number, not %(given)s",
            function=function,
            what=argument,
            lowest=lowest,
            highest=highest,
            given=argument_in_words(value),
        )
    )


def text(function: str, value: Any) -> str:
    """Return `value` if it is a text. Raises TypeError for any other."""
    if isinstance(value, str):
        return value
    raise TypeError(
        _("%(function)s takes text, not %(given)s", function=function, given=argument_in_words(value))
    )


def argument_in_words(value: Any) -> str:
    """Return a refused argument in words that are short enough for a sentence."""
    match value:
        case None:
            return _("null (coalesce gives another value for it)")
        case bool():
            return "true" if value else "false"
        case str():
            return _(
                "“%(text)s”", text=f"{value[:_LONGEST_SHOWN]}{'…' if len(value) > _LONGEST_SHOWN else ''}"
            )
        case list():
            return _("a list")
        case dict():
            return _("an object")
        case dt.datetime():
            return _("a date and time")
        case dt.timedelta():
            return _("a duration")
    return str(value)[:_LONGEST_SHOWN]
