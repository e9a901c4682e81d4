"""Which expressions give an exact number. CEL has none: it sees text of digits, which these turn back.

They are calls of the functions that reckon exactly, and those that pass on one of several exact numbers:
`coalesce(record.revenue, 0)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from designer.expressions.functions import FUNCTIONS
from designer.expressions.limits import tokens

PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
_NUMERAL = re.compile(r"""(?P<quote>['"]?)-?\d+(\.\d+)?(?P=quote)""", re.ASCII)
# Whether text that the expression gives over these values stands for a number.
Exactness: TypeAlias = Callable[[Mapping[str, Any]], bool]


def exactness(text: str) -> Exactness | None:
    """None for an expression that gives what it gives."""
    call = _call(text.strip())
    if call is None:
        return None
    name, arguments = call
    function = FUNCTIONS.get(name)
    if function is None:
        return None
    if function.is_exact:
        return lambda values: True
    return _each(arguments) if function.passes_on else None


def is_exact(text: str) -> bool:
    """Whether it gives an exact number over any values."""
    call = _call(text.strip())
    function = None if call is None else FUNCTIONS.get(call[0])
    return function is not None and function.is_exact


def follow(path: tuple[str, ...], values: Any) -> Any:
    """The value at `path`; None where objects do not lead there."""
    for name in path:
        values = values.get(name) if isinstance(values, Mapping) else None
    return values


def _each(arguments: list[str]) -> Exactness | None:
    each = [_argument(argument.strip()) for argument in arguments]
    known = [one for one in each if one is not None]
    if not known or len(known) < len(each):
        return None
    return lambda values: all(one(values) for one in known)


def _argument(text: str) -> Exactness | None:
    if _NUMERAL.fullmatch(text):
        return lambda values: True
    if PATH.fullmatch(text):
        path = tuple(text.split("."))
        return lambda values: isinstance(follow(path, values), Decimal | None)
    return exactness(text)


def _call(text: str) -> tuple[str, list[str]] | None:
    """The function and the arguments of a text that is one call and nothing else."""
    parts = list(tokens(text))
    if len(parts) < 3 or not parts[0]["name"] or parts[1]["open"] != "(":
        return None
    if parts[0].start() or parts[1].start() > parts[0].end() or parts[-1].end() < len(text):
        return None
    depth = 0
    cuts = [parts[1].end()]
    for part in parts[1:]:
        depth += bool(part["open"] or part["macro"]) - bool(part["close"])
        if depth == 1 and part["comma"]:
            cuts.append(part.end())
        if depth == 0 and part is not parts[-1]:
            return None
    ends = [cut - 1 for cut in cuts[1:]] + [parts[-1].start()]
    return parts[0]["name"], [text[start:end] for start, end in zip(cuts, ends, strict=True)]
