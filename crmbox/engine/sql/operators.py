"""The operators as one table: the SQL of each, and how its values become parameters.

A negation is made of the operator that it denies, and holds for empty values, too, as Dataverse's `ne` does.
No source says how Dataverse treats `not-like`, `not-in` and the others; here they work in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from crmbox.calendar import calendar
from crmbox.engine import like_patterns
from crmbox.engine.dialects.base import Dialect
from crmbox.engine.like_patterns import Token
from crmbox.engine.sql.operands import Operand
from crmclient.query.ast import Operator
from crmclient.query.bounds import MOST_VALUES
from crmclient.query.resolving.relative_conditions import stored_bound

EMPTY_MATCHES_NEGATIONS: Final = True

LONGEST_PATTERN: Final = 4000

Encode = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class PhraseContext:
    """The operand and the dialect that a phrase is written for."""

    operand: Operand
    dialect: Dialect


@dataclass(frozen=True, slots=True)
class Phrase:
    """How an operator is written: its SQL, with placeholders, and an encoder for each of them.

    `values` is how many values it takes; None: a list. `by_name`: for a lookup, the name of its record is
    compared. `pattern` makes the pattern of its one value.
    """

    values: int | None
    write: Callable[[PhraseContext], str]
    encoders: Callable[[PhraseContext], tuple[Encode, ...]]
    by_name: bool = False
    pattern: Callable[[str], list[Token]] | None = None


def _among(s: PhraseContext) -> str:
    return s.dialect.among(s.operand.compared, s.operand.storage)


def _contains_any(s: PhraseContext) -> str:
    return s.dialect.contains_any(s.operand.value)


def _comparison(sign: str) -> Callable[[PhraseContext], str]:
    return lambda s: f"{s.operand.compared} {sign} {s.dialect.placeholder}"


def _between(s: PhraseContext) -> str:
    return f"{s.operand.compared} BETWEEN {s.dialect.placeholder} AND {s.dialect.placeholder}"


def _one(s: PhraseContext) -> tuple[Encode, ...]:
    return (s.operand.encode,)


def _two(s: PhraseContext) -> tuple[Encode, ...]:
    return (s.operand.encode, s.operand.encode)


def _none(_: PhraseContext) -> tuple[Encode, ...]:
    return ()


def _encode_as_list(s: PhraseContext) -> tuple[Encode, ...]:
    """Return the encoder of all values of a condition as one list parameter."""
    encode = s.operand.encode
    return (lambda values: s.dialect.list_parameter([encode(value) for value in _several(values)]),)


def _options(s: PhraseContext) -> tuple[Encode, ...]:
    def encode(values: Sequence[object]) -> Any:
        if any(type(value) is not int for value in _several(values)):
            raise TypeError("whole numbers, the values of options, are needed")
        return s.dialect.options_parameter(values)  # type: ignore[arg-type]  # just checked

    return (encode,)


def _several(values: Sequence[object]) -> Sequence[object]:
    if not values:
        raise ValueError("at least one value is needed")
    if len(values) > MOST_VALUES:
        raise ValueError(f"at most {MOST_VALUES} values are taken")
    if any(value is None for value in values):
        raise ValueError("an empty value cannot be listed; use null or not-null")
    return values


def _pattern(tokens: Callable[[str], list[Token]]) -> Callable[[PhraseContext], tuple[Encode, ...]]:
    def encoders(s: PhraseContext) -> tuple[Encode, ...]:
        def encode(value: object) -> str:
            s.operand.encode(value)
            text = str(value)
            if len(text) > LONGEST_PATTERN:
                raise ValueError(f"a pattern can have at most {LONGEST_PATTERN} characters")
            return s.dialect.like_parameter(tokens(text))

        return (encode,)

    return encoders


def _period(s: PhraseContext) -> tuple[Encode, ...]:
    """Return the encoder of the number of a fiscal period: as the days of that period in every year."""
    attribute = s.operand.attribute

    def bounds(number: Any) -> Any:
        spans = calendar().spans_of_period(number)
        return s.dialect.spans_parameter(
            [tuple(s.operand.encode(stored_bound(bound, attribute)) for bound in span) for span in spans]
        )

    return (bounds,)


def _matching(tokens: Callable[[str], list[Token]]) -> Phrase:
    return Phrase(1, lambda s: s.dialect.like(s.operand.compared), _pattern(tokens), True, tokens)


POSITIVE: Final[dict[Operator, Phrase]] = {
    Operator.EQ: Phrase(1, _comparison("="), _one),
    Operator.GT: Phrase(1, _comparison(">"), _one),
    Operator.GE: Phrase(1, _comparison(">="), _one),
    Operator.LT: Phrase(1, _comparison("<"), _one),
    Operator.LE: Phrase(1, _comparison("<="), _one),
    Operator.BETWEEN: Phrase(2, _between, _two),
    Operator.IN: Phrase(None, _among, _encode_as_list),
    Operator.LIKE: _matching(like_patterns.like),
    Operator.BEGINS_WITH: _matching(like_patterns.begins_with),
    Operator.ENDS_WITH: _matching(like_patterns.ends_with),
    Operator.CONTAINS: _matching(like_patterns.contains),
    Operator.CONTAIN_VALUES: Phrase(None, _contains_any, _options),
    Operator.IN_FISCAL_PERIOD: Phrase(
        1, lambda s: s.dialect.within_any(s.operand.compared, s.operand.storage), _period
    ),
    Operator.NULL: Phrase(0, lambda s: f"{s.operand.value} IS NULL", _none),
    Operator.NOT_NULL: Phrase(0, lambda s: f"{s.operand.value} IS NOT NULL", _none),
}  # fmt: skip

DENIED: Final[dict[Operator, Operator]] = {
    Operator.NE: Operator.EQ,
    Operator.NOT_BETWEEN: Operator.BETWEEN,
    Operator.NOT_IN: Operator.IN,
    Operator.NOT_LIKE: Operator.LIKE,
    Operator.NOT_BEGINS_WITH: Operator.BEGINS_WITH,
    Operator.NOT_ENDS_WITH: Operator.ENDS_WITH,
    Operator.NOT_CONTAIN_VALUES: Operator.CONTAIN_VALUES,
}
"""Each negation and what it denies."""

COLUMN_COMPARISONS: Final = {
    Operator.EQ: "=",
    Operator.NE: "=",
    Operator.GT: ">",
    Operator.GE: ">=",
    Operator.LT: "<",
    Operator.LE: "<=",
}
"""The operators that compare two attributes; `ne` denies its sign."""
