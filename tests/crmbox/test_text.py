"""Text compares without regard to case and accents."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmclient.text import fold


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ä", "a"),
        ("STRASSE", "straße"),
        ("İ", "i"),
        ("Σ", "ς"),
        ("\ufb01n", "FIN"),
        ("é", "e\u0301"),
        ("Crème Brûlée", "CREME BRULEE"),
        ("\uff21", "a"),
        ("كِتَاب", "كتاب"),
    ],
)
def test_these_are_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"), [("ø", "o"), ("Ł", "L"), ("đ", "d"), ("ı", "i"), ("か", "が"), ("ड", "ड़"), ("कि", "कु")]
)
def test_these_are_different_letters(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text())
def test_folding_twice_is_folding_once(value: str) -> None:
    assert fold(fold(value)) == fold(value)


@given(st.text())
def test_case_and_composition_never_matter(value: str) -> None:
    assert fold(unicodedata.normalize("NFC", value)) == fold(unicodedata.normalize("NFD", value))
    assert fold(value.casefold()) == fold(value)
