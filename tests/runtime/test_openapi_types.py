"""The document as typed generators read it: each value has one type, and each request one media type.

A choice of scalar types (a number or a string) becomes an empty class in Dart and Kotlin; a second media type
that means the same becomes a function that does not run, or one that sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from crmclient.metadata import Attribute, AttributeType
from designer.definitions import InputDefinition
from designer.types import TYPES, Limits
from tests.callers import Caller
from tests.runtime.test_openapi import document

VERSIONS = ["", "?version=3.0"]
METHODS = {"get", "post", "put", "patch", "delete"}
# What callers send and get is no schema.
VALUES = {"example", "examples", "default", "enum", "const", "x-enum-descriptions", "x-enum-varnames"}
NULL = {"type": "null"}
CHOICES = ("anyOf", "oneOf")


def schemas(value: Any, at: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a document that may be a schema, with its place."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from schemas(item, f"{at}/{index}")
    elif isinstance(value, dict):
        yield at, value
        for key, item in value.items():
            if key not in VALUES or at.endswith("/properties"):
                yield from schemas(item, f"{at}/{key}")


def resolved(schema: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        part: Any = whole
        for step in schema["$ref"].removeprefix("#/").split("/"):
            part = part[step]
        schema = part
    return schema


def mistakes(at: str, schema: dict[str, Any], whole: dict[str, Any]) -> Iterator[str]:
    kinds = schema.get("type")
    if isinstance(kinds, list) and (len(kinds) != 2 or kinds.count("null") != 1):
        yield f"{at}: of several types, {kinds}"
    if "enum" in schema and isinstance(schema["enum"], list) and "type" not in schema:
        yield f"{at}: values without a type"
    for word in CHOICES:
        if not isinstance(schema.get(word), list):
            continue
        choices = [choice for choice in schema[word] if choice != NULL]
        if len(choices) == 1:
            continue
        for choice in choices:
            if resolved(choice, whole).get("type") != "object":
                yield f"{at}: a choice among what are no objects, {schema[word]}"
                break


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("reader", ["anonymous", "rita", "max", "aya"])
def test_no_value_is_of_several_types(reader: str, version: str, request: pytest.FixtureRequest) -> None:
    whole = document(request.getfixturevalue(reader), version)

    errors = [mistake for at, schema in schemas(whole) for mistake in mistakes(at, schema, whole)]

    assert errors == []


@pytest.mark.parametrize("version", VERSIONS)
def test_money_is_of_one_type_in_and_out(max: Caller, version: str) -> None:
    whole = document(max, version)["components"]["schemas"]

    for name in ("create.sales.accounts.input", "read.sales.accounts.output", "update.sales.accounts.input"):
        revenue = whole[name]["properties"]["revenue"]
        assert revenue["type"] in ("number", ["number", "null"]), name
        assert revenue["format"] == "decimal", name


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("allowed", [(), (1, 2)])
def test_every_type_of_input_is_described_as_one(name: str, required: bool, allowed: tuple[int, ...]) -> None:
    definition = InputDefinition(
        name="value",
        type=name,
        required=required,
        allowed=tuple(map(Decimal, allowed)) if name in ("Decimal", "Money") else allowed,
        minimum=Decimal(0),
        maximum=Decimal(9),
    )
    for attribute in (None, Attribute("value", AttributeType.CUSTOMER, targets=("account", "contact"))):
        schema = TYPES[name].schema(Limits.of(definition, attribute))
        errors = [mistake for at, part in schemas(schema) for mistake in mistakes(at, part, schema)]
        assert errors == []
        assert "type" in schema


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_has_one_media_type(max: Caller, version: str) -> None:
    media_types = {
        (path, method): list(operation["requestBody"]["content"])
        for path, operations in document(max, version)["paths"].items()
        for method, operation in operations.items()
        if method in METHODS and "requestBody" in operation
    }

    assert {len(media) for media in media_types.values()} == {1}
    assert media_types["/api/token", "post"] == ["application/json"]
    assert media_types["/api/sales/accounts/{id}/files/contract", "post"] == ["multipart/form-data"]
