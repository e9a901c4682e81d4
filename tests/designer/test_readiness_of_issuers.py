"""Readiness of issuers: their callers' records can be found."""

from __future__ import annotations

import pytest

from designer.definitions import IssuerDefinition, RecordDefinition, RegistrationDefinition
from designer.readiness import Checker
from tests.designer.judged import configured, metadata

LINKED = RegistrationDefinition(link_claim="email", link_attribute="pin")


@pytest.mark.parametrize("path", [".sub", ".", "..sub", "realm..roles", "sub."])
def test_a_path_with_a_dot_too_many_is_no_path_of_a_claim(path: str) -> None:
    record = RecordDefinition(claim=path, attribute="systemuserid")
    issuer = IssuerDefinition(name="acme", issuer="https://acme.example", record=record)
    messages = [str(finding.message) for finding in Checker(configured(), metadata()).issuer(issuer)]
    assert [f"“{path}” is not a path of a claim" in message for message in messages].count(True) == 1


@pytest.mark.parametrize(
    ("record", "place"),
    [
        (RecordDefinition(claim="sub", attribute="pin"), "record.attribute"),
        (
            RecordDefinition(claim="sub", missing="register", registration=LINKED),
            "record.registration.link_attribute",
        ),
    ],
)
def test_a_record_is_not_found_by_what_the_platform_never_answers(
    record: RecordDefinition, place: str
) -> None:
    issuer = IssuerDefinition(name="acme", issuer="https://acme.example", record=record)
    findings = Checker(configured(), metadata()).issuer(issuer)
    assert "The platform does not return the value of “pin”, which is needed here. Choose another." in [
        str(finding.message) for finding in findings if finding.field == place
    ]
