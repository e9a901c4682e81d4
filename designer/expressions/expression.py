"""An expression, compiled once and evaluated often. It is untrusted: it reaches the offered names only."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any

import cel

from crmclient.query.calendar import Calendar, Moment
from designer.expressions import functions
from designer.expressions.errors import ExpressionError, failure, mistake, mistake_at
from designer.expressions.functions import FUNCTIONS
from designer.expressions.limits import (
    DEEPEST_BRACKETS,
    DEEPEST_MACROS,
    MOST_CHARACTERS,
    Outline,
    is_affordable,
    outline,
    tokens,
)
from designer.expressions.members import paths
from designer.expressions.nearest import did_you_mean
from designer.expressions.results import PATH, exactness, follow
from designer.expressions.values import enter, leave
from designer.sentences import Sentence as _

_TYPES = frozenset({"int", "uint", "double", "string", "bool", "bytes", "list", "map", "null_type", "type"})


class Expression:
    """A CEL expression that may use `names`; `references` are those that it uses.

    Raises ExpressionError when it does not compile.
    """

    def __init__(self, text: str, names: Collection[str]) -> None:
        """Compile `text`. `names` are the values that it may read. Raises ExpressionError."""
        self.text = text
        self._outline, self._program = _parsed(text)
        _check_names(text, self._program, names, self._outline.variables)
        self.references = frozenset(self._program.variables()).intersection(names)
        bare = PATH.fullmatch(text.strip()) if self.references else None
        # The path, where the expression is nothing but a name with fields, such as `record.revenue`; else
        # None.
        self.path = tuple(bare[0].split(".")) if bare else None
        called = [FUNCTIONS[name] for name in self._program.functions() if name in FUNCTIONS]
        self._functions = {function.name: function.call for function in called if not function.is_timed}
        self._timed = {function.name: function.call for function in called if function.is_timed}
        self._is_exact = exactness(text)

    @property
    def is_fixed(self) -> bool:
        """Whether the expression always gives the same value: it uses no name, and does not depend on the
        time.
        """
        return not self.references and not self._timed

    @property
    def reads_time(self) -> bool:
        """Whether its value depends on when it is evaluated."""
        return "now" in self.references or bool(self._timed)

    def members(self, name: str) -> frozenset[str] | None:
        """Return the fields of `name` that the expression reads; None: it may be any of them."""
        read_paths = self.paths(name)
        return None if read_paths is None else frozenset(path[0] for path in read_paths)

    def paths(self, name: str) -> frozenset[tuple[str, ...]] | None:
        """Return the paths of fields of `name` that the expression reads: `record.a.b` gives ("a", "b").

        None, as for `members`: it may be any of them.
        """
        return paths(self.text, name) if name in self.references else frozenset()

    def evaluate(self, values: Mapping[str, Any], moment: Moment | None = None) -> Any:
        """Return the value of the expression over `values`, keyed by the offered names. Raises
        ExpressionError.

        An expression that only names a plain value gives that very value; one that calculates exactly gives a
        Decimal. `moment` is the present for functions of time; None: the present moment, in UTC.
        """
        # Without a detour by CEL, a Decimal or a date keeps its type.
        if self.path is not None:
            value = follow(self.path, values)
            if value is not None and not isinstance(value, (Mapping, list)):
                return value
        data = enter(values)
        raised: list[Exception] = []
        if not is_affordable(self._outline, data):
            raise ExpressionError(_("The data is too large for this expression."))
        try:
            result = leave(self._program.execute({**self._bound_functions(moment, raised), **data}))
        except Exception as error:
            raise failure(error, raised) from error
        except BaseException as error:
            # A panic of the library, which is written in Rust, is no Exception.
            raise _error_of_panic(error) from error
        exact = isinstance(result, str) and self._is_exact is not None and self._is_exact(values)
        return Decimal(result) if exact else result

    def _bound_functions(self, moment: Moment | None, raised: list[Exception]) -> dict[str, Any]:
        """Return the functions of ours that the expression calls.

        Whatever they raise is added to `raised`.
        """
        if not self._functions and not self._timed:
            return {}
        present = moment or Moment(dt.datetime.now(dt.UTC), Calendar())
        return {
            **{
                name: partial(_call_noting_errors, raised, function)
                for name, function in self._functions.items()
            },
            **{
                name: partial(_call_noting_errors, raised, function, present)
                for name, function in self._timed.items()
            },
        }


def _call_noting_errors(raised: list[Exception], function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the function, and add the exception that it raises to `raised`."""
    try:
        return function(*arguments)
    except Exception as error:
        raised.append(error)
        raise


# Readiness rules read an expression many times, and many endpoints have the same one. Refusals are not
# cached: each is an exception of its own.
@lru_cache(maxsize=2048)
def _parsed(text: str) -> tuple[Outline, cel.Program]:
    """Return the outline and the program of a text. Raises ExpressionError."""
    return _check_limits(text), _compile(text)


def _check_limits(text: str) -> Outline:
    """Return the outline of the text. Raises ExpressionError when the text exceeds a limit."""
    if not text.strip():
        raise ExpressionError(_("Write an expression."))
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(
            _(
                "The expression has %(given)s characters. At most %(most)s are allowed.",
                most=MOST_CHARACTERS,
                given=len(text),
            )
        )
    shape = outline(text)
    if shape.depth > DEEPEST_MACROS:
        raise ExpressionError(
            _("map, filter, all and exists can be nested at most %(most)s deep.", most=DEEPEST_MACROS)
        )
    if shape.brackets > DEEPEST_BRACKETS:
        raise ExpressionError(_("Brackets can be nested at most %(most)s deep.", most=DEEPEST_BRACKETS))
    return shape


def _compile(text: str) -> cel.Program:
    """Return the program of the text. Raises ExpressionError with the place of the mistake."""
    try:
        return cel.compile(text)
    except Exception as error:
        raise mistake(str(error)) from error
    except BaseException as error:
        raise _error_of_panic(error) from error


def _check_names(text: str, program: cel.Program, names: Collection[str], bound: frozenset[str]) -> None:
    """Raise ExpressionError for the first name or function of the expression that does not exist.

    `names` are those that the expression may use, `bound` the variables of its macros, such as `x` in
    `list.map(x, …)`.
    """
    if unknown := set(program.variables()) - set(names) - bound - _TYPES:
        name = min(unknown)
        sentence = _(
            "There is no “%(name)s” here; an expression sees: %(names)s.%(hint)s",
            name=name,
            names=", ".join(sorted(names)),
            hint=did_you_mean(name, names),
        )
        raise mistake_at(text, _offset_of_name(text, name), sentence)
    called = {name for name in program.functions() if name.isidentifier()}
    offered = functions.names()
    if missing := called - offered:
        name = min(missing)
        hint = did_you_mean(name, offered) or _(
            " There are: %(names)s.", names=", ".join(sorted(offered, key=str.lower))
        )
        raise mistake_at(
            text,
            _offset_of_name(text, name),
            _("There is no function “%(name)s”.%(hint)s", name=name, hint=hint),
        )


def _offset_of_name(text: str, name: str) -> int:
    """Return the offset of the first use of a name or a function; 0 where none is found."""
    for token in tokens(text):
        if name in (token["name"], (token["field"] or "").removeprefix(".").strip()):
            return token.end() - len(name)
    return 0


def _error_of_panic(error: BaseException) -> ExpressionError:
    """Return the error for a panic of the library, which is no Exception.

    The wish to stop the process is no Exception either; it is raised again.
    """
    if isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit)):
        raise error
    return ExpressionError(_("The expression cannot be used."))
