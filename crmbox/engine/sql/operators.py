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
from crmclient.query.patterns import pattern_of
from crmclient.query.resolving.relative_conditions import stored_bound

EMPTY_MATCHES_NEGATIONS: Final = True

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


def _among(context: PhraseContext) -> str:
    return context.dialect.among(context.operand.compared, context.operand.storage)


def _contains_any(context: PhraseContext) -> str:
    return context.dialect.contains_any(context.operand.value)


def _comparison(sign: str) -> Callable[[PhraseContext], str]:
    return lambda context: f"{context.operand.compared} {sign} {context.dialect.placeholder}"


def _between(context: PhraseContext) -> str:
    return (
        f"{context.operand.compared} BETWEEN {context.dialect.placeholder} AND {context.dialect.placeholder}"
    )


def _within_period(context: PhraseContext) -> str:
    return context.dialect.within_any(context.operand.compared, context.operand.storage)


def _one_value(context: PhraseContext) -> tuple[Encode, ...]:
    return (context.operand.encode,)


def _two_values(context: PhraseContext) -> tuple[Encode, ...]:
    return (context.operand.encode, context.operand.encode)


def _no_values(_: PhraseContext) -> tuple[Encode, ...]:
    return ()


def _encode_as_list(context: PhraseContext) -> tuple[Encode, ...]:
    """Return the encoder of all values of a condition as one list parameter."""
    encode = context.operand.encode
    return (
        lambda values: context.dialect.list_parameter([encode(value) for value in _checked_list(values)]),
    )


def _encode_as_options(context: PhraseContext) -> tuple[Encode, ...]:
    """Return the encoder of the values of options as one parameter."""

    def encode(values: Sequence[object]) -> Any:
        if any(type(value) is not int for value in _checked_list(values)):
            raise TypeError("whole numbers, the values of options, are needed")
        return context.dialect.options_parameter(values)  # type: ignore[arg-type]  # just checked

    return (encode,)


def _checked_list(values: Sequence[object]) -> Sequence[object]:
    """Return the values of a list condition. Raises ValueError for none, for too many, and for an empty value
    among them.
    """
    if not values:
        raise ValueError("at least one value is needed")
    if len(values) > MOST_VALUES:
        raise ValueError(f"at most {MOST_VALUES} values are taken")
    if any(value is None for value in values):
        raise ValueError("an empty value cannot be listed; use null or not-null")
    return values


def _encode_as_pattern(
    operator: Operator, tokens: Callable[[str], list[Token]]
) -> Callable[[PhraseContext], tuple[Encode, ...]]:
    """Return the function that gives, for an operand, the encoder of a text as a LIKE parameter. `tokens`
    makes the tokens of the pattern that `operator` means with a text; `operator` itself decides how long it
    may be.
    """

    def encoders(context: PhraseContext) -> tuple[Encode, ...]:
        """Return the only encoder, for the only parameter."""

        def encode(value: object) -> str:
            _refuse_unusable(context, operator, value)
            return context.dialect.like_parameter(tokens(str(value)))

        return (encode,)

    return encoders


def _refuse_unusable(context: PhraseContext, operator: Operator, value: object) -> None:
    """Raise TypeError or ValueError for a value that the attribute cannot have, as each other operator does,
    and for a pattern that is too long.
    """
    context.operand.encode(value)
    pattern_of(operator, str(value))


def _encode_as_period(context: PhraseContext) -> tuple[Encode, ...]:
    """Return the encoder of the number of a fiscal period: as the days of that period in every year."""
    attribute = context.operand.attribute

    def bounds(number: Any) -> Any:
        """Return one parameter: for each year, the begin of the period and the first moment after it."""
        spans = calendar().spans_of_period(number)
        return context.dialect.spans_parameter(
            [
                tuple(context.operand.encode(stored_bound(bound, attribute)) for bound in span)
                for span in spans
            ]
        )

    return (bounds,)


def _matching(operator: Operator, tokens: Callable[[str], list[Token]]) -> Phrase:
    """Return the phrase of an operator that compares one value with a pattern.

    `tokens` makes the tokens of the pattern that the operator means with the value.
    """
    return Phrase(
        1,
        lambda context: context.dialect.like(context.operand.compared),
        _encode_as_pattern(operator, tokens),
        by_name=True,
        pattern=tokens,
    )


POSITIVE: Final[dict[Operator, Phrase]] = {
    Operator.EQ: Phrase(1, _comparison("="), _one_value),
    Operator.GT: Phrase(1, _comparison(">"), _one_value),
    Operator.GE: Phrase(1, _comparison(">="), _one_value),
    Operator.LT: Phrase(1, _comparison("<"), _one_value),
    Operator.LE: Phrase(1, _comparison("<="), _one_value),
    Operator.BETWEEN: Phrase(2, _between, _two_values),
    Operator.IN: Phrase(None, _among, _encode_as_list),
    Operator.LIKE: _matching(Operator.LIKE, like_patterns.like),
    Operator.BEGINS_WITH: _matching(Operator.BEGINS_WITH, like_patterns.begins_with),
    Operator.ENDS_WITH: _matching(Operator.ENDS_WITH, like_patterns.ends_with),
    Operator.CONTAINS: _matching(Operator.CONTAINS, like_patterns.contains),
    Operator.CONTAIN_VALUES: Phrase(None, _contains_any, _encode_as_options),
    Operator.IN_FISCAL_PERIOD: Phrase(1, _within_period, _encode_as_period),
    Operator.NULL: Phrase(0, lambda context: f"{context.operand.value} IS NULL", _no_values),
    Operator.NOT_NULL: Phrase(0, lambda context: f"{context.operand.value} IS NOT NULL", _no_values),
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
