"""What is wrong with expressions, queries and documents is said in the reader's language, at its place."""

from __future__ import annotations

import html
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.translation import get_language, override
from pydantic import ValidationError

from crmbox.demo.people import RITA_REP
from crmclient.query.fetchxml import parse
from crmclient.query.problems import QueryProblems
from crmclient.sentences import Counted, Sentence, listed
from designer.definitions import ConfigurationDocument
from designer.documents.document_reader import read
from designer.documents.problems import DocumentError
from designer.expressions import Expression, ExpressionError
from designer.library_messages import problems_of, reason_of
from designer.models import Endpoint, Precondition, UserProperty
from designer.sentences import said
from tests.callers import Caller
from tests.designer.studio import add_row, change_url, filled, page
from tests.runtime.queries import a_query, accounts, where

GERMAN, ARABIC, ENGLISH = ({"Accept-Language": language} for language in ("de-DE,de;q=0.9", "ar", "en"))
EXPRESSION, QUERY = "preconditions-0-expression", "fetchers-0-query"
WRONG_QUERY = (
    "<fetch><entity name='lead'><attribute name='subject'/>"
    "<filter><condition attribute='subject' operator='eq-userlanguage'/></filter></entity></fetch>"
)
WRONG_DOCUMENT = {
    "format": 1,
    "roles": [{"name": 5}, {"title": "No name"}],
    "user_properties": [{"name": "x", "kind": "odd"}],
    "endpoints": [
        {
            "kind": "multi-query",
            "settings": {"cap": 0, "query": "<fetch/>", "orders": [{"name": "a", "by": []}]},
        },
        {"kind": "create", "inputs": [{"name": "x", "max_length": "many", "required": "perhaps"}]},
    ],
}


@pytest.fixture
def create(portico: None) -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts")


def _told(client: Client, row: Endpoint, headers: dict[str, str], **typed: str) -> dict[str, str]:
    """What is said of the page while it is typed, by place, and in its preview."""
    data = filled(page(client, change_url(row)))
    add_row(data, "fetchers", name="lead", position=0, query=typed.pop("query", ""))
    add_row(data, "preconditions", status="409", message="Never", expression=typed.pop("expression", "true"))
    url = reverse("admin:designer_endpoint_check", args=[row.pk])
    state: dict[str, Any] = client.post(url, data, headers=headers).json()
    places = {**state["findings"], **state["errors"], "preview": state["preview"]}
    return {place: html.unescape(text) for place, text in places.items()}


def _refused(client: Client, document: Any, headers: dict[str, str]) -> str:
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    sent = {"document": SimpleUploadedFile("c.json", raw)}
    answer = client.post(reverse("studio:import"), sent, headers=headers)
    assert answer.status_code == 422
    return html.unescape(answer.content.decode())


@pytest.mark.parametrize(
    ("expression", "german", "english"),
    [
        ("input.((", "Bei Zeichen 7: „.(“ wird hier nicht erwartet.", "“.(” is not expected here."),
        ("nothing > 1", "Hier gibt es kein „nothing“", "There is no “nothing” here"),
        ("upppr('a') == 'A'", "Es gibt keine Funktion „upppr“.", "There is no function “upppr”."),
        ("now + 1 == now", "verschieben addDays", "addDays, addMonths and addHours move"),
        ("'a' - 'b' == ''", "Text - Text: Mit Text aus Ziffern", "text - text: add, sub, mul and div"),
    ],
)
def test_a_wrong_expression_is_said_in_german_and_in_english_to_whoever_is_next(
    dora: Client, create: Endpoint, expression: str, german: str, english: str
) -> None:
    told = _told(dora, create, GERMAN, expression=expression)[EXPRESSION]
    assert german in told
    assert english not in told
    assert english in _told(dora, create, ENGLISH, expression=expression)[EXPRESSION]


@pytest.mark.parametrize(
    ("expression", "german", "english"),
    [
        ("upper(1)", "upper nimmt Text, nicht 1.", "upper takes text, not 1."),
        ("sum('x')", "sum nimmt eine Liste, nicht „x“.", "sum takes a list, not “x”."),
        ("upper('a', 'b')", "man schreibt upper(value).", "it is written upper(value)."),
        ("int('x')", "int: der Text ist keine ganze Zahl.", "int: string parse error: invalid digit"),
        ("[1][7]", "an der Stelle 7 der Liste steht nichts.", "index out of bounds: 7."),
        ("1 / 0", "er teilt durch 0.", "it divides by 0."),
    ],
)
def test_why_an_expression_has_no_value_is_said_in_german_and_kept_in_english(
    expression: str, german: str, english: str
) -> None:
    with override("de"):
        with pytest.raises(ExpressionError) as error:
            Expression(expression, ()).evaluate({})
        assert german in said(str(error.value))
    assert english in f"{error.value}"


