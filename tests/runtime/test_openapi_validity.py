"""The document under rules that others made: OpenAPI's own, and those of JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

from designer.models import Binding, Endpoint, Input
from designer.platform import get_platform
from designer.types import natural_type
from tests.callers import Caller
from tests.runtime.test_openapi import PEOPLE, document, reader  # noqa: F401  a fixture


@pytest.mark.parametrize("reader", PEOPLE, indirect=True)
@pytest.mark.parametrize(
    ("version", "validator"), [("3.1", OpenAPIV31SpecValidator), ("3.0", OpenAPIV30SpecValidator)]
)
def test_an_independent_validator_finds_no_error(reader: Caller, version: str, validator: Any) -> None:  # noqa: F811
    whole = document(reader, f"?version={version}")
    assert whole["openapi"].startswith(version)
    assert list(validator(whole).iter_errors()) == []


def test_what_is_nullable_stays_so_in_the_older_version(max: Caller) -> None:
    schemas = document(max, "?version=3.0")["components"]["schemas"]
    phone = schemas["create.sales.accounts.input"]["properties"]["phone"]
    assert phone["type"] == "string"
    assert phone["nullable"] is True
    industry = schemas["create.sales.accounts.input"]["properties"]["industry"]
    assert industry["allOf"] == [{"$ref": "#/components/schemas/options.account.industrycode"}]
    assert industry["nullable"] is True


def test_nullable_stands_beside_the_type_that_it_widens(max: Caller) -> None:
    """Of all types of inputs and columns: without a type, `nullable` means nothing in 3.0."""
    endpoint = Endpoint.objects.get(kind="create", entity__segment="accounts")
    attributes = get_platform().attributes("account")
    bound = set(endpoint.bindings.values_list("attribute", flat=True))
    for at, (name, attribute) in enumerate(attributes.items(), 100):
        kind = natural_type(attribute)
        if kind is not None and attribute.creatable and name not in bound:
            Input.objects.create(endpoint=endpoint, position=at, name=name, type=kind.name, nullable=True)
            Binding.objects.create(endpoint=endpoint, position=at, attribute=name, source="input", value=name)
    read = Endpoint.objects.get(kind="read", entity__segment="accounts")
    read.columns.all().delete()
    for name in attributes:
        read.columns.create(attribute=name)
    whole = document(max, "?version=3.0")
    assert list(OpenAPIV30SpecValidator(whole).iter_errors()) == []
    nullable = [schema for schema in _objects(whole) if schema.get("nullable") is True]
    assert {schema.get("type") for schema in nullable} == {
        *("string", "number", "integer", "boolean", "array", "object")
    }
    for schema in nullable:
        assert None in schema.get("enum", [None]), schema
        for reference in (part["$ref"] for part in schema.get("allOf", ()) if "$ref" in part):
            referred = whole["components"]["schemas"][reference.rpartition("/")[2]]
            assert referred["type"] == schema["type"], schema


def test_every_example_is_valid(max: Caller) -> None:
    whole = document(max)
    seen = 0
    for content in _contents(whole):
        for media in content.values():
            if "example" in media:
                schema = {**media["schema"], "components": whole["components"]}
                jsonschema.Draft202012Validator(schema).validate(media["example"])
                seen += 1
    assert seen > 15


@pytest.mark.parametrize("reader", PEOPLE, indirect=True)
def test_every_component_is_used_and_every_reference_leads_somewhere(reader: Caller) -> None:  # noqa: F811
    whole = document(reader)
    used = set(_references(whole))
    names = {
        f"#/components/{kind}/{name}"
        for kind, components in whole["components"].items()
        if kind != "securitySchemes"
        for name in components
    }
    assert used == names


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object that may be a schema: what is only an example of something is none."""
    if isinstance(value, dict):
        yield value
        value = [item for key, item in value.items() if key not in ("example", "default")]
    for item in value if isinstance(value, list) else ():
        yield from _objects(item)


def _contents(whole: Any) -> Iterator[Any]:
    for operations in whole["paths"].values():
        for operation in operations.values():
            yield operation.get("requestBody", {}).get("content", {})
            for response in operation["responses"].values():
                yield response.get("content", {})


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("$ref", "x-option-set"):
                yield item
            else:
                yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)
