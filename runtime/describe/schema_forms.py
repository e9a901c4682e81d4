"""One operation as a form: the JSON Schema of what is sent, with labels, and a widget for each field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from designer.types import TYPES
from runtime.describe.schema_parts import Part, name_of
from runtime.describe.schema_renderer import Renderer
from runtime.describe.schema_shapes import FieldShape, FormShape
from runtime.values.fields import FILE

_LINE = "text"


def form_of(part: Part, renderer: Renderer) -> FormShape:
    """Return the form for a call: for its body or, without a body, for its query string."""
    call = renderer.call(part)
    fields = call["fields"]
    return {
        "name": name_of(part),
        "operation": part["kind"],
        "method": call["method"],
        "path": call["path"],
        "title": call["title"],
        "description": call["description"],
        "media": part["media"],
        "schema": _labelled(part["schema"] or _schema_of_parameters(part), fields),
        "order": [field["name"] for field in fields],
        "widgets": {field["name"]: _widget(field) for field in fields},
    }


def _labelled(schema: Mapping[str, Any], fields: Iterable[FieldShape]) -> dict[str, Any]:
    """Return the JSON Schema of an object with the labels and descriptions of its fields."""
    properties = dict(schema["properties"])
    for field in fields:
        name = field["name"]
        if name not in properties:
            continue
        titled = {**properties[name], "title": field["label"]}
        if field["description"]:
            titled["description"] = field["description"]
        if "items" in field:
            titled = _labelled_list(titled, field["items"])
        elif "optionSet" in field:
            titled = _with_options(titled, field)
        properties[name] = titled
    return {**schema, "properties": properties}


def _labelled_list(schema: dict[str, Any], fields: list[FieldShape]) -> dict[str, Any]:
    """Return the schema of an input that holds records of `fields`, with labels.

    It is an array of records, a single record, or the changes of a list: an object of arrays, such as `add`
    with records and `remove` with ids. An array of ids has no labels.
    """
    if "items" in schema:
        holds_records = "properties" in schema["items"]
        return {**schema, "items": _labelled(schema["items"], fields)} if holds_records else schema
    properties = schema.get("properties", {})
    is_record = properties.keys() >= {field["name"] for field in fields}
    if is_record:
        return _labelled(schema, fields)
    changes = {name: _labelled_list(part, fields) for name, part in properties.items()}
    return {**schema, "properties": changes} if changes else schema


def _with_options(schema: Mapping[str, Any], field: FieldShape) -> dict[str, Any]:
    """Return the schema with each option and its label as `oneOf`, which form generators understand."""
    if "items" in schema:
        return {**schema, "items": _with_options(schema["items"], field)}
    allowed = schema.get("enum")
    choices: list[dict[str, Any]] = [
        {"const": option["value"], "title": option["name"]}
        for option in field["optionSet"]["options"]
        if allowed is None or option["value"] in allowed
    ]
    if allowed is not None and None in allowed:
        choices.append({"const": None, "title": ""})
    rest = {key: value for key, value in schema.items() if key not in {"type", "enum"}}
    return {**rest, "oneOf": choices}


def _schema_of_parameters(part: Part) -> dict[str, Any]:
    """Return the query string of a call as the JSON Schema of an object."""
    parameters = part["parameters"]
    return {
        "type": "object",
        "properties": {parameter["name"]: parameter["schema"] for parameter in parameters},
        "required": [parameter["name"] for parameter in parameters if parameter["required"]],
        "additionalProperties": False,
    }


def _widget_name(field: FieldShape) -> str:
    """Return the name of the widget for a field, such as `file`, `select` or `text`."""
    if field["type"] == FILE:
        return "file"
    input_type = TYPES.get(field["type"])
    if input_type is not None and input_type.widget != _LINE:
        return input_type.widget
    return "select" if "allowed" in field else _LINE


def _widget(field: FieldShape) -> dict[str, Any]:
    """Return how a form shows a field: its widget, where its options or candidates are, and its step."""
    widget: dict[str, Any] = {"widget": _widget_name(field)}
    if "optionSet" in field and field["optionSet"]["url"]:
        widget["options"] = field["optionSet"]["url"]
    if "precision" in field:
        widget["step"] = f"{10 ** -field['precision']:.{field['precision']}f}"
    if "targets" in field:
        widget["targets"] = field["targets"]
        widget["candidates"] = field.get("candidates", [])
    if "items" in field:
        widget["items"] = {item["name"]: _widget(item) for item in field["items"]}
    return widget
