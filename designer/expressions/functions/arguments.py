"""What functions take. A wrong argument is a TypeError whose text says what would be right."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from typing import Any, TypeGuard

from designer.sentences import Sentence as _

# Far past what any attribute holds; digits of a number stay cheap to reckon with.
MOST_DIGITS = 60
_NUMERAL = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,{MOST_DIGITS}}})?", re.ASCII)
_LONGEST_SHOWN = 30


def exact(function: str, value: Any) -> Decimal:
    """A number, or a text of digits, as exactly that number."""
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
            given=shown(value),
        )
    )


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether it is a number of CEL's: true and false are none, and neither is what is not finite."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def whole(function: str, what: str, value: Any, lowest: int, highest: int) -> int:
    """A whole number within bounds; `what` says which argument it is."""
    if isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest:
        return value
    raise TypeError(
        _(
            "%(function)s takes %(what)s from %(lowest)s to %(highest)s, a whole number, not %(given)s",
            function=function,
            what=what,
            lowest=lowest,
            highest=highest,
            given=shown(value),
        )
    )


def text(function: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(_("%(function)s takes text, not %(given)s", function=function, given=shown(value)))


def shown(value: Any) -> str:
    """What was given instead, short enough for a sentence."""
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
