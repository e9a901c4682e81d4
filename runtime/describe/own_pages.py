"""The addresses under which the API describes itself: what each takes, answers and says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from crmclient.metadata import ENGLISH
from runtime.describe.api_schema import Schema
from runtime.describe.audience import Audience
from runtime.describe.modules import modules
from runtime.describe.openapi_document import openapi
from runtime.describe.schema_entries import PLACES
from runtime.describe.schema_forms import form_of
from runtime.describe.schema_shapes import published, reference
from runtime.describe.yaml import as_yaml
from runtime.http.problems import FieldError
from runtime.http.query_string import LCID
from runtime.http.rendering import JSON, render
from runtime.serving.served import Served

YAML = "application/yaml"
SCHEMA_JSON = "application/schema+json"

_MODULE = {
    "name": "module",
    "in": "query",
    "description": "Only this module, by its segment, with what belongs to no module.",
    "schema": {"type": "string"},
}
_VERSION = {
    "name": "version",
    "in": "query",
    "description": "The version of OpenAPI; 3.0 for generators that read no newer one.",
    "schema": {"type": "string", "enum": ["3.1", "3.0"], "default": "3.1"},
}
_FORM = {
    "name": "form",
    "in": "query",
    "description": "One operation of it as a form: a JSON Schema, with hints for widgets.",
    "schema": {"type": "string"},
}
_NAME = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "Its name in the list, or the platform's name while only one has it.",
    "schema": {"type": "string", "minLength": 1},
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: by whom, of which state, and how. `lcid` is a language that there is."""

    served: Served
    audience: Audience
    name: str = ""
    lcid: int = ENGLISH
    module: str = ""
    version: str = "3.1"
    form: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """What stands at one address. `make` raises Problem 404 for what is not there for the reader."""

    path: str
    operation_id: str
    summary: str
    description: str
    parameters: tuple[Mapping[str, Any], ...]
    answer: Mapping[str, Any]
    make: Callable[[Asked], bytes]
    media: str = JSON

    @property
    def known(self) -> frozenset[str]:
        """The names of its query-string parameters."""
        return frozenset(given["name"] for given in self.parameters if given["in"] == "query")

    @property
    def names_its_type(self) -> bool:
        """Whether the path ends in an extension: then it says more exactly than `Accept` what is wanted."""
        return "." in self.path.rpartition("/")[2]

    @property
    def is_named(self) -> bool:
        return _NAME in self.parameters


def wrong_choice(page: Page, parameters: Mapping[str, str]) -> list[FieldError]:
    """The parameters whose value is none of those offered."""
    offered = {given["name"]: given["schema"].get("enum") for given in page.parameters}
    return [
        FieldError("not_allowed", f"Must be one of: {', '.join(choices)}.", parameter=name)
        for name, value in parameters.items()
        if (choices := offered[name]) and value not in choices
    ]


def _openapi_json(asked: Asked) -> bytes:
    return orjson.dumps(_openapi(asked))


def _openapi_yaml(asked: Asked) -> bytes:
    return as_yaml(_openapi(asked))


def _openapi(asked: Asked) -> Mapping[str, Any]:
    return openapi(asked.served, asked.audience, asked.module, asked.version)


def _schema(asked: Asked, only: str = "") -> bytes:
    return _of(asked).document(only)


def _one(asked: Asked, place: str) -> bytes:
    schema = _of(asked)
    if asked.form:
        return render(form_of(schema.part(place, asked.name, asked.form), schema.renderer))
    return schema.one(place, asked.name)


def _modules(asked: Asked) -> bytes:
    return render({"modules": modules(asked.served, asked.audience)})


def _format(asked: Asked) -> bytes:
    return published()


def _of(asked: Asked) -> Schema:
    return Schema(asked.served, asked.audience, asked.lcid, asked.module)


def _lists(place: str, title: str) -> Page:
    return Page(
        f"/api/schema/{place}", f"schema.{place}", title,
        f"The {place} of /api/schema alone.",
        (LCID, _MODULE), reference("schema"), partial(_schema, only=place),
    )  # fmt: skip


def _named(place: str, title: str) -> Page:
    return Page(
        f"/api/schema/{place}/{{name}}", f"schema.{place}.one", title,
        f"One of the {place} of /api/schema, or the form of one of its operations.",
        (_NAME, LCID, _FORM), {"anyOf": [reference(place), reference("form")]}, partial(_one, place=place),
    )  # fmt: skip


_TITLES = {
    "entities": ("Entities", "One entity"),
    "queries": ("Queries", "One query"),
    "processes": ("Processes", "One process"),
    "optionsets": ("Option sets", "One option set"),
}
PAGES: tuple[Page, ...] = (
    Page(
        "/api/openapi.json", "openapi.json", "OpenAPI",
        "This document: what its reader may call.",
        (_MODULE, _VERSION), {"type": "object"}, _openapi_json,
    ),
    Page(
        "/api/openapi.yaml", "openapi.yaml", "OpenAPI as YAML",
        "This document: what its reader may call.",
        (_MODULE, _VERSION), {"type": "object"}, _openapi_yaml, media=YAML,
    ),
    Page(
        "/api/schema", "schema", "Everything",
        "What its reader may call, for those who build forms and clients.",
        (LCID, _MODULE), reference("schema"), _schema,
    ),
    Page(
        "/api/schema/modules", "schema.modules", "Modules",
        "The modules of what its reader may call, with the number of their endpoints.",
        (), reference("modules"), _modules,
    ),
    Page(
        "/api/schema/format", "schema.format", "The form of /api/schema",
        "The JSON Schema of what /api/schema answers.",
        (), {"type": "object"}, _format, media=SCHEMA_JSON,
    ),
    *(_lists(place, _TITLES[place][0]) for place in PLACES),
    *(_named(place, _TITLES[place][1]) for place in PLACES),
)  # fmt: skip
