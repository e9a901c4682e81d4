"""`/api/schema`: what those who build forms and clients are told."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import jsonschema
import pytest

from crmclient.metadata import Attribute, AttributeType
from designer.models import Binding, Endpoint, ExposedEntity, Input, Module, Precondition
from designer.types import TYPES, Limits
from designer.types.numbers import DecimalType
from runtime.serving import served
from tests.callers import Caller
from tests.runtime.queries import QUERIES, a_query, where
from tests.runtime.queries import accounts as about_accounts
from tests.runtime.test_openapi import PEOPLE, reader  # noqa: F401  a fixture
from tests.runtime.test_openapi_types import resolved

GERMAN = "1031"
FORMAT = "/api/schema/format"


def read(caller: Caller, path: str) -> Any:
    answer = caller.get(path)
    assert answer.status_code == 200, answer.content
    return answer.json()


def field(call: Any, name: str, among: str = "fields") -> Any:
    return next(one for one in call[among] if one["name"] == name)


@pytest.fixture
def accounts(rita: Caller) -> Any:
    return read(rita, "/api/schema/entities/sales.accounts")


def candidates(caller: Caller) -> Any:
    """The queries that an account's main contact can be chosen from."""
    create = read(caller, "/api/schema/entities/sales.accounts")["operations"]["create"]
    return field(create, "primaryContactId")["candidates"]


@pytest.mark.parametrize("reader", PEOPLE, indirect=True)
def test_the_document_is_as_its_published_format_says(reader: Caller) -> None:  # noqa: F811
    published = read(reader, FORMAT)
    jsonschema.Draft202012Validator.check_schema(published)
    validate(published, read(reader, "/api/schema"))
    for place in ("entities", "queries", "processes", "optionsets"):
        validate(published, read(reader, f"/api/schema/{place}?lcid={GERMAN}"))


def validate(published: Any, value: Any, shape: str = "SchemaDocument") -> None:
    jsonschema.validate(value, {**published, "$ref": f"#/$defs/{shape}"})


def test_one_of_each_is_as_the_format_says(rita: Caller, accounts: Any) -> None:
    published = read(rita, FORMAT)
    validate(published, accounts, "Entity")
    validate(published, read(rita, "/api/schema/processes/sales.ping"), "Process")
    validate(published, read(rita, "/api/schema/optionsets/priorities"), "OptionSetShape")
    validate(published, read(rita, "/api/schema/entities/sales.accounts?form=create"), "FormShape")


def test_every_answer_says_where_its_format_is(rita: Caller) -> None:
    answer = rita.get("/api/schema")
    assert answer["Link"] == f'<{FORMAT}>; rel="describedby"'
    assert answer.json()["format"] == 1


def test_an_input_says_all_that_a_form_needs(accounts: Any) -> None:
    create = accounts["operations"]["create"]
    assert (create["method"], create["path"]) == ("POST", "/api/sales/accounts")
    name = field(create, "name")
    assert (name["type"], name["required"], name["maxLength"]) == ("String", True, 160)
    assert name["label"] == "Account Name"
    revenue = field(create, "revenue")
    assert (revenue["type"], revenue["min"], revenue["precision"]) == ("Money", 0, 4)
    assert field(create, "primaryContactId")["targets"] == ["contact"]
    industry = field(create, "industry")["optionSet"]
    assert industry["url"] == "/sales/accounts/optionsets/industries"
    assert {"value": 6, "name": "Business Services"} in industry["options"]


def test_a_reference_names_the_queries_that_list_what_it_may_point_at(rita: Caller) -> None:
    def contacts(*columns: str, inside: str = "") -> str:
        shown = "".join(f'<attribute name="{column}"/>' for column in columns)
        return f'<fetch><entity name="contact">{shown}{inside}</entity></fetch>'

    before = candidates(rita)
    last = where('attribute="lastname" operator="eq" value="@last"')
    optional = {"name": "last", "type": "String", "max_length": 50}
    a_query("multi", contacts("contactid", "fullname", inside=last), optional, name="people")
    a_query("multi", contacts("contactid"), name="nameless")
    a_query("single", contacts("contactid", "fullname"), name="one_of_them")
    a_query("multi", contacts("fullname"), name="without_ids")
    a_query("multi", contacts("contactid", inside=last), {**optional, "required": True}, name="asking_first")

    keys = {"entity": "contact", "id": "contactid"}
    assert [query for query in candidates(rita) if query not in before] == [
        {**keys, "url": f"{QUERIES}/nameless", "name": None, "parameters": []},
        {**keys, "url": f"{QUERIES}/people", "name": "fullname", "parameters": ["last"]},
    ]


