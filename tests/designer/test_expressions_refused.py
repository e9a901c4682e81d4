"""What an expression's author reads: where the mistake is, what there is, and what would be right."""

from __future__ import annotations

import time
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.expressions import Expression, ExpressionError
from designer.expressions.functions import FUNCTIONS

NAMES = ("input", "record")


def value(text: str, **record: Any) -> Any:
    return Expression(text, NAMES).evaluate({"input": {}, "record": record})


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("recrod.name", "There is no “recrod” here; an expression sees: input, record. Did you mean", (1, 1)),
        ("recrod.name", "Did you mean “record”?", (1, 1)),
        ("1 +\n inptu.name", "At line 2, character 2: There is no “inptu”", (2, 2)),
        ("record.name.uper()", "There is no function “uper”. Did you mean “upper”?", (1, 13)),
        ("adddays(record.due, 1)", "Did you mean “addDays”?", (1, 1)),
        ("zzz(1)", "There are: add, addDays, addHours", (1, 1)),
        ("record.name ==", "At character 15: something is missing", (1, 15)),
    ],
)  # fmt: skip
def test_a_mistake_is_placed_and_what_exists_is_named(
    text: str, message: str, place: tuple[int, int]
) -> None:
    with pytest.raises(ExpressionError) as caught:
        Expression(text, NAMES)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("record.score * 2", "write 2.0 for 2"),
        ("record.score > 'x'", "num(…)"),
        ("record.revenue + 1", "add, sub, mul and div"),
        ("record.revenue - record.revenue", "add, sub, mul and div"),
        ("record.empty + 1", "coalesce(…, …)"),
        ("record.gone", "there is no “gone” in the data"),
        ("1 / 0", "divides by 0"),
        ("add(1)", "it is written add(first, second, …)"),
        ("today(1)", "it is written today()"),
        ("substring('a')", "it is written substring(value, start, [end])"),
        ("add(1, 'x')", "add takes numbers, or digits as text, not “x”"),
        ("add(1, record.empty)", "not null (coalesce gives another value for it)"),
        ("add(1, true)", "not true"),
        ("mul('9' , 1e300)", "at most 60 digits"),
        ("div(1, 0, 2)", "div cannot divide by 0"),
        ("div(1, 3, 99)", "decimal places from 0 to 20"),
        ("sum(1)", "sum takes a list"),
        ("min(1, 'x')", "all of one kind"),
        ("upper(1)", "upper takes text, not 1"),
        ("replace('a', '', 'b')", "which is empty here"),
        ("padLeft('a', 1000)", "a width from 0 to 200"),
        ("padLeft('a', 10, 'ab')", "one character"),
        ("substring('abc', -1)", "a start from 0"),
        ("addDays('31.01.2026', 1)", "takes a date (2026-01-31)"),
        ("addDays('2026-02-30', 1)", "there is no date"),
        ("addDays('2026-01-31', 1.5)", "days from -1000000 to 1000000, a whole number"),
        ("addYears('9999-01-01', 1)", "outside the calendar"),
        ("addHours('2026-01-31', 1)", "startOfDay gives that of a date"),
        ("format('{1}', 1)", "no value for {1}"),
        ("format('{x}', 1)", "format takes {0}"),
        ("format('{0.__class__}', 1)", "format takes {0}"),
        ("format('{:#,##0,00}', 1)", "one sign for thousands and decimals"),
        ("format('{:MMMM}', '2026-01-31')", "MMMM is not a part of a date"),
        ("format('{:HH}', '2026-01-31')", "HH is not a part of a date"),
        ("format('{}', [1])", "join makes a text of a list"),
        ("size(1)", "size does not take such values"),
        ("int('x')", "int: "),
    ],
)
def test_what_has_no_value_says_what_would_have_one(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        value(text, score=1.5, revenue=Decimal("1.50"), empty=None)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "replace(replace(input.long, 'a', input.long), 'a', input.long)",
        "join([input.long, input.long, input.long, input.long], input.long)",
        "format('{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}', input.long)",
    ],
)
def test_text_does_not_grow_without_end(text: str) -> None:
    started = time.thread_time()
    with pytest.raises(ExpressionError, match="more than 100000 characters"):
        Expression(text, NAMES).evaluate({"input": {"long": "a" * 30_000}, "record": {}})
    assert time.thread_time() - started < 1


def test_long_text_of_a_record_may_be_long() -> None:
    memo = "x" * 1_000_000
    assert value("upper(record.memo)", memo=memo) == memo.upper()
    assert value("replace(record.memo, 'x', 'y')", memo=memo) == "y" * 1_000_000


_ARGUMENTS = st.sampled_from(
    ["null", "true", "0", "-1", "1.5", "''", "'a'", "'1.50'", "'2026-01-31'", "now", "[]", "[1, null]", "{}",
     "9223372036854775807", "1e308", "'{}'", "'{0:0.00}'", "'\U0001f600'", "duration('1h')", "b'x'"]
)  # fmt: skip


@settings(max_examples=1500, deadline=1000)
@given(st.sampled_from(sorted(FUNCTIONS)), st.lists(_ARGUMENTS, max_size=4))
def test_any_arguments_give_a_value_or_a_reason(function: str, arguments: list[str]) -> None:
    import datetime as dt

    with suppress(ExpressionError):
        Expression(f"{function}({', '.join(arguments)})", ("now",)).evaluate({"now": dt.datetime.now(dt.UTC)})
