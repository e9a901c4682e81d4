"""Queries in the OpenAPI document: every parameter with its type, and what each status means."""

from __future__ import annotations

from typing import Any

from tests.callers import Caller
from tests.runtime.queries import QUERIES


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


def test_each_kind_says_what_it_answers(rita: Caller) -> None:
    single, multi, paged = (responses(rita, name) for name in ("account", "pipeline", "accounts"))
    assert {"200", "204", "400", "401", "403"} <= single.keys()
    assert "content" not in single["204"]
    assert "too_many_rows" in multi["422"]["description"]
    assert "bad_cursor" in paged["400"]["description"]
    assert "Link" in paged["200"]["headers"]
