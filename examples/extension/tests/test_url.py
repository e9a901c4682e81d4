"""The input type Url, wherever Portico shows it or uses it."""

from __future__ import annotations

import html
import json

import jsonschema
import pytest
from django.test import Client
from driving import SITE, findings, made, read, schema_of, stored, tried

from crmclient.query.ast import Column, Condition, Filter, Operator, Page, Query
from designer.models import Binding, Endpoint
from designer.platform import get_platform
from tests.callers import Caller
from tests.designer.studio import add_row, change_url, errors, filled, page, send

WRONG = [
    "contoso.example",
    "ftp://contoso.example/",
    "https://",
    "https://a b/",
    "javascript:alert(1)",
    5,
    "",
]


def test_an_address_is_written(rita: Caller, create: Endpoint) -> None:
    id = made(rita, site=SITE).rpartition("/")[2]
    assert stored(id, "websiteurl") == SITE


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_address_is_refused_by_name(rita: Caller, create: Endpoint, wrong: object) -> None:
    answer = rita.post("/api/sales/accounts", {"name": "Extended", "site": wrong})
    assert answer.status_code == 400
    assert [(error["pointer"], error["code"]) for error in answer.json()["errors"]] == [
        ("/site", "wrong_type")
    ]


def test_an_address_is_as_long_as_its_attribute(rita: Caller, create: Endpoint) -> None:
    answer = rita.post("/api/sales/accounts", {"name": "Extended", "site": SITE + "a" * 200})
    assert [error["code"] for error in answer.json()["errors"]] == ["too_long"]


def test_an_address_is_a_parameter_of_a_query(rita: Caller, create: Endpoint, by_site: str) -> None:
    made(rita, site=SITE)
    answer = rita.client.get(by_site, {"site": SITE})
    assert [row["name"] for row in answer.json()] == ["Extended"]
    refused = rita.client.get(by_site, {"site": "contoso"})
    assert [(error["parameter"], error["code"]) for error in refused.json()["errors"]] == [
        ("site", "wrong_type")
    ]


def test_readiness_takes_it_where_text_is_held_and_nowhere_else(create: Endpoint, by_site: str) -> None:
    assert findings(create) == {}
    assert findings(Endpoint.objects.get(name="by-site")) == {}
    Binding.objects.filter(endpoint=create, value="site").update(attribute="numberofemployees")
    assert findings(create) == {"binding-types": "inputs.site.type"}
    query = Endpoint.objects.get(name="by-site")
    query.settings["query"] = query.settings["query"].replace("websiteurl", "numberofemployees")
    query.save()
    assert findings(query) == {"query-input-type": "inputs.site.type"}


def test_the_document_and_the_schema_describe_it(rita: Caller, create: Endpoint) -> None:
    openapi = read(rita, "/api/openapi.json")
    body = schema_of(openapi, "/api/sales/accounts", "post", "requestBody")
    described = body["properties"]["site"]
    assert (described["type"], described["format"], described["maxLength"]) == (
        ["string", "null"],
        "uri",
        200,
    )
    call = read(rita, "/api/schema/entities/sales.accounts")["operations"]["create"]
    (field,) = [one for one in call["fields"] if one["name"] == "site"]
    assert (field["type"], field["label"], field["maxLength"]) == ("Url", "Website", 200)
    form = read(rita, "/api/schema/entities/sales.accounts?form=create")
    assert form["widgets"]["site"] == {"widget": "url"}
    assert form["schema"]["properties"]["site"]["format"] == "uri"
    published = read(rita, "/api/schema/format")
    jsonschema.validate(read(rita, "/api/schema"), {**published, "$ref": "#/$defs/SchemaDocument"})


def test_samples_of_it_are_addresses(dora: Client, rita: Caller, create: Endpoint) -> None:
    shown = html.unescape(page(dora, change_url(create)).content.decode())
    assert '"site": "https://example.com/"' in shown
    assert '"site": "https://example.com/"' in json.dumps(read(rita, "/api/openapi.json"))


def test_dora_adds_an_input_of_the_type(dora: Client, rita: Caller) -> None:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    opened = page(dora, change_url(row))
    data = filled(opened)
    add_row(data, "inputs", name="site", type="Url", nullable="on", default_text=SITE, position=50)
    add_row(data, "bindings", attribute="websiteurl", source="input", value_text="site", position=50)
    saved = send(dora, change_url(row), data)
    assert saved.status_code == 302, errors(saved)
    assert ">Web address (Url)</option>" in page(dora, change_url(row)).content.decode()
    assert stored(made(rita).rpartition("/")[2], "websiteurl") == SITE


def test_dora_is_told_where_it_does_not_fit(dora: Client, create: Endpoint) -> None:
    data = filled(page(dora, change_url(create)))
    (prefix,) = [name.rpartition("-")[0] for name, value in data.items() if value == "websiteurl"]
    refused = send(dora, change_url(create), {**data, f"{prefix}-attribute": "numberofemployees"})
    assert any("site" in message for message in errors(refused))


def test_a_create_with_it_is_tried(daring: Client, create: Endpoint) -> None:
    dry = tried(daring, create, body__name="Tried", body__site=SITE)
    assert [(call.operation, call.sent, SITE in call.request) for call in dry.calls] == [
        ("create", False, True)
    ]
    assert tried(daring, create, body__name="Tried", body__site="contoso").status == 400
    real = tried(daring, create, body__name="Tried", body__site=SITE, mode="real")
    assert real.status in (200, 201)
    by_site = Filter((Condition("websiteurl", Operator.EQ, (SITE,)),))
    query = Query("account", (Column("name"),), filter=by_site)
    assert [row["name"] for row in get_platform().query(query, Page(size=5)).rows] == ["Tried"]
