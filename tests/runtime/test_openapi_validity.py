"""The document under rules that others made: OpenAPI's own, and those of JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

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
