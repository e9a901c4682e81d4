"""The page about expressions: each of its examples is true, and every function has one."""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from crmclient.query.calendar import Calendar, Moment
from designer.expressions import Expression
from designer.expressions.functions import FUNCTIONS, STANDARD
from designer.expressions.members import ENDPOINT_NAMES

PAGE = (Path(__file__).parents[2] / "docs" / "expressions.md").read_text()
EXAMPLES = re.findall(r"(?:^    |`)([^`\n]+?) → ([^`\n]+?)(?:`|$)", PAGE, re.MULTILINE)
DATA: dict[str, Any] = {
    "input": {
        "name": "Contoso",
        "amount": 1200,
        "note": None,
        "tags": ["new", "east", None],
        "due": dt.date(2026, 2, 28),
    },
    "record": {
        "name": "Fabrikam",
        "revenue": Decimal("1234.50"),
        "score": 2.5,
        "createdon": dt.datetime(2025, 12, 24, 18, 30, tzinfo=dt.UTC),
    },
    "fetch": {"owner": {"fullname": "Rita Rep", "limit": Decimal("1000.00")}},
    "user": {"fullName": "Max Manager", "roles": ["sales-manager"]},
    "now": dt.datetime(2026, 1, 31, 21, 15, tzinfo=dt.UTC),
}
MOMENT = Moment(DATA["now"], Calendar(ZoneInfo("Europe/Berlin")))


def _shown(value: Any) -> str:
    if isinstance(value, dt.datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_an_example_gives_what_the_page_says(text: str, expected: str) -> None:
    assert _shown(Expression(text, ENDPOINT_NAMES).evaluate(DATA, MOMENT)) == expected


def test_the_examples_are_found() -> None:
    assert len(EXAMPLES) > 50


def test_every_function_has_a_row_with_an_example() -> None:
    documented = {
        name
        for row in re.findall(r"^\| (`\w+\(.*?) \|.*→.*\|$", PAGE, re.MULTILINE)
        for name in re.findall(r"`(\w+)\(", row)
    }
    assert documented == set(FUNCTIONS)


def test_every_standard_function_exists() -> None:
    calls = {
        "size": "size('a')", "contains": "'a'.contains('a')", "startsWith": "'a'.startsWith('a')",
        "endsWith": "'a'.endsWith('a')", "matches": "'a'.matches('a')", "type": "type(1) == type(2)",
        "int": "int('1')", "uint": "int(uint(1))", "double": "double('1')", "string": "string(1)",
        "timestamp": "timestamp('2026-01-31T00:00:00Z')", "duration": "now + duration('1h')",
    }  # fmt: skip
    calls |= {name: f"now.{name}()" for name in STANDARD if name.startswith("get")}
    assert calls.keys() == STANDARD
    for text in calls.values():
        assert Expression(text, ENDPOINT_NAMES).evaluate(DATA) is not None
