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
    """A CEL expression over `names`, of which it refers to `references`.

    Raises ExpressionError when it does not compile.
    """

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text = text
        self._outline, self._program = _parsed(text)
        _check_names(text, self._program, names, self._outline.variables)
        self.references = frozenset(self._program.variables()).intersection(names)
        bare = PATH.fullmatch(text.strip()) if self.references else None
        # What it names, where it is nothing but a name with fields: `record.revenue`.
        self.path = tuple(bare[0].split(".")) if bare else None
        called = [FUNCTIONS[name] for name in self._program.functions() if name in FUNCTIONS]
        self._functions = {known.name: known.call for known in called if not known.is_timed}
        self._timed = {known.name: known.call for known in called if known.is_timed}
        self._is_exact = exactness(text)

    @property
    def is_fixed(self) -> bool:
        """Whether it gives the same value always: it refers to nothing, the present included."""
        return not self.references and not self._timed

    @property
    def reads_time(self) -> bool:
        """Whether its value depends on when it is evaluated."""
        return "now" in self.references or bool(self._timed)

    def members(self, name: str) -> frozenset[str] | None:
        """The fields of `name` that it reads; None: it may be any of them."""
        found = self.paths(name)
        return None if found is None else frozenset(path[0] for path in found)

    def paths(self, name: str) -> frozenset[tuple[str, ...]] | None:
        """As `members`, with the fields read inside them: `record.a.b` gives ("a", "b")."""
        return paths(self.text, name) if name in self.references else frozenset()

    def evaluate(self, values: Mapping[str, Any], moment: Moment | None = None) -> Any:
        """The expression's value over `values`, keyed by the offered names. Raises ExpressionError.

        One that only names a plain value gives it untouched, and one that reckons exactly a Decimal.
        `moment` is the present of functions of time; None: this very one, in UTC.
        """
        if self.path is not None:
            value = follow(self.path, values)
            if value is not None and not isinstance(value, (Mapping, list)):
                return value
        data = enter(values)
        raised: list[Exception] = []
        if not is_affordable(self._outline, data):
            raise ExpressionError(_("The data is too large for this expression."))
        try:
            result = leave(self._program.execute({**self._called(moment, raised), **data}))
        except Exception as error:
            raise failure(error, raised) from error
        except BaseException as error:
            raise _unless_stopping(error) from error
        exact = isinstance(result, str) and self._is_exact is not None and self._is_exact(values)
        return Decimal(result) if exact else result

    def _called(self, moment: Moment | None, raised: list[Exception]) -> dict[str, Any]:
        """Our own functions that it calls; what they raise is noted in `raised`."""
        if not self._functions and not self._timed:
            return {}
        present = moment or Moment(dt.datetime.now(dt.UTC), Calendar())
        return {
            **{name: partial(_noting, raised, function) for name, function in self._functions.items()},
            **{name: partial(_noting, raised, function, present) for name, function in self._timed.items()},
        }


def _noting(raised: list[Exception], function: Callable[..., Any], *given: Any) -> Any:
    try:
        return function(*given)
    except Exception as error:
        raised.append(error)
        raise


# Rules of readiness read an expression many times over, and many endpoints have the same. What is refused is
# not kept, so that each refusal is an exception of its own.
@lru_cache(maxsize=2048)
def _parsed(text: str) -> tuple[Outline, cel.Program]:
    return _check_limits(text), _compile(text)


def _check_limits(text: str) -> Outline:
    if not text.strip():
        raise ExpressionError(_("Write an expression."))
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(
            _("At most %(most)s characters; these are %(given)s.", most=MOST_CHARACTERS, given=len(text))
        )
    shape = outline(text)
    if shape.depth > DEEPEST_MACROS:
        raise ExpressionError(
            _("At most %(most)s of map, filter, all and exists inside one another.", most=DEEPEST_MACROS)
        )
    if shape.brackets > DEEPEST_BRACKETS:
        raise ExpressionError(_("At most %(most)s brackets inside one another.", most=DEEPEST_BRACKETS))
    return shape


def _compile(text: str) -> cel.Program:
    try:
        return cel.compile(text)
    except Exception as error:
        raise mistake(str(error)) from error
    except BaseException as error:
        raise _unless_stopping(error) from error


def _check_names(text: str, program: cel.Program, names: Collection[str], bound: frozenset[str]) -> None:
    if unknown := set(program.variables()) - set(names) - bound - _TYPES:
        name = min(unknown)
        sentence = _(
            "There is no “%(name)s” here; an expression sees: %(names)s.%(hint)s",
            name=name,
            names=", ".join(sorted(names)),
            hint=did_you_mean(name, names),
        )
        raise mistake_at(text, _place(text, name), sentence)
    called = {name for name in program.functions() if name.isidentifier()}
    offered = functions.names()
    if missing := called - offered:
        name = min(missing)
        hint = did_you_mean(name, offered) or _(
            " There are: %(names)s.", names=", ".join(sorted(offered, key=str.lower))
        )
        raise mistake_at(
            text, _place(text, name), _("There is no function “%(name)s”.%(hint)s", name=name, hint=hint)
        )


def _place(text: str, name: str) -> int:
    """Where a name or a function first stands."""
    for token in tokens(text):
        if name in (token["name"], (token["field"] or "").removeprefix(".").strip()):
            return token.end() - len(name)
    return 0


def _unless_stopping(error: BaseException) -> ExpressionError:
    """The library's own panics are no Exception; neither is the wish to stop the process, which passes."""
    if isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit)):
        raise error
    return ExpressionError(_("The expression cannot be used."))
