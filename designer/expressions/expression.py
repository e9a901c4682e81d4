"""An expression, compiled once and evaluated often. It is untrusted: it reaches the offered names only."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import cel

from designer.expressions.functions import OWN, STANDARD
from designer.expressions.limits import (
    DEEPEST_BRACKETS,
    DEEPEST_MACROS,
    MOST_CHARACTERS,
    Outline,
    is_affordable,
    outline,
)
from designer.expressions.values import enter, leave

_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?([^\n]*)")
_TYPES = frozenset({"int", "uint", "double", "string", "bool", "bytes", "list", "map", "null_type", "type"})


class ExpressionError(ValueError):
    """An expression that cannot be compiled, or has no value; the message says what to change.

    `line` and `column`, from 1, where the mistake is; None where that is not known.
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class Expression:
    """A CEL expression over `names`, of which it refers to `references`.

    Raises ExpressionError when it does not compile.
    """

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text = text
        self._outline = _check_limits(text)
        self._program = _compile(text)
        _check_names(self._program, names, self._outline.variables)
        self.references = frozenset(self._program.variables()).intersection(names)

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The expression's value over `values`, keyed by the offered names. Raises ExpressionError."""
        data = enter(values)
        if not is_affordable(self._outline, data):
            raise ExpressionError("The data is too large for this expression.")
        try:
            return leave(self._program.execute({**OWN, **data}))
        except KeyError as error:
            raise ExpressionError(f"There is no {error} in the data.") from error
        except Exception as error:
            raise ExpressionError(f"The expression has no value: {error}") from error
        except BaseException as error:
            raise _unless_stopping(error) from error


def _check_limits(text: str) -> Outline:
    if not text.strip():
        raise ExpressionError("Write an expression.")
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(f"At most {MOST_CHARACTERS} characters; these are {len(text)}.")
    shape = outline(text)
    if shape.depth > DEEPEST_MACROS:
        raise ExpressionError(f"At most {DEEPEST_MACROS} of map, filter, all and exists inside one another.")
    if shape.brackets > DEEPEST_BRACKETS:
        raise ExpressionError(f"At most {DEEPEST_BRACKETS} brackets inside one another.")
    return shape


def _compile(text: str) -> cel.Program:
    try:
        return cel.compile(text)
    except Exception as error:
        raise _mistake(str(error)) from error
    except BaseException as error:
        raise _unless_stopping(error) from error


def _mistake(message: str) -> ExpressionError:
    found = _PLACE.search(message)
    if found is None:
        return ExpressionError("This is no expression.")
    line, column = int(found[1]), int(found[2])
    place = f"character {column}" if line == 1 else f"line {line}, character {column}"
    return ExpressionError(f"At {place}: {_in_words(found[3])}.", line, column)


def _in_words(reason: str) -> str:
    """The parser's reason without its list of all that it would have taken."""
    if "input '<EOF>'" in reason:
        return "something is missing before the end"
    if unexpected := re.search(r"(?:input|at:) '(.+)'", reason.split(" expecting ")[0]):
        return f"“{unexpected[1]}” is not expected here"
    return "this cannot be read"


def _check_names(program: cel.Program, names: Collection[str], bound: frozenset[str]) -> None:
    unknown = set(program.variables()) - set(names) - bound - _TYPES
    if unknown:
        offered = ", ".join(sorted(names))
        raise ExpressionError(f"There is no “{min(unknown)}” here; an expression sees: {offered}.")
    called = {name for name in program.functions() if name.isidentifier()}
    if missing := called - STANDARD - OWN.keys():
        raise ExpressionError(f"There is no function “{min(missing)}”.")


def _unless_stopping(error: BaseException) -> ExpressionError:
    """The library's own panics are no Exception; neither is the wish to stop the process, which passes."""
    if isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit)):
        raise error
    return ExpressionError("The expression cannot be used.")