def test_a_user_property_without_a_value_says_why_in_german(dora: Client, portico: None) -> None:
    own = UserProperty.objects.create(name="mine", kind="custom", expression="upper(1)")
    sent = filled(page(dora, change_url(own))) | {"_example-user": RITA_REP}
    url = reverse("admin:designer_userproperty_example", args=[own.pk])
    assert "upper nimmt Text, nicht 1" in dora.post(url, sent, headers=GERMAN).content.decode()
    assert "upper takes text, not 1" in dora.post(url, sent, headers=ENGLISH).content.decode()


def test_a_wrong_expression_is_said_in_arabic_with_its_names_in_their_own_direction(
    dora: Client, create: Endpoint
) -> None:
    told = _told(dora, create, ARABIC, expression="user.((")[EXPRESSION]
    assert "عند الحرف 6: لا يُتوقع “\N{FIRST STRONG ISOLATE}.(\N{POP DIRECTIONAL ISOLATE}” هنا." in told


def test_refused_fetchxml_is_said_in_german_at_its_field(dora: Client, create: Endpoint) -> None:
    german = _told(dora, create, GERMAN, query=WRONG_QUERY)[QUERY]
    refusal = "der Operator eq-userlanguage wird nicht unterstützt: die Sprache"
    assert f"condition subject eq-userlanguage: {refusal}" in german
    english = _told(dora, create, ENGLISH, query=WRONG_QUERY)[QUERY]
    assert "the operator eq-userlanguage is not supported: the caller's language is not known" in english


def test_a_query_that_does_not_fit_the_platform_is_a_finding_in_german(
    dora: Client, create: Endpoint
) -> None:
    query = "<fetch><entity name='lead'><attribute name='colour'/></entity></fetch>"
    german = _told(dora, create, GERMAN, query=query)[QUERY]
    assert "attribute colour: die Entität 'lead' hat kein Attribut 'colour'." in german
    assert "has no attribute" in _told(dora, create, ENGLISH, query=query)[QUERY]


def test_a_refused_save_says_why_in_german(dora: Client, create: Endpoint) -> None:
    data = filled(page(dora, change_url(create)))
    add_row(data, "preconditions", status="409", message="Never", expression="input.((")
    answer = dora.post(change_url(create), data, headers=GERMAN)
    assert "wird hier nicht erwartet" in html.unescape(answer.content.decode())
    assert not Precondition.objects.filter(expression="input.((").exists()


def test_a_wrong_document_is_refused_in_german(dora: Client) -> None:
    german = _refused(dora, WRONG_DOCUMENT, GERMAN)
    for sentence in (
        "roles[0].name: muss ein Text sein",
        "roles[1].name: fehlt; schreiben Sie es",
        "user_properties[0].kind (odd.x): muss 'field', 'related' oder 'custom' sein",
        "muss mindestens 1 sein",
        "genau ein entity-Element ist nötig, nicht 0",
        "muss mindestens 1 Element haben, nicht 0",
        "muss eine ganze Zahl sein",
        "muss true oder false sein",
    ):
        assert sentence in german
    english = _refused(dora, WRONG_DOCUMENT, ENGLISH)
    assert "roles[0].name: must be a text" in english
    assert "exactly one entity element is needed, not 0" in english


def test_what_is_no_json_is_refused_in_german_and_arabic(dora: Client) -> None:
    assert "Das ist kein lesbares JSON: ein Komma zu viel in Zeile 1" in _refused(dora, b'{"a":1,}', GERMAN)
    assert "هذا ليس JSON يمكن قراءته: فاصلة زائدة" in _refused(dora, b'{"a":1,}', ARABIC)
    assert "not valid JSON: trailing comma at line 1" in _refused(dora, b'{"a":1,}', ENGLISH)


def test_the_plan_of_an_import_is_in_german(dora: Client) -> None:
    document = {"format": 1, "roles": [{"name": "guest"}], "modules": [{"segment": "sales"}]}
    sent = {"document": SimpleUploadedFile("c.json", json.dumps(document).encode())}
    german = dora.post(reverse("studio:import"), sent, headers=GERMAN).content.decode()
    assert "+ Rolle guest" in german
    assert "fehlt im Dokument und bleibt bestehen" in german


