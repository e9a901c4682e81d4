"""Expressions: what they see, what they answer, and that no text can stop or stall the process."""

from __future__ import annotations

import datetime as dt
import time
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmclient import Reference
from designer.expressions import Expression, ExpressionError

USER = {
    "roles": ["sales-rep"],
    "teams": [{"name": "North"}, {"name": "Key Accounts"}],
    "email": None,
    "revenue": Decimal("922337203685477.5807"),
    "born": dt.date(1990, 1, 31),
    "manager": Reference("systemuser", "00000000-0000-4000-8000-000000000000"),
}


def value(text: str, user: Any = USER) -> Any:
    return Expression(text, names=("user",)).evaluate({"user": user})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'sales-rep' in user.roles", True),
        ("user.teams.map(team, team.name)", ["North", "Key Accounts"]),
        ("join(user.teams.map(team, team.name), ' and ')", "North and Key Accounts"),
        ("join(['a', null, 1, true])", "a, 1, true"),
        ("coalesce(user.email, 'none')", "none"),
        ("coalesce(null, null)", None),
        ("user.revenue", Decimal("922337203685477.5807")),
        ("'' + user.revenue", "922337203685477.5807"),
        ("user.born", dt.date(1990, 1, 31)),
        ("'' + user.born", "1990-01-31"),
        ("user.manager.id", "00000000-0000-4000-8000-000000000000"),
        ("has(user.missing)", False),
        ("user.teams.exists(t, t.name.startsWith('Key'))", True),
        ("{'a': [1, 2.5]}", {"a": [1, 2.5]}),
        ("size(user.roles) + 1", 2),
        ("join([timestamp('2026-01-31T22:15:00.5+01:00')])", "2026-01-31T21:15:00Z"),
        ("format('{:yyyy} {0}', timestamp('0099-01-01T00:00:00Z'))", "0099 0099-01-01T00:00:00Z"),
    ],
)
def test_an_expression_has_its_value(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sum(['9999999999999999999999999999999', '0.01'])", Decimal("9999999999999999999999999999999.01")),
        ("format('{:0.00}', '-1234567890123456789012345678901.25')", "-1234567890123456789012345678901.25"),
        (
            "format('{:#,##0}', '1234567890123456789012345678901')",
            "1,234,567,890,123,456,789,012,345,678,901",
        ),
    ],
)
def test_no_digit_is_lost_of_long_numbers(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize("text", ["join([{}])", "join([[1]])", "join(['a'], null)", "join(['a'], 1)"])
def test_a_text_is_joined_of_single_values_with_a_text_between(text: str) -> None:
    with pytest.raises(ExpressionError, match="join takes"):
        value(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Write an expression"),
        ("   ", "Write an expression"),
        ("1 +", "At character 4: something is missing before the end"),
        ("user.a b", "At character 8: “b” is not expected here"),
        ("usr.roles", "There is no “usr” here; an expression sees: user"),
        ("open('/etc/passwd')", "There is no function “open”"),
        ("__import__('os')", "There is no function “__import__”"),
        ("x" * 1001, "At most 1000 are allowed"),
        ("(" * 200 + "1" + ")" * 200, "can be nested at most"),
        ("[1].map(a, [1].map(b, [1].map(c, 1)))", "can be nested at most 2 deep"),
    ],
)
def test_a_wrong_expression_is_refused_when_it_is_compiled(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message.replace("(", r"\(")):
        Expression(text, names=("user",))


@pytest.mark.parametrize(
    "text",
    [
        "user.nothing", "user.roles[9]", "1 / 0", "1 + 1.5", "9223372036854775807 + 1", "1.0 / 0.0",
        "b'bytes'", "duration('1h')", "user.email.size()", "int('x')", "{1: 2}", "join(1)", "optional.none()",
    ],
)  # fmt: skip
def test_an_expression_without_a_plain_value_is_an_error(text: str) -> None:
    with pytest.raises(ExpressionError):
        value(text)


def test_the_place_of_a_mistake_is_given() -> None:
    with pytest.raises(ExpressionError) as caught:
        Expression("user.a +\n+ )", names=("user",))
    assert caught.value.line == 2


def test_references_are_the_offered_names_that_are_used() -> None:
    built = Expression("input.a + input.b", names=("input", "user", "now"))
    assert built.references == {"input"}


@pytest.mark.parametrize(
    "text",
    [
        "user.many.map(a, user.many.map(b, a))",
        "(user.many + user.many + user.many + user.many).map(a, a)",
        "['aaaaaaaa']" + ".map(x, x + x + x + x + x)" * 12,
        "[[1]]" + ".map(x, [x, x, x, x, x, x])" * 12,
        r"r'\' == '' || user.many.map(a, user.many.map(b, a)) == []",
        "['xxxxxxxx']" + ".map(x, join([x, x, x, x, x], x))" * 12,
    ],
)
def test_an_expression_that_would_take_long_or_grow_is_refused(text: str) -> None:
    started = time.thread_time()
    with pytest.raises(ExpressionError):
        value(text, {"many": list(range(1000))})
    assert time.thread_time() - started < 2


_PIECES = st.sampled_from(
    ["user", ".a", "'x'", "1", "1.5", "[", "]", "(", ")", "{", "}", ":", "?", "+", "-", "!", "&&", "||",
     ".map(x,", "x", ".exists(y,", ",", " in ", "==", "join(", "has(", "'", '"', "\\", "r'", "//", "\n",
     "null", "true", "u", "size(", "[0]", "1e400", "\0", "é", "😀", "'''",
     "-" * 300, "!" * 300, "((((", "a?b:"]
)  # fmt: skip


@settings(max_examples=400, deadline=2000)
@given(st.lists(_PIECES, max_size=60).map("".join))
def test_any_text_is_evaluated_or_refused(text: str) -> None:
    with suppress(ExpressionError):
        value(text, {"a": [1, 2], "b": None})
