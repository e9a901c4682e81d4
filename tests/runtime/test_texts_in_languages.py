"""`?lcid=`: what the configuration says to callers, in the language that they ask for."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from designer.models import Endpoint, Module, Precondition
from tests.callers import Caller

GERMAN, FRENCH, DUTCH = "?lcid=1031", "?lcid=1036", "?lcid=1043"
PATH = "/api/sales/accounts"
SCHEMA = "/api/schema/entities/sales.accounts"


@pytest.fixture
def create(portico: None) -> Endpoint:
    """In German, of which one input lacks its label, and with a title in a language of nobody's platform."""
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    row.title, row.description = "Create an account", "Makes an account."
    row.translations = {
        "1031": {"title": "Konto anlegen", "description": "Legt ein Konto an."},
        "1043": {"title": "Rekening maken"},
    }
    row.save()
    name = row.inputs.get(name="name")
    name.label, name.description = "Company", "As registered."
    name.translations = {"1031": {"label": "Firma", "description": "Wie eingetragen."}}
    name.save()
    Module.objects.filter(segment="sales").update(
        title="Sales", translations={"1031": {"title": "Vertrieb", "description": "Kunden und Angebote"}}
    )
    return row


@pytest.fixture
def refusing(create: Endpoint) -> Endpoint:
    Precondition.objects.create(
        endpoint=create,
        expression="input.name != 'Nobody'",
        status=409,
        message="Nobody is no company.",
        translations={"1031": {"message": "Niemand ist keine Firma."}},
    )
    return create


def read(caller: Caller, path: str) -> Any:
    answer = caller.get(path)
    assert answer.status_code == 200, answer.content
    return answer.json()


def _input(call: Any, name: str) -> Any:
    return next(field for field in call["fields"] if field["name"] == name)


def _texts(caller: Caller, query: str = "") -> tuple[str, str, str, str]:
    call = read(caller, f"{SCHEMA}{query}")["operations"]["create"]
    name = _input(call, "name")
    return call["title"], call["description"], name["label"], name["description"]


def test_the_schema_speaks_the_language_that_is_asked_for(create: Endpoint, rita: Caller) -> None:
    base = ("Create an account", "Makes an account.", "Company", "As registered.")
    assert _texts(rita) == _texts(rita, FRENCH) == _texts(rita, "?lcid=7") == base
    assert _texts(rita, GERMAN) == ("Konto anlegen", "Legt ein Konto an.", "Firma", "Wie eingetragen.")
    assert _texts(rita, DUTCH) == ("Rekening maken", *base[1:])
    create.translations = {**create.translations, "1033": {"title": "In English"}}
    create.save()
    assert _texts(rita)[0] == _texts(rita, FRENCH)[0] == "In English"
    assert _texts(rita, GERMAN)[0] == "Konto anlegen"


def test_what_has_no_text_of_its_own_is_the_platforms_in_the_language(create: Endpoint, rita: Caller) -> None:
    german = read(rita, f"{SCHEMA}{GERMAN}")["operations"]["create"]
    english = read(rita, SCHEMA)["operations"]["create"]
    labels = [_input(call, "industry")["label"] for call in (english, german)]
    assert labels == ["Industry", "Branche"]


def test_forms_and_lists_speak_it_too(create: Endpoint, rita: Caller) -> None:
    form = read(rita, f"{SCHEMA}{GERMAN}&form=create")
    assert form["title"] == "Konto anlegen"
    assert form["schema"]["properties"]["name"]["title"] == "Firma"
    assert form["schema"]["properties"]["name"]["description"] == "Wie eingetragen."
    listed = read(rita, f"/api/schema/entities{GERMAN}")["entities"]
    (accounts,) = (entity for entity in listed if entity["name"] == "sales.accounts")
    assert accounts["operations"]["create"]["title"] == "Konto anlegen"
    modules = {module["name"]: module for module in read(rita, f"/api/schema/modules{GERMAN}")["modules"]}
    assert modules["sales"]["title"] == "Vertrieb"
    modules = {module["name"]: module for module in read(rita, "/api/schema/modules")["modules"]}
    assert modules["sales"]["title"] == "Sales"


@pytest.mark.parametrize("version", ["3.1", "3.0"])
def test_the_openapi_document_speaks_it(create: Endpoint, rita: Caller, version: str) -> None:
    english = read(rita, f"/api/openapi.json?version={version}")
    german = read(rita, f"/api/openapi.json?version={version}&lcid=1031")
    assert english["paths"][PATH]["post"]["summary"] == "Create an account"
    assert german["paths"][PATH]["post"]["summary"] == "Konto anlegen"
    assert german["paths"][PATH]["post"]["description"] == "Legt ein Konto an."
    schemas = german["components"]["schemas"]
    assert schemas["create.sales.accounts.input"]["properties"]["name"]["description"] == "Wie eingetragen."
    tags = {tag["name"]: tag["description"] for tag in german["tags"]}
    assert tags["sales"] == "Vertrieb: Kunden und Angebote"
    # What has no text in it is as it is in English, and so is all that is no text.
    assert german["paths"].keys() == english["paths"].keys()
    assert schemas.keys() == english["components"]["schemas"].keys()
    assert "Konto anlegen" in rita.get("/api/openapi.yaml?lcid=1031").content.decode()


