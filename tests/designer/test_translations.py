"""Texts in several languages: how they fall back, travel in documents, are told, merged and judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Model
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from designer.definitions import EndpointDefinition, InputDefinition, ModuleDefinition
from designer.history.json_merge import GONE, Clash, with_change
from designer.history.wording import lines
from designer.loading import latest
from designer.models import Endpoint, Input, Module, Precondition
from designer.platform import get_platform
from designer.readiness import Metadata
from designer.readiness.checker import Checker
from tests.designer.commands import refused, run

ENGLISH, GERMAN, ARABIC = 1033, 1031, 1025
TITLES = {"1031": {"title": "Konto anlegen"}, "1025": {"title": "إنشاء حساب"}}

_LCIDS = st.integers(1, 20_000)
_TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


@given(
    texts=st.dictionaries(_LCIDS | st.just(ENGLISH), _TEXTS, max_size=5),
    base=_TEXTS,
    asked=_LCIDS | st.just(0),
)
def test_a_text_is_that_in_the_language_or_the_english_one_or_the_one_beside_them(
    texts: dict[int, str], base: str, asked: int
) -> None:
    definition = ModuleDefinition.model_validate(
        {
            "segment": "sales",
            "title": base,
            "translations": {str(lcid): {"title": text} for lcid, text in texts.items()},
        }
    )
    wanted = texts.get(asked) or texts.get(ENGLISH) or base
    assert definition.text("title", asked) == wanted
    spoken = definition.in_language(asked)
    assert (spoken.title, spoken.translations) == (wanted, {})
    assert definition.languages() == {lcid for lcid, text in texts.items() if text}
    assert ModuleDefinition.model_validate(definition.to_json()) == definition


def test_an_endpoint_is_in_a_language_with_its_inputs_their_items_and_messages() -> None:
    definition = EndpointDefinition.model_validate(
        {
            "kind": "create",
            "title": "Create",
            "translations": TITLES,
            "inputs": [
                {
                    "name": "contacts",
                    "type": "List",
                    "inputs": [{"name": "name", "translations": {"1031": {"label": "Name"}}}],
                }
            ],
            "preconditions": [
                {"expression": "true", "message": "No", "translations": {"1036": {"message": "Non"}}}
            ],
        }
    )
    assert definition.languages() == {GERMAN, ARABIC, 1036}
    german = definition.in_language(GERMAN)
    assert (german.title, german.inputs[0].inputs[0].label) == ("Konto anlegen", "Name")
    assert german.preconditions[0].message == "No"
    assert definition.in_language(1036).preconditions[0].message == "Non"
    assert not definition.in_language(GERMAN).languages()


@pytest.mark.parametrize(
    ("translations", "why"),
    [
        ({"de": {"title": "x"}}, "'de' is not a language. Write its LCID, such as 1031 for German"),
        ({"01031": {"title": "x"}}, "not a language"),
        ({"1031": {"titel": "x"}}, "translations.1031: there is no text 'titel'; one of title, description"),
        ({"1031": "x"}, "dictionary"),
    ],
)
def test_what_is_no_translation_is_refused(translations: Any, why: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ModuleDefinition.model_validate({"segment": "sales", "translations": translations})
    assert why in str(caught.value)


def test_empty_texts_and_orders_are_no_difference() -> None:
    one = InputDefinition.model_validate(
        {"name": "x", "translations": {1031: {"label": "A"}, "1025": {"label": ""}}}
    )
    other = InputDefinition.model_validate({"name": "x", "translations": {"1031": {"label": "A"}}})
    assert one.to_json() == other.to_json() == {"name": "x", "translations": {"1031": {"label": "A"}}}


def _translate() -> None:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    row.translations = TITLES
    row.save()
    name_input = row.inputs.get(name="name")
    name_input.translations = {"1031": {"label": "Firma"}}
    name_input.save()
    Precondition.objects.create(
        endpoint=row, expression="true", message="No", translations={"1031": {"message": "Nein"}}
    )
    Module.objects.filter(segment="sales").update(translations={"1031": {"title": "Vertrieb"}})


def _forget() -> None:
    models: tuple[type[Model], ...] = (Endpoint, Input, Module, Precondition)
    for model in models:
        model._default_manager.update(translations={})


@pytest.mark.parametrize("form", ["folder", "document"])
def test_translations_survive_export_and_import(portico: None, tmp_path: Path, form: str) -> None:
    _translate()
    written = tmp_path if form == "folder" else tmp_path / "configuration.json"
    run("exportconfig", "--folder" if form == "folder" else "--output", written)
    before = run("exportconfig")
    assert "Vertrieb" in before
    assert "Firma" in before
    _forget()
    run("importconfig", written)
    assert run("exportconfig") == before


def test_a_configuration_without_translations_says_nothing_of_them(portico: None) -> None:
    _forget()
    assert "translations" not in run("exportconfig")


def test_a_document_with_an_unknown_text_is_refused_with_its_place(portico: None, tmp_path: Path) -> None:
    document = json.loads(run("exportconfig"))
    document["modules"][0]["translations"] = {"1031": {"name": "x"}}
    path = tmp_path / "c.json"
    path.write_text(json.dumps(document))
    assert "there is no text 'name'" in refused("importconfig", path)


def test_a_change_of_translations_is_told_by_language() -> None:
    after = {"translations": {"1025": {"title": "a"}, "1031": {"title": "b"}}}
    (line,) = lines("modules", {"translations": {"1025": {"title": "a"}, "1036": {"title": "c"}}}, after)
    assert line.text == "translations changed: German (1031), French (1036)"
    (line,) = lines(
        "endpoints", {"kind": "create"}, {"kind": "create", "translations": {"99": {"title": "b"}}}
    )
    assert line.text == "translations changed: LCID 99"


def test_texts_of_two_people_are_merged_one_by_one() -> None:
    german, arabic = {"1031": {"title": "A"}}, {"1025": {"title": "B"}}
    assert with_change(GONE, german, arabic, "translations") == {**arabic, **german}
    assert with_change(german, GONE, {**german, **arabic}, "translations") == arabic
    assert with_change(german, GONE, german, "translations") is GONE
    both = {"1031": {"title": "A", "description": "C"}}
    assert with_change(GONE, german, {"1031": {"description": "C"}}, "translations") == both
    with pytest.raises(Clash):
        with_change(german, {"1031": {"title": "C"}}, {"1031": {"title": "D"}}, "translations")


def test_readiness_names_unknown_languages_and_texts_that_are_too_long(portico: None) -> None:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    row.translations = {"1031": {"title": "A" * 201}, "1043": {"title": "Rekening"}}
    row.save()
    row.inputs.filter(name="name").update(translations={"1031": {"label": "B" * 300}})
    findings = Checker(latest(), Metadata(get_platform())).endpoint(row.pk)
    said = {
        finding.rule: str(finding.message) for finding in findings if finding.rule.startswith("translation")
    }
    assert "1043, which the platform does not have" in said["translation-unknown-language"]
    texts = [str(finding.message) for finding in findings if finding.rule == "translation-too-long"]
    assert any(text.startswith("title in the language 1031 has 201 characters") for text in texts)
    assert any(text.startswith("inputs.name.label in the language 1031 has 300") for text in texts)
