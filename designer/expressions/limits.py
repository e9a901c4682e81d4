"""Limits on an expression, so that no text can stop or stall the process.

The parser recurses, so length and nesting are capped before it reads. A macro copies its list at every step,
and a chain of macros can multiply what it is given: both are bounded before evaluation, from text and data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from designer.sentences import Sentence as _

MOST_CHARACTERS = 1_000
DEEPEST_MACROS = 2
DEEPEST_BRACKETS = 25
# About half a second, and some tens of megabytes.
MOST_STEPS = 10_000_000
MOST_NODES = 1_000_000
# The most characters of a text that a function makes longer.
MOST_TEXT = 100_000

_MACROS = "map|filter|all|exists|exists_one|existsOne"
_TOKEN = re.compile(
    r"""
      (?P<text> (?: [rR][bB]? | [bB][rR] ) (?: \"\"\".*?\"\"\" | '''.*?''' | "[^"]*" | '[^']*' )
              | [bB]? (?: \"\"\".*?\"\"\" | '''.*?''' | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' )
              | //[^\n]* )
    | (?P<macro> \. \s* (?: MACROS ) \s* \( (?: \s* (?P<variable> [A-Za-z_]\w* ) \s* , )? )
    | (?P<field> \. \s* [A-Za-z_]\w* )
    | (?P<name> [A-Za-z_]\w* )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<comma> , )
    """.replace("MACROS", _MACROS),
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Outline:
    """What the limits need to know of a text.

    `depth` is how deep macros stand inside one another, `brackets` how deep brackets do; `variables` are
    those that macros bind. `growth`: the most times that the text can multiply its data. `listed`: the most
    items that a list written in it can have.
    """

    depth: int
    brackets: int
    variables: frozenset[str]
    growth: int
    listed: int


def tokens(text: str) -> Iterator[re.Match[str]]:
    """Return the parts of a text that tell its shape. A text in quotes is one part, and so is a comment."""
    return _TOKEN.finditer(text)


def outline(text: str) -> Outline:
    """Return the outline of a text, which need not be an expression."""
    # Macros are numbered from 1 on, in the order of the text. Number 0 is what stands outside of all.
    names_by_macro = [0]
    # For each open bracket, the outermost first: the number of the macro that it opens or stands in.
    open_brackets: list[int] = []
    depth = brackets = commas = 0
    variables = set[str]()
    for token in tokens(text):
        macro = open_brackets[-1] if open_brackets else 0
        match token.lastgroup:
            case "macro":
                open_brackets.append(len(names_by_macro))
                names_by_macro.append(0)
                if token["variable"]:
                    variables.add(token["variable"])
                depth = max(depth, len(set(open_brackets) - {0}))
            case "open":
                open_brackets.append(macro)
            case "close" if open_brackets:
                open_brackets.pop()
            case "name":
                names_by_macro[macro] += 1
            case "comma":
                commas += 1
        brackets = max(brackets, len(open_brackets))
    # Each name may stand for all of the data, so a macro can gather as many copies of it as it has names, and
    # the next macro can multiply these.
    growth = math.prod(max(1, count) for count in names_by_macro)
    return Outline(depth, brackets, frozenset(variables), growth, listed=commas + 1)


def is_affordable(outline: Outline, values: Mapping[str, Any]) -> bool:
    """Whether evaluation over `values` (lists, objects, plain values) surely ends soon, in little memory."""
    if outline.depth == 0:
        return True
    nodes, longest = _size(values)
    length = max(longest, outline.listed) * outline.growth
    copied = nodes * outline.growth
    # Each step of a macro may copy whole objects of what it has gathered so far.
    return copied <= MOST_NODES and copied * length ** (outline.depth + 1) <= MOST_STEPS


def bounded(function: str, result: str, *arguments: str) -> str:
    """Return the text `result` of a function. Raises ValueError when it is longer than MOST_TEXT and than
    every argument.
    """
    # With 0, `max` gets two numbers even without arguments.
    if len(result) > max(MOST_TEXT, *map(len, arguments), 0):
        raise too_long(function)
    return result


def too_long(function: str) -> ValueError:
    """Return the error of a function whose result would be longer than MOST_TEXT."""
    return ValueError(
        _("%(function)s would give more than %(most)s characters", function=function, most=MOST_TEXT)
    )


def _size(value: Any) -> tuple[int, int]:
    """Return the number of values, with long texts counted as several, and the length of the longest list or
    object.
    """
    if isinstance(value, str):
        return 1 + len(value) // 16, 0
    if not isinstance(value, (dict, list)):
        return 1, 0
    sizes = [_size(item) for item in (value.values() if isinstance(value, dict) else value)]
    nodes = 1 + sum(inner_nodes for inner_nodes, _longest in sizes)
    longest = max([len(value), *(inner_longest for _nodes, inner_longest in sizes)])
    return nodes, longest
