"""The shape of `/api/schema`. Its published JSON Schema is made from these types."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NotRequired

import orjson
from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

# The number of the format. Raise it when a program that reads the former format would misread the new one.
FORMAT = 1

_strict = with_config(ConfigDict(extra="forbid"))


@_strict
class Option(TypedDict):
    """One option: what is sent, and what people read in the language asked for."""

    value: int
    name: str
    color: NotRequired[str]


@_strict
class FieldOptions(TypedDict):
    """The option set of a field. `url` lists it for the reader, where it is served to them."""

    name: str
    url: str | None
    options: list[Option]


@_strict
class Candidates(TypedDict):
    """A query that lists records of `entity`, which a reference may point at.

    `id` and `name` are the columns of its rows that hold the record's; `parameters` narrow it.
    """

    entity: str
    url: str
    id: str
    name: str | None
    parameters: list[str]


@_strict
class Related(TypedDict):
    """The entity whose records `{relatedId}` may name, and the queries that list such records."""

    entity: str
    candidates: list[Candidates]


@_strict
class FieldShape(TypedDict):
    """An input, a parameter or a column.

    `min` and `max` are inclusive, lengths count characters or items, `precision` counts decimal places;
    `targets` are the entities that a reference may point at, `candidates` the queries that list such records
    to the reader, those of its own module first; `items` are the fields of a record, or of a list's items.
    `changes`: an object of lists is sent, items to `add`, those to `change`, each with its `id`, and ids to
    `remove`.
    """

    name: str
    type: str
    label: str
    description: str
    required: bool
    nullable: bool
    maxLength: NotRequired[int]
    minLength: NotRequired[int]
    maxItems: NotRequired[int]
    minItems: NotRequired[int]
    max: NotRequired[float]
    min: NotRequired[float]
    precision: NotRequired[int]
    pattern: NotRequired[str]
    default: NotRequired[Any]
    allowed: NotRequired[list[Any]]
    optionSet: NotRequired[FieldOptions]
    targets: NotRequired[list[str]]
    candidates: NotRequired[list[Candidates]]
    items: NotRequired[list[FieldShape]]
    changes: NotRequired[bool]


@_strict
class HeaderShape(TypedDict):
    """A request header that the call looks at, beside those of HTTP itself."""

    name: str
    required: bool
    description: str


@_strict
class Call(TypedDict):
    """How an operation is called. `path` holds `{id}` where a record's id stands, and `{relatedId}` where
    the id of a record of `related` stands. `methods` are all of the path's, where each does something else.

    `roles`: any of them is enough; none: any authenticated caller. `fields` are sent in the body, or in the
    query string where there is none; `headers` beside them; `columns` come back. `form` is where
    the call is shown as a form.
    """

    enabled: Literal[True]
    method: str
    path: str
    itemPath: NotRequired[str]
    methods: NotRequired[list[str]]
    related: NotRequired[Related]
    title: str
    description: str
    authenticated: bool
    roles: list[str]
    fields: list[FieldShape]
    columns: list[FieldShape]
    headers: list[HeaderShape]
    form: NotRequired[str]


@_strict
class NoCall(TypedDict):
    """What is not configured, or not for the reader."""

    enabled: Literal[False]


@_strict
class Files(TypedDict):
    """Files of a record, of a column or of its notes, under one name."""

    name: str
    upload: NotRequired[Call]
    download: NotRequired[Call]


@_strict
class Entity(TypedDict):
    """The operations on one entity under one segment. `name` is `module.segment`."""

    name: str
    module: str
    entity: str
    displayName: str
    pluralName: str
    description: str
    endpoint: str
    operations: dict[str, Call | NoCall]
    files: list[Files]
    actions: list[Process]
    optionSets: list[str]


@_strict
class Process(TypedDict):
    """A process: a local one is `module.segment.name` and runs on a record, a global one `module.name`."""

    name: str
    module: str
    entity: str | None
    call: Call


@_strict
class Paging(TypedDict):
    """Pages of a query: how many records by default and at most."""

    default: int
    max: int


@_strict
class QueryShape(TypedDict):
    """A query, `module.name`. `orders` are what `order` takes, each with `-` in front for descending."""

    name: str
    module: str
    kind: str
    call: Call
    orders: list[str]
    paging: Paging | None


@_strict
class OptionSetShape(TypedDict):
    """An option set and where it is listed: `name`, `module.segment.name` for a local one."""

    name: str
    displayName: str
    url: str
    options: list[Option]


@_strict
class SchemaDocument(TypedDict):
    """What the reader may call. An address of one kind only has that one of the four lists."""

    format: Literal[1]
    revision: str
    lcid: int
    entities: NotRequired[list[Entity]]
    queries: NotRequired[list[QueryShape]]
    processes: NotRequired[list[Process]]
    optionSets: NotRequired[list[OptionSetShape]]


@_strict
class Module(TypedDict):
    """A module, by its segment, and how many of its endpoints the reader may call."""

    name: str
    title: str
    description: str
    endpoints: int


@_strict
class ModulesShape(TypedDict):
    modules: list[Module]


@_strict
class FormShape(TypedDict):
    """One operation as a form: the JSON Schema of what is sent, titled with labels, and hints for widgets.

    `order` names the fields as they are configured; `widgets` says by name how to ask for each.
    """

    name: str
    operation: str
    method: str
    path: str
    title: str
    description: str
    media: list[str]
    schema: dict[str, Any]
    order: list[str]
    widgets: dict[str, dict[str, Any]]


# By the last word of the address.
SHAPES: dict[str, Any] = {
    "schema": SchemaDocument,
    "entities": Entity,
    "queries": QueryShape,
    "processes": Process,
    "optionsets": OptionSetShape,
    "form": FormShape,
    "modules": ModulesShape,
}


@cache
def document_schema() -> bytes:
    """Return the JSON Schema (2020-12) of the SchemaDocument. `$defs` has the shapes of its parts, and of
    forms.
    """
    _, schemas = TypeAdapter.json_schemas(
        [(name, "validation", TypeAdapter(SHAPES[name])) for name in SHAPES]
    )
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "/api/schema/format",
        "$ref": "#/$defs/SchemaDocument",
    }
    return orjson.dumps({**document, **schemas})


@cache
def components() -> dict[str, Any]:
    """The shapes as components of the OpenAPI document, by name: `schema.Entity`."""
    _, schemas = TypeAdapter.json_schemas(
        [(name, "validation", TypeAdapter(SHAPES[name])) for name in SHAPES],
        ref_template="#/components/schemas/schema.{model}",
    )
    return {f"schema.{name}": _untitled(schema) for name, schema in schemas["$defs"].items()}


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without titles: client generators would take them for class names that are not
    unique.
    """
    properties = {
        name: _without_title(property_schema)
        for name, property_schema in schema.get("properties", {}).items()
    }
    return {**_without_title(schema), "properties": properties}


def _without_title(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without its own title."""
    return {key: value for key, value in schema.items() if key != "title"}


def reference(shape: str) -> dict[str, str]:
    """Return a reference to one of `components`, by the shape's name in `SHAPES`."""
    return {"$ref": f"#/components/schemas/schema.{SHAPES[shape].__name__}"}