def test_limits_of_money_keep_every_digit(rita: Caller) -> None:
    assert b'"max":922337203685477.5807' in rita.get("/api/schema/entities/sales.accounts").content


def test_labels_are_in_the_language_asked_for_and_else_in_english(rita: Caller) -> None:
    german = read(rita, f"/api/schema/entities/sales.accounts?lcid={GERMAN}")
    assert german["displayName"] == "Firma"
    assert field(german["operations"]["create"], "name")["label"] == "Firmenname"
    unknown = read(rita, "/api/schema/entities/sales.accounts?lcid=4242")
    assert unknown["displayName"] == "Account"


def test_columns_say_what_comes_back(accounts: Any) -> None:
    read_ = accounts["operations"]["read"]
    assert field(read_, "createdOn", "columns")["type"] == "DateTime"
    assert field(read_, "industry", "columns")["optionSet"]["url"] == "/sales/accounts/optionsets/industries"
    assert field(read_, "owner", "columns")["targets"] == ["systemuser", "team"]


def test_only_a_rows_own_id_is_never_null(rita: Caller, accounts: Any) -> None:
    columns = accounts["operations"]["read"]["columns"]
    assert [column["name"] for column in columns if not column["nullable"]] == ["id"]
    link = 'name="contact" from="contactid" to="primarycontactid" alias="c" link-type="outer"'
    linked = f'<link-entity {link}><attribute name="contactid"/></link-entity>'
    a_query("multi", about_accounts(linked, columns='<attribute name="accountid"/>'))
    columns = read(rita, "/api/schema/queries/sales.tested")["call"]["columns"]
    assert [column["nullable"] for column in columns] == [False, True]


def test_a_call_that_wants_to_know_which_version_is_meant_says_so(rita: Caller) -> None:
    assert if_match(rita)["required"] is False
    update = Endpoint.objects.get(kind="update", entity__segment="accounts")
    update.settings = {**update.settings, "require_if_match": True}
    update.save()
    assert if_match(rita)["required"] is True


def if_match(caller: Caller) -> Any:
    update = read(caller, "/api/schema/entities/sales.accounts")["operations"]["update"]
    return next(header for header in update["headers"] if header["name"] == "If-Match")


def test_files_and_actions_belong_to_their_entity(max: Caller) -> None:
    entity = read(max, "/api/schema/entities/sales.accounts")
    files = {files["name"]: files for files in entity["files"]}
    assert files["contract"]["upload"]["method"] == "POST"
    assert files["contract"]["upload"]["fields"][0]["maxLength"] > 0
    assert files["notes"]["download"]["itemPath"].endswith("/files/notes/{fileId}")
    assert [action["name"] for action in entity["actions"]] == ["sales.accounts.approve"]
    assert entity["actions"] == [
        one for one in read(max, "/api/schema/processes")["processes"] if one["entity"] == "account"
    ]


def test_what_a_reader_may_not_call_is_not_enabled(anonymous: Caller, rita: Caller, max: Caller) -> None:
    for caller, enabled in ((rita, False), (max, True)):
        operations = read(caller, "/api/schema/entities/sales.accounts")["operations"]
        assert operations["delete"]["enabled"] is enabled
        assert operations["create"]["enabled"] is True
    assert "sales.accounts" in {one["name"] for one in read(anonymous, "/api/schema/entities")["entities"]}
    shown = read(anonymous, "/api/schema/entities/sales.accounts")["operations"]
    assert not any(operation["enabled"] for operation in shown.values())


def test_the_platforms_names_are_known_too_while_only_one_has_it(rita: Caller) -> None:
    assert read(rita, "/api/schema/entities/account") == read(rita, "/api/schema/entities/sales.accounts")
    assert read(rita, "/api/schema/processes/new_Ping") == read(rita, "/api/schema/processes/sales.ping")
    priorities = read(rita, "/api/schema/optionsets/priorities")
    assert read(rita, "/api/schema/optionsets/new_priority") == priorities
    exposed = Endpoint.objects.get(kind="create", entity__segment="accounts").entity
    Endpoint.objects.create(kind="delete", entity=exposed, segment="companies")
    assert rita.get("/api/schema/entities/account").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/api/schema/entities/sales.nothing",
        "/api/schema/entities/sales.accounts?form=nothing",
        "/api/schema/processes/sales.accounts.approve",
        "/api/schema/nothing",
        "/api/schema/entities/sales.accounts/more",
        "/api/schema/queries/%00",
    ],
)
def test_what_is_not_there_for_the_reader_is_404(rita: Caller, path: str) -> None:
    answer = rita.get(path)
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