def test_each_language_has_an_entity_tag_of_its_own(create: Endpoint, rita: Caller) -> None:
    tags = {
        (rita.get(f"{page}?lcid={lcid}").headers["ETag"])
        for page in ("/api/schema", "/api/openapi.json")
        for lcid in (1033, 1031, 1043)
    }
    assert len(tags) == 6


def test_accept_language_changes_nothing(create: Endpoint, rita: Caller) -> None:
    plain = rita.get("/api/openapi.json")
    spoken = rita.get("/api/openapi.json", accept_language="de")
    assert spoken.content == plain.content


@pytest.mark.parametrize(
    "page", ["/api/schema", "/api/schema/modules", "/api/openapi.json", "/api/openapi.yaml", SCHEMA]
)
def test_a_language_that_is_no_whole_number_is_refused(create: Endpoint, rita: Caller, page: str) -> None:
    answer = rita.get(f"{page}?lcid=de")
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (400, "lcid")


def test_a_message_is_in_the_language_that_is_asked_for(refusing: Endpoint, rita: Caller) -> None:
    def said(query: str, **headers: str) -> tuple[int, str]:
        answer = rita.post(f"{PATH}{query}", {"name": "Nobody"}, **headers)
        return answer.status_code, answer.json()["detail"]

    assert said("") == said(FRENCH) == (409, "Nobody is no company.")
    assert said("", accept_language="de") == (409, "Nobody is no company.")
    assert said(GERMAN) == said("?LCID=1031") == (409, "Niemand ist keine Firma.")
    assert rita.post(f"{PATH}{GERMAN}", {"name": "Somebody"}).status_code == 200


def test_only_what_says_something_takes_a_language(refusing: Endpoint, rita: Caller) -> None:
    answer = rita.post(f"{PATH}?lcid=de", {"name": "Somebody"})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, "wrong_type")
    taken = read(rita, "/api/openapi.json")["paths"][PATH]["post"]["parameters"]
    assert "lcid" in {parameter.get("name") for parameter in taken}
    refusing.preconditions.all().delete()
    answer = rita.post(f"{PATH}{GERMAN}", {"name": "Somebody"})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, "unknown_parameter")
    taken = read(rita, "/api/openapi.json")["paths"][PATH]["post"]["parameters"]
    assert "lcid" not in {parameter.get("name") for parameter in taken}


@pytest.mark.parametrize("kind", ["update", "read", "delete"])
def test_messages_of_other_kinds_speak_it_too(portico: None, rita: Caller, kind: str) -> None:
    id = rita.post(PATH, {"name": "Contoso"}).json()["id"]
    row = Endpoint.objects.get(kind=kind, entity__segment="accounts")
    row.roles.clear()
    Precondition.objects.create(
        endpoint=row, expression="false", message="No.", translations={"1031": {"message": "Nein."}}
    )
    method = {"update": "PATCH", "read": "GET", "delete": "DELETE"}[kind]
    sent = {"name": "Other"} if kind == "update" else None
    for query, message in ((GERMAN, "Nein."), ("", "No.")):
        answer = rita.request(method, f"{PATH}/{id}{query}", sent, if_match="*")
        assert answer.json()["detail"] == message


def test_a_description_in_another_language_asks_the_database_nothing_more(
    create: Endpoint, rita: Caller
) -> None:
    counted = []
    # French is a language of the platform in which the configuration has no text.
    for query in (FRENCH, GERMAN):
        rita.get(f"{SCHEMA}{query}")
        rita.get("/api/schema/queries")
        with CaptureQueriesContext(connection) as queries:
            rita.get(f"{SCHEMA}{query}")
        counted.append(len(queries))
    assert counted[0] == counted[1]


def test_the_page_of_swagger_ui_offers_the_languages_that_there_are(create: Endpoint) -> None:
    page = Client().get("/api/docs?lcid=1031").content.decode()
    assert '<option value="1031" selected>German (1031)</option>' in page
    assert Client().get("/api/docs?lcid=de").status_code == 400
    assert Client().get("/api/docs?lcid=1031&lcid=1033").status_code == 400
    Endpoint.objects.update(translations={})
    Module.objects.update(translations={})
    for row in Endpoint.objects.all():
        row.inputs.update(translations={})
        row.preconditions.update(translations={})
    assert 'id="language"' not in Client().get("/api/docs").content.decode()
