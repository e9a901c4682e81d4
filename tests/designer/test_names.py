"""Names: segments, and the keys of answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.names import RESERVED_SEGMENTS, is_segment, output_key, public_names


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("FullName", "fullName"),
        ("full_name", "fullName"),
        ("Full name", "fullName"),
        ("BusinessUnitID", "businessUnitId"),
        ("URL", "url"),
        ("HTMLParser", "htmlParser"),
        ("address1_line2", "address1Line2"),
        ("Größe", "größe"),
        ("", ""),
        ("__", ""),
    ],
)
def test_a_name_becomes_a_camel_case_key(name: str, key: str) -> None:
    assert output_key(name) == key


def test_names_in_an_api_come_from_labels() -> None:
    labels = {
        "lastname": "Last Name",
        "emailaddress1": "Email",
        "new_email": "E-Mail",
        "solutionfile_name": "solutionfile_name",
        "solutionfilename": "SolutionFileName",
        "emailaddress2": "Email",
        "address1_country": "Address 1: Country/Region",
        "telefon": "Téléphone (bureau)",
        "new_strasse": "Straße",
        "new_cursor": "Cursor",
        "new_id": "Id",
        "city": "",
    }
    assert public_names(labels) == {
        "lastname": "lastName",
        "emailaddress1": "email",
        "new_email": "new_email",
        "solutionfile_name": "solutionfileName",
        "solutionfilename": "solutionfilename_2",
        "emailaddress2": "emailaddress2",
        "address1_country": "address1CountryRegion",
        "telefon": "telephoneBureau",
        "new_strasse": "strasse",
        "new_cursor": "new_cursor",
        "new_id": "new_id",
        "city": "city",
    }


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Z"])))
def test_a_key_holds_only_letters_and_digits(name: str) -> None:
    key = output_key(name)
    assert key == "" or key.isalnum()


@pytest.mark.parametrize("segment", ["accounts", "account-contacts", "a", "a1", "x" * 63])
def test_segments_are_lower_case_with_hyphens(segment: str) -> None:
    assert is_segment(segment)


@pytest.mark.parametrize("segment", ["", "Accounts", "1a", "-a", "a_b", "a/b", "a b", "x" * 64, "ä", "a\n"])
def test_anything_else_is_no_segment(segment: str) -> None:
    assert not is_segment(segment)


@pytest.mark.parametrize("segment", sorted(RESERVED_SEGMENTS))
def test_reserved_words_are_no_segments(segment: str) -> None:
    assert not is_segment(segment)