def test_a_form_takes_what_the_operation_takes(rita: Caller) -> None:
    form = read(rita, f"/api/schema/entities/sales.accounts?form=create&lcid={GERMAN}")
    body = {"name": "Contoso", "industry": 6, "revenue": 5}
    jsonschema.validate(body, form["schema"])
    assert form["order"][0] == "name"
    assert form["schema"]["properties"]["name"]["title"] == "Firmenname"
    assert form["widgets"]["industry"] == {
        "widget": "select",
        "options": "/sales/accounts/optionsets/industries",
    }
    assert form["widgets"]["revenue"] == {"widget": "money", "step": "0.0001"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**body, "industry": 4711}, form["schema"])
    assert rita.request(form["method"], form["path"], body).status_code == 200


def test_fields_of_a_call_with_a_body_are_what_its_body_takes(rita: Caller) -> None:
    create = Endpoint.objects.get(kind="create", entity__segment="accounts")
    plain = read(rita, "/api/schema/entities/sales.accounts")["operations"]["create"]["fields"]

    # Such an endpoint takes `lcid` in its query string, for the language of the message.
    Precondition.objects.create(endpoint=create, expression="input.name != 'Nobody'", status=409)

    assert read(rita, "/api/schema/entities/sales.accounts")["operations"]["create"]["fields"] == plain
    form = read(rita, "/api/schema/entities/sales.accounts?form=create")
    assert [*form["schema"]["properties"]] == form["order"] == [*form["widgets"]]
    filled = {"name": "Contoso", **{name: None for name in form["order"] if name != "name"}}
    refused = rita.request(form["method"], form["path"], filled).json().get("errors", [])
    assert "unknown_key" not in [error["code"] for error in refused]


class PercentType(DecimalType):
    """A decimal number of at most two places, whatever its attribute holds."""

    def is_natural_for(self, attribute: Attribute) -> bool:
        return False

    def schema(self, limits: Limits) -> dict[str, Any]:
        return {**super().schema(limits), "multipleOf": Decimal("0.01")}