def test_a_row_that_cannot_be_read_is_told_in_the_language_of_each_reader(
    dora: Client, create: Endpoint
) -> None:
    Endpoint.objects.filter(pk=create.pk).update(row_rule="<filter><oops/></filter>")
    for headers, sentence in (
        (GERMAN, "das Element oops ist hier nicht bekannt"),
        (ENGLISH, "the element oops is not known here"),
        (GERMAN, "das Element oops ist hier nicht bekannt"),
    ):
        dashboard = dora.get(reverse("admin:index"), headers=headers)
        assert sentence in html.unescape(dashboard.content.decode())


def test_the_api_and_commands_say_it_in_english(rita: Caller, create: Endpoint, tmp_path: Path) -> None:
    query = accounts(where('attribute="createdon" operator="last-x-days" value="@it"'))
    path = a_query("multi", query, {"name": "it", "type": "Integer"}, cap=5000)
    answer = rita.get(f"{path}?it=0", accept_language="de")
    assert answer.json()["errors"][0]["message"] == "The number must be at least 1."
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(WRONG_DOCUMENT))
    Endpoint.objects.filter(pk=create.pk).update(row_rule="<filter><oops/></filter>")
    assert get_language() == "en"
    with pytest.raises(CommandError, match=r"roles\[0\]\.name: must be a text"):
        call_command("importconfig", str(wrong))
    report = io.StringIO()
    with pytest.raises(CommandError):
        call_command("checkconfig", as_json=True, stdout=report)
    assert "the element oops is not known here" in report.getvalue()


def test_errors_are_english_texts_whatever_language_is_spoken() -> None:
    with override("de"):
        with pytest.raises(QueryProblems) as query:
            parse("<a/>")
        with pytest.raises(DocumentError) as document:
            read(b"[]")
        assert str(query.value) == "document: it begins with a, not with fetch"
        assert said(str(query.value)) == "Dokument: es beginnt mit a, nicht mit fetch"
        assert str(document.value) == 'A document is a JSON object: {"format": 2, …}.'
        assert said(str(document.value)) == 'Ein Dokument ist ein JSON-Objekt: {"format": 2, …}.'
    assert said(str(query.value)) == str(query.value)


def test_what_counts_has_the_forms_of_each_language() -> None:
    plural = "it has %(number)s link-entity elements; at most %(most)s are allowed"
    sentence = Counted(plural.replace("elements", "element"), plural, 17, most=15)
    assert sentence == "it has 17 link-entity elements; at most 15 are allowed"
    with override("de"):
        assert said(sentence) == "sie hat 17 link-entity-Elemente; höchstens 15 sind erlaubt"
    with override("ar"):
        assert "17 عنصر" in said(sentence)


def test_sentences_one_after_the_other_are_each_translated() -> None:
    both = listed((Sentence("a date is needed"), "100% of it"), "; ")
    assert both == "a date is needed; 100% of it"
    with override("de"):
        assert said(both) == "ein Datum ist nötig; 100% of it"


LIBRARY_WORDS = re.compile(r"Input|valid|instance|tuple|dictionary|integer|boolean|parse|String|Tuple", re.I)


def test_the_words_of_the_library_are_told_to_nobody() -> None:
    with pytest.raises(ValidationError) as error:
        ConfigurationDocument.model_validate(
            {
                **WRONG_DOCUMENT,
                "modules": {"segment": "sales"},
                "entities": ["accounts"],
                "issuers": [{"name": "a", "issuer": "b", "leeway": 1.5, "audiences": [None], "keys": []}],
            }
        )
    reasons = [reason_of(problem) for problem in problems_of(error.value)]
    assert len(reasons) > 12
    for reason in reasons:
        assert isinstance(reason, Sentence)
        assert not LIBRARY_WORDS.search(reason), reason


def test_a_wrong_item_of_a_list_is_one_problem() -> None:
    orders = [{"name": "newest", "by": [{"attribute": "createdon"}]}]
    settings = {"query": "<fetch><entity name='lead'><attribute name='subject'/></entity></fetch>"}
    endpoint = {"kind": "paginated-query", "module": "sales", "settings": {**settings, "orders": orders}}
    with pytest.raises(ValidationError) as error:
        ConfigurationDocument.model_validate({"format": 2, "endpoints": [endpoint]})
    assert [reason_of(problem) for problem in problems_of(error.value)] == ["must be a text"]
