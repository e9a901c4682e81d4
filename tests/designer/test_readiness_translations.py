"""Readiness of texts in several languages."""

from __future__ import annotations

import pytest

from designer.configuration import Endpoint
from designer.definitions import InputDefinition
from designer.definitions.translations import LONGEST_LINE
from designer.readiness import Finding, check
from tests.designer.judged import NAME, configured, create, metadata

GERMAN, FRENCH = "1031", "1036"


def judged(endpoint: Endpoint, *, down: bool = False) -> list[Finding]:
    findings = check(endpoint, configured(endpoint), metadata(down=down))
    return [finding for finding in findings if finding.rule.startswith("translation-")]


def labelled(text: str, lcid: str = GERMAN) -> InputDefinition:
    return NAME.model_copy(update={"translations": {lcid: {"label": text}}})


def test_texts_in_the_platforms_languages_are_well() -> None:
    titled = create(translations={GERMAN: {"title": "Anlegen"}}, inputs=(labelled("Name"),))
    assert judged(titled) == []


@pytest.mark.parametrize(
    "endpoint",
    [create(translations={FRENCH: {"title": "Créer"}}), create(inputs=(labelled("Nom", FRENCH),))],
)
def test_a_language_that_the_platform_does_not_have_is_found(endpoint: Endpoint) -> None:
    (finding,) = judged(endpoint)
    assert (finding.rule, finding.field) == ("translation-unknown-language", "translations")
    assert not finding.is_blocking
    assert "1036" in str(finding.message)
    assert "1033, 1031" in str(finding.message)


def test_no_language_is_found_unknown_where_the_platform_tells_none() -> None:
    assert judged(create(translations={FRENCH: {"title": "Créer"}}), down=True) == []


@pytest.mark.parametrize(
    ("endpoint", "place"),
    [
        (create(translations={GERMAN: {"title": "x" * (LONGEST_LINE + 1)}}), "title"),
        (create(inputs=(labelled("x" * (LONGEST_LINE + 1)),)), "inputs.name.label"),
    ],
)
def test_a_text_that_is_longer_than_its_place_is_found(endpoint: Endpoint, place: str) -> None:
    (finding,) = judged(endpoint)
    assert (finding.rule, finding.field) == ("translation-too-long", "translations")
    assert not finding.is_blocking
    assert f"{place} in the language {GERMAN} has {LONGEST_LINE + 1} characters" in str(finding.message)


def test_a_text_as_long_as_its_place_is_well() -> None:
    assert judged(create(translations={GERMAN: {"title": "x" * LONGEST_LINE}})) == []
