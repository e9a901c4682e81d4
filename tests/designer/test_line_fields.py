"""Lists that are typed one item to a line: what a page shows is read as what was stored."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import pytest
from django import forms
from hypothesis import given, settings
from hypothesis import strategies as some

from designer.studio.identity.line_fields import LinesField, PairsField, RequiredClaimsField, field_like

TRICKY = some.text(some.sampled_from("\"\\=, \t\n\r\x85\u2028\u00a0'abu0"), max_size=12)
# PostgreSQL cannot store a NUL.
TEXTS = some.one_of(TRICKY, some.text(some.characters(codec="utf-8", exclude_characters="\0"), max_size=12))
VALUES = some.sets(TEXTS, max_size=4).map(sorted)
many = settings(max_examples=400, deadline=None)


def read_again(field: LinesField, stored: Any) -> Any:
    """What the field reads of what it shows, sent as a browser does."""
    return field.clean(field.prepare_value(stored).replace("\n", "\r\n"))


@many
@given(some.lists(TEXTS, max_size=4))
def test_shown_texts_are_read_as_they_were(stored: list[str]) -> None:
    assert read_again(LinesField(), stored) == stored


@many
@given(some.lists(some.builds(lambda value, role: {"value": value, "role": role}, TEXTS, TEXTS), max_size=4))
def test_shown_pairs_are_read_as_they_were(stored: list[dict[str, str]]) -> None:
    assert read_again(PairsField("value", "role"), stored) == stored


@many
@given(
    some.lists(
        some.builds(lambda claim, values: {"claim": claim, "values": values}, TEXTS, VALUES), max_size=4
    )
)
def test_shown_required_claims_are_read_as_they_were(stored: list[dict[str, Any]]) -> None:
    assert read_again(RequiredClaimsField(), stored) == stored


@pytest.mark.parametrize(
    ("line", "claim", "values"),
    [
        ("tid = b, a", "tid", ["a", "b"]),
        ("tid=a,,b", "tid", ["a", "b"]),
        ("azp", "azp", []),
        ("azp =", "azp", []),
        ("groups = CN=Portal", "groups", ["CN=Portal"]),
        ("https://x?a=b = c", "https://x?a=b", ["c"]),
        ('groups="CN = Portal,OU=Apps" , b', "groups", ["CN = Portal,OU=Apps", "b"]),
        # None of these is a text in JSON quotes.
        ('name = 5" pipe, 6" pipe', "name", ['5" pipe', '6" pipe']),
        ('name = "a" b', "name", ['"a" b']),
        (r'name = "\x", "\u0000", "\ud800"', "name", [r'"\u0000"', r'"\ud800"', r'"\x"']),
    ],
)
def test_required_claims_are_typed(line: str, claim: str, values: list[str]) -> None:
    assert RequiredClaimsField().clean(line) == [{"claim": claim, "values": values}]


def test_values_without_commas_and_quotes_are_shown_as_they_are() -> None:
    stored = [{"claim": "groups", "values": ["CN=Portal", "OU=Apps, DC=x"]}, {"claim": "azp"}]
    assert RequiredClaimsField().prepare_value(stored) == 'groups = CN=Portal, "OU=Apps, DC=x"\nazp'
    grants = [{"value": "CN = Portal, OU=Apps", "role": "sales-rep"}]
    assert PairsField("value", "role").prepare_value(grants) == "CN = Portal, OU=Apps = sales-rep"


@pytest.mark.parametrize(
    ("field", "line"),
    [
        (partial(PairsField, "value", "role"), '"a = b" = x'),
        (RequiredClaimsField, 'groups = "CN=Portal,OU=Apps"'),
    ],
)
def test_the_help_of_a_list_gives_an_example_in_quotes_that_is_one_text(field: Any, line: str) -> None:
    made = field_like(field, forms.CharField(help_text="Help."))
    [quoted] = re.findall('".+?"', line)
    assert str(made.help_text).startswith("Help. Put ")
    assert quoted in str(made.help_text)
    [item] = made.clean(line)
    assert json.loads(quoted) in (item.get("value"), *item.get("values", ()))