def test_a_form_asks_for_no_more_decimal_places_than_the_input_type_takes(
    rita: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    percent = PercentType(
        "Percent", "Percentage", frozenset({AttributeType.DECIMAL}), Decimal(0), Decimal(100), places=2
    )
    monkeypatch.setitem(TYPES, "Percent", percent)
    create = Endpoint.objects.get(kind="create", entity__segment="accounts")
    Input.objects.create(endpoint=create, name="discount", type="Percent")
    Binding.objects.create(endpoint=create, attribute="new_discount", value="discount")
    discount = field(read(rita, "/api/schema/entities/sales.accounts")["operations"]["create"], "discount")
    assert (discount["type"], discount["max"], discount["precision"]) == ("Percent", 100, 2)
    form = read(rita, "/api/schema/entities/sales.accounts?form=create")
    assert form["widgets"]["discount"] == {"widget": "number", "step": "0.01"}


def test_every_call_that_takes_something_links_its_form(max: Caller) -> None:
    entity = read(max, "/api/schema/entities/sales.accounts")
    calls = [call for call in entity["operations"].values() if call["enabled"]]
    calls += [files["upload"] for files in entity["files"]] + [one["call"] for one in entity["actions"]]
    forms = [call["form"] for call in calls if call["fields"]]
    assert len(forms) >= 6
    for form in forms:
        assert read(max, form)["order"]


def links(shape: Any) -> Iterator[tuple[Any, str]]:
    """Each address of a form or of an option set in the document, with what has it."""
    if isinstance(shape, dict):
        for name in ("form", "url"):
            if shape.get(name):
                yield shape, shape[name]
    for part in shape.values() if isinstance(shape, dict) else shape if isinstance(shape, list) else ():
        yield from links(part)


def test_no_link_leads_nowhere(max: Caller) -> None:
    accounts = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    place = {"module": accounts.module, "entity": accounts, "settings": {"attribute": "new_logo"}}
    Endpoint.objects.create(kind="upload", name="logo", **place)
    # An upload may be called what an operation or an action is called.
    for name in ("create", "update", "approve"):
        Endpoint.objects.create(kind="upload", name=name, **place)
    # An image is asked for in a size: its download takes something, too.
    for name in ("logo", "picture"):
        Endpoint.objects.create(kind="download", name=name, **place)

    found = list(links(read(max, "/api/schema")))

    assert len(found) > 20
    for shape, address in found:
        answer = read(max, address)
        if "method" in shape:
            assert (answer["method"], answer["path"]) == (shape["method"], shape["path"])


def test_the_name_of_an_upload_alone_means_it_unless_an_operation_is_called_so(max: Caller) -> None:
    accounts = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    settings = {"attribute": "new_logo"}
    Endpoint.objects.create(kind="upload", name="create", entity=accounts, settings=settings)
    entity = "/api/schema/entities/sales.accounts?form="

    assert read(max, f"{entity}contract") == read(max, f"{entity}upload.contract")
    assert read(max, f"{entity}create")["operation"] == "create"
    assert read(max, f"{entity}upload.create")["operation"] == "upload"


def test_a_download_has_no_form(max: Caller) -> None:
    """Its upload may have the same name."""
    accounts = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    place = {"module": accounts.module, "entity": accounts, "settings": {"attribute": "new_logo"}}
    Endpoint.objects.create(kind="download", name="picture", **place)

    files = read(max, "/api/schema/entities/sales.accounts")["files"]

    download = next(file["download"] for file in files if file["name"] == "picture")
    assert [field["name"] for field in download["fields"]] == ["size"]
    assert "form" not in download


def test_a_hand_edited_endpoint_shows_at_the_next_fetch(rita: Caller) -> None:
    before = rita.get("/api/schema")
    Input.objects.filter(endpoint__kind="create", name="phone").update(required=True, max_length=20)
    after = rita.get("/api/schema", if_none_match=before["ETag"])
    assert after.status_code == 200
    entity = read(rita, "/api/schema/entities/sales.accounts")
    phone = field(entity["operations"]["create"], "phone")
    assert (phone["required"], phone["maxLength"]) == (True, 20)
    assert rita.get("/api/schema", if_none_match=after["ETag"]).status_code == 304


def test_a_module_can_be_asked_for_alone(rita: Caller) -> None:
    assert read(rita, "/api/schema?module=sales")["entities"]
    assert read(rita, "/api/schema?module=service")["entities"] == []


def test_an_lcid_that_is_no_number_is_refused(anonymous: Caller) -> None:
    answer = anonymous.get("/api/schema?lcid=german")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["parameter"] == "lcid"


@pytest.mark.parametrize(
    "attributes", [("gendercode", "accountrolecode"), ("accountrolecode", "gendercode")], ids="-".join
)
def test_an_input_of_two_choices_takes_the_options_that_both_have(
    rita: Caller, attributes: tuple[str, str]
) -> None:
    exposed = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), segment="persons", entity="contact"
    )
    row = Endpoint.objects.create(kind="create", entity=exposed)
    Input.objects.create(endpoint=row, name="name", type="String", required=True)
    Binding.objects.create(endpoint=row, attribute="lastname", source="input", value="name")
    Input.objects.create(endpoint=row, name="kind", type="OptionSet", required=True)
    for attribute in attributes:
        Binding.objects.create(endpoint=row, attribute=attribute, source="input", value="kind")
    path = "/api/sales/persons"
    document = read(rita, "/api/openapi.json")
    content = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
    kind = resolved(resolved(content["schema"], document)["properties"]["kind"], document)
    assert kind["enum"] == [1, 2]
    create = read(rita, "/api/schema/entities/sales.persons")["operations"]["create"]
    assert field(create, "kind")["allowed"] == [1, 2]
    assert rita.post(path, {"name": "Both", "kind": 2}).status_code == 200
    refused = rita.post(path, {"name": "One", "kind": 3}).json()
    assert [(error["pointer"], error["code"]) for error in refused["errors"]] == [("/kind", "unknown_option")]


def test_the_allowed_items_of_a_list_are_named(rita: Caller) -> None:
    query = about_accounts(
        '<filter><condition attribute="address1_city" operator="in"><value>@city</value></condition></filter>'
    )
    a_query("multi", query, {"name": "city", "type": "String", "allowed": ["Arles", "Bern"]})
    listed = field(read(rita, "/api/schema/queries/sales.tested")["call"], "city")
    assert listed["allowed"] == ["Arles", "Bern"]


def test_the_limit_of_uploads_is_the_one_of_the_process_that_answers(
    rita: Caller, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier process has stored its description, and clients keep theirs by its tag."""

    def stated() -> tuple[str, list[int]]:
        # As in a process that has just started.
        monkeypatch.setattr(served, "_served", None)
        answer = rita.get("/api/schema/entities/sales.accounts")
        return answer["ETag"], [
            sent["maxLength"]
            for file in answer.json()["files"]
            for sent in file.get("upload", {"fields": ()})["fields"]
            if sent["type"] == "File"
        ]

    tag, limits = stated()
    assert limits
    settings.PORTICO = {**settings.PORTICO, "UPLOAD_LIMIT": 1_000}
    tag_of_smaller_limit, smaller_limits = stated()
    assert set(smaller_limits) == {1_000}
    assert tag_of_smaller_limit != tag
