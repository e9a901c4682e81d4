"""Queries in the OpenAPI document: every parameter with its type, and what each status means."""

from __future__ import annotations

from typing import Any

import pytest

from tests.callers import Caller
from tests.runtime.accounts import an_account
from tests.runtime.queries import QUERIES, a_query, accounts, body, where


def operation(caller: Caller, name: str) -> Any:
    document = caller.get("/api/openapi.json").json()
    return document["paths"][f"{QUERIES}/{name}"]["get"]


def responses(caller: Caller, name: str) -> Any:
    """By status; those that several operations share stand among the components."""
    document = caller.get("/api/openapi.json").json()
    by_status = document["paths"][f"{QUERIES}/{name}"]["get"]["responses"]
    shared = document["components"].get("responses", {})
    return {
        status: shared[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer
        for status, answer in by_status.items()
    }


def parameters(described: Any) -> dict[str, Any]:
    return {parameter["name"]: parameter for parameter in described["parameters"]}


def test_parameters_are_described_with_their_types(rita: Caller) -> None:
    by_name = parameters(operation(rita, "accounts"))
    assert list(by_name) == ["name", "industry", "minRevenue", "lcid", "order", "pageSize", "cursor"]
    assert all(parameter["in"] == "query" for parameter in by_name.values())
    assert all(parameter["description"] for parameter in by_name.values())
    assert by_name["name"]["schema"] == {"type": "string", "maxLength": 100}
    assert 6 in by_name["industry"]["schema"]["enum"]
    assert by_name["order"]["schema"]["enum"] == [
        "name",
        "-name",
        "revenue",
        "-revenue",
        "created",
        "-created",
    ]
    assert by_name["pageSize"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 500, "default": 50}


def test_a_required_parameter_is_marked(rita: Caller) -> None:
    by_name = parameters(operation(rita, "account"))
    assert by_name["accountId"]["required"] is True
    assert by_name["accountId"]["schema"] == {"type": "string", "format": "uuid"}


@pytest.mark.parametrize("default", [None, "Contoso"])
def test_every_description_says_of_a_required_parameter_what_a_call_is_answered(
    rita: Caller, default: str | None
) -> None:
    query = accounts(where('attribute="name" operator="eq" value="@it"'))
    path = a_query("multi", query, {"name": "it", "type": "String", "required": True, "default": default})
    must_be_sent = rita.get(path).status_code == 400
    assert must_be_sent is (default is None)
    described = rita.get("/api/schema/queries/sales.tested").json()["call"]
    form = rita.get("/api/schema/queries/sales.tested?form=run").json()
    says = {
        "OpenAPI": parameters(operation(rita, "tested"))["it"].get("required", False),
        "schema": {field["name"]: field["required"] for field in described["fields"]}["it"],
        "form": "it" in form["schema"].get("required", []),
    }
    assert set(says.values()) == {must_be_sent}, says


@pytest.mark.parametrize(("default", "described"), [("One", ["One"]), (["One", "Two"], ["One", "Two"])])
def test_the_default_of_a_list_is_used_and_described_as_a_list(
    rita: Caller, default: Any, described: list[str]
) -> None:
    for name in ("One", "Two", "Three"):
        an_account(name=name)
    query = accounts(where('attribute="name" operator="in" value="@it"'))
    path = a_query("multi", query, {"name": "it", "type": "String", "default": default})
    assert sorted(row["name"] for row in body(rita, path)) == described
    schema = parameters(operation(rita, "tested"))["it"]["schema"]
    assert (schema["type"], schema["default"]) == ("array", described)


def test_each_kind_says_what_it_answers(rita: Caller) -> None:
    single, multi, paged = (responses(rita, name) for name in ("account", "pipeline", "accounts"))
    assert {"200", "204", "400", "401", "403"} <= single.keys()
    assert "content" not in single["204"]
    assert "too_many_rows" in multi["422"]["description"]
    assert "bad_cursor" in paged["400"]["description"]
    assert "Link" in paged["200"]["headers"]
