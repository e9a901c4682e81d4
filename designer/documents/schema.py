"""The JSON Schema of documents: the input types by name, and the settings of each kind of endpoint."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from designer.definitions import ConfigurationDocument
from designer.kinds import KINDS
from designer.types import TYPES


def document_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of documents."""
    settings = {kind.settings for kind in KINDS.values()}
    pairs = [(model, "validation") for model in (ConfigurationDocument, *settings)]
    references, schema = models_json_schema(pairs, ref_template="#/$defs/{model}")  # type: ignore[arg-type]
    definitions = schema["$defs"]
    definitions["InputDefinition"]["properties"]["type"]["enum"] = sorted(TYPES)
    endpoint = definitions["EndpointDefinition"]
    endpoint["properties"]["kind"] = {"enum": sorted(KINDS)}
    endpoint["properties"]["settings"] = {"type": "object"}
    endpoint["allOf"] = [
        {
            "if": {"properties": {"kind": {"const": kind.name}}, "required": ["kind"]},
            "then": {"properties": {"settings": references[(kind.settings, "validation")]}},
        }
        for kind in KINDS.values()
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Portico configuration",
        **definitions.pop("ConfigurationDocument"),
        "$defs": definitions,
    }
