"""What is wrong with an expression, in words that say what to change."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence

from django.utils.translation import gettext_noop

from designer.expressions.functions import FUNCTIONS
from designer.sentences import Sentence
from designer.sentences import Sentence as _

# Line, column and message of the parser.
_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?([^\n]*)")
_IN_FUNCTION = re.compile(
    r"Function '(\w+)' error: (Python function call failed: \w+: )?(.*?)\.? Check function arguments", re.S
)
_OPERATION = re.compile(r"Unsupported operation: (\w+) (\S+) (\w+)\.")
_PAST_THE_END = re.compile(r"index out of bounds: (-?\d+)")
_OVERFLOW = re.compile(r"Arithmetic overflow in '(\w+)' on (\S+) and (\S+)\.")
# Messages of the library that are translated.
_UNREADABLE = frozenset(
    {
        gettext_noop("string parse error: invalid digit found in string"),
        gettext_noop("string parse error: invalid float literal"),
        gettext_noop("string parse error: cannot parse integer from empty string"),
        gettext_noop("string parse error: cannot parse float from empty string"),
        gettext_noop("input contains invalid characters"),
        gettext_noop("premature end of input"),
    }
)
_UNDEFINED = re.compile(r"Undefined variable or function: '(\w+)'")
_NUMBERS = frozenset({"int", "uint", "float"})
_NO_MIXING = _("a whole number and one with a fraction do not mix: write 2.0 for 2, or double(…)")


class ExpressionError(ValueError):
    """An expression that cannot be compiled, or has no value; the message says what to change.

    `line` and `column`, counted from 1, say where the mistake is; None where that is not known.
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def mistake(message: str) -> ExpressionError:
    """Return the error for the message of the parser."""
    match = _PLACE.search(message)
    if match is None:
        return ExpressionError(_("This is not an expression."))
    return at(int(match[1]), int(match[2]), _why_unreadable(match[3]))


def mistake_at(text: str, offset: int, message: str) -> ExpressionError:
    """Return the error for a mistake at the character `offset` of the text, counted from 0."""
    line = text.count("\n", 0, offset) + 1
    return at(line, offset - text.rfind("\n", 0, offset), message)


def at(line: int, column: int, message: str) -> ExpressionError:
    """Return the error for a mistake at a line and a column, both counted from 1."""
    if line == 1:
        sentence = _("At character %(column)s: %(message)s", column=column, message=message)
    else:
        sentence = _(
            "At line %(line)s, character %(column)s: %(message)s", line=line, column=column, message=message
        )
    return ExpressionError(sentence, line, column)


def failure(error: Exception, raised: Sequence[Exception] = ()) -> ExpressionError:
    """Return the error for an expression that has no value, because of `error`.

    `raised` are the exceptions of our own functions: the library keeps only their text, which is not
    translated.
    """
    reason = _sentence_on_failure(error, [str(exception) for exception in raised])
    return ExpressionError(_("The expression has no value: %(reason)s.", reason=reason))


def _why_unreadable(message: str) -> str:
    """Return why the parser stopped, without its list of everything that it would have accepted."""
    if "input '<EOF>'" in message:
        return _("something is missing before the end.")
    if unexpected := re.search(r"(?:input|at:) '(.+)'", message.split(" expecting ")[0]):
        return _("“%(text)s” is not expected here.", text=unexpected[1])
    return _("this cannot be read.")


def _sentence_on_failure(error: Exception, raised: Sequence[str]) -> str:
    """Return a sentence for an error of an evaluation. `raised` are the messages that functions raised."""
    message = str(error)
    if isinstance(error, KeyError):
        return _("there is no “%(name)s” in the data", name=str(error.args[0]))
    if isinstance(error, ZeroDivisionError):
        return _("it divides by 0")
    if match := _IN_FUNCTION.match(message):
        return _sentence_on_function_error(match[1], match[3], raised)
    if match := _OPERATION.match(message):
        return _sentence_on_operation(match[1], match[2], match[3])
    if match := _UNDEFINED.match(message):
        return _("%(function)s does not take such values here", function=match[1])
    if message.startswith("No such overload"):
        return _(
            "the values do not fit together: %(no_mixing)s; null has neither size nor order: coalesce(…); "
            "num(…) makes a number of Money and Decimal, which are text here",
            no_mixing=_NO_MIXING,
        )
    if match := _PAST_THE_END.match(message):
        return _("index out of bounds: %(index)s", index=match[1])
    if match := _OVERFLOW.match(message):
        return _(
            "Arithmetic overflow in '%(function)s' on %(left)s and %(right)s",
            function=match[1],
            left=match[2],
            right=match[3],
        )
    return message if isinstance(message, Sentence) else message.rstrip(".")


def _sentence_on_function_error(name: str, reason: str, raised: Sequence[str]) -> str:
    """Return a sentence for an error in the function `name`. `reason` is the text that the library kept of
    it.

    Of `raised`, the original messages, the equal one is returned: it can be translated, and `reason` cannot.
    """
    if name not in FUNCTIONS:
        return _("%(what)s: %(reason)s", what=name, reason=_(reason) if reason in _UNREADABLE else reason)
    if "positional argument" in reason:
        return _("it is written %(usage)s", usage=usage(name))
    return next((sentence for sentence in raised if sentence == reason), reason)


def usage(name: str) -> str:
    """Return how one of our own functions is called, such as `div(first, second, places)`."""
    function = FUNCTIONS[name]
    parameters = list(inspect.signature(function.call).parameters.values())
    return f"{name}({', '.join(map(_argument, parameters[1:] if function.is_timed else parameters))})"


def _argument(parameter: inspect.Parameter) -> str:
    """Return a parameter as `usage` writes it: optional ones in brackets, and … for any number of them."""
    if parameter.kind is parameter.VAR_POSITIONAL:
        return "…"
    return parameter.name if parameter.default is parameter.empty else f"[{parameter.name}]"


def _sentence_on_operation(left: str, sign: str, right: str) -> str:
    """Return a sentence for an operation between types that do not go together."""
    types, operation = {left, right}, f"{left} {sign} {right}"
    if "null" in types:
        return _(
            "%(operation)s: one side is empty; coalesce(…, …) gives another value for it", operation=operation
        )
    if len(types) > 1 and types <= _NUMBERS:
        return _("%(operation)s: %(no_mixing)s", operation=operation, no_mixing=_NO_MIXING)
    if "string" in types and types & _NUMBERS:
        return _(
            "text %(sign)s number: string(…) makes text of a number; Money and Decimal are text "
            "of digits, and add, sub, mul and div calculate with them",
            sign=sign,
        )
    if types == {"string"}:
        return _("text %(sign)s text: add, sub, mul and div calculate with text of digits", sign=sign)
    if "timestamp" in types:
        return _("%(operation)s: addDays, addMonths and addHours move a date and time", operation=operation)
    return _("%(operation)s is not possible", operation=operation)
