"""Which expressions give an exact number.

CEL has no exact numbers, so an expression sees and returns them as text of digits. This module tells for
which expressions that text is a number: calls of the functions that calculate exactly, and calls that pass on
one of several exact numbers, such as `coalesce(record.revenue, 0)`.
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
# A check of one expression: given the values that it reads, is its text result an exact number?
Exactness: TypeAlias = Callable[[Mapping[str, Any]], bool]


def exactness(text: str) -> Exactness | None:
    """Return the check of the expression `text`; None when its result is never an exact number."""
    call = _parsed_call(text.strip())
    if call is None:
        return None
    name, arguments = call
    function = FUNCTIONS.get(name)
    if function is None:
        return None
    if function.is_exact:
        return lambda values: True
    return _exactness_of_all(arguments) if function.passes_on else None


def is_exact(text: str) -> bool:
    """Whether the expression `text` gives an exact number whatever values it reads."""
    call = _parsed_call(text.strip())
    function = None if call is None else FUNCTIONS.get(call[0])
    return function is not None and function.is_exact


def follow(path: tuple[str, ...], values: Any) -> Any:
    """Return the value at `path`, the names of nested objects; None where they do not lead to one."""
    for name in path:
        values = values.get(name) if isinstance(values, Mapping) else None
    return values


def _exactness_of_all(arguments: list[str]) -> Exactness | None:
    """Return the check that all `arguments` are exact numbers; None when one of them never is."""
    checks: list[Exactness] = []
    for argument in arguments:
        check = _exactness_of_argument(argument.strip())
        if check is None:
            return None
        checks.append(check)
    return (lambda values: all(check(values) for check in checks)) if checks else None


def _exactness_of_argument(text: str) -> Exactness | None:
    """Return the check of an argument: a number, a path to a value, or another expression."""
    if _NUMERAL.fullmatch(text):
        return lambda values: True
    if PATH.fullmatch(text):
        path = tuple(text.split("."))
        return lambda values: isinstance(follow(path, values), Decimal | None)
    return exactness(text)


def _parsed_call(text: str) -> tuple[str, list[str]] | None:
    """Return the function and the arguments of a text that is one call and nothing else; None
    for any other.
    """
    parts = list(tokens(text))
    # The shortest call is a name and two brackets: numbers, operators and spaces between parts are no parts.
    if len(parts) < 3 or not parts[0]["name"] or parts[1]["open"] != "(":
        return None
    if parts[0].start() or parts[1].start() > parts[0].end() or parts[-1].end() < len(text):
        return None
    depth = 0
    # Where arguments begin: behind the bracket of the call, and behind each comma directly in it.
    cuts = [parts[1].end()]
    for part in parts[1:]:
        depth += bool(part["open"] or part["macro"]) - bool(part["close"])
        if depth == 1 and part["comma"]:
            cuts.append(part.end())
        # Something follows the end of the call, as in `f(a) + g(b)`.
        if depth == 0 and part is not parts[-1]:
            return None
    ends = [cut - 1 for cut in cuts[1:]] + [parts[-1].start()]
    return parts[0]["name"], [text[start:end] for start, end in zip(cuts, ends, strict=True)]
