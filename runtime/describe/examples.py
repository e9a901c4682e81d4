"""Examples of values, made from their JSON Schemas and therefore valid under them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schemas = Mapping[str, Mapping[str, Any]]

# None: nobody can make up an example of the format.
_FORMATS = {
    "uuid": "6f0c1a52-7d3e-4b9a-9c41-2f8e5d7a1b60",
    "date": "2026-11-21",
    "date-time": "2026-11-21T09:30:00Z",
    "uri": "https://example.com/",
    "email": "somebody@example.com",
    "binary": None,
}
_REFERENCE = "#/components/schemas/"
# Characters. Longer texts would fill the document, or the memory.
_LONGEST_TEXT = 1000
_WORDS = "Lorem ipsum dolor sit amet"


class NoExample(Exception):
    """A schema that only its author could give an example of."""


def example(
    schema: Mapping[str, Any], components: Schemas, name: str = "", inside: tuple[str, ...] = ()
) -> Any:
    """Return an example of `schema`; `name` is the name of its field. Raises NoExample, for instance for a
    text with a pattern.

    `inside` are the components that the schema is a part of: a component that contains itself has no finite
    example.
    """
    if "$ref" in schema:
        referred = schema["$ref"].removeprefix(_REFERENCE)
        if referred in inside:
            raise NoExample
        return example(components[referred], components, name, (*inside, referred))
    authored = _authored_example(schema)
    if authored is not None:
        return authored
    if "anyOf" in schema:
        return example(schema["anyOf"][0], components, name, inside)
    match _kind(schema):
        case "object":
            return _object_example(schema, components, inside)
        case "array":
            return _array_example(schema, components, inside)
        case "string":
            return _text_example(schema, name)
        case "integer" | "number":
            return _number_example(schema)
        case "boolean":
            return True
    raise NoExample


def without_optional_ids(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a body without ids, and objects with an id, that are not required.

    A made-up id would be refused when the example is sent.
    """
    required = schema.get("required", ())
    properties = schema.get("properties", {})
    kept_properties = {
        name: property_schema
        for name, property_schema in properties.items()
        if name in required or not _is_id(property_schema)
    }
    return {**schema, "properties": kept_properties}


def _is_id(schema: Mapping[str, Any]) -> bool:
    """Whether a schema is that of an id, or of an object that has one."""
    id_schema = schema.get("properties", {}).get("id", {})
    return "uuid" in (schema.get("format"), id_schema.get("format"))


def _authored_example(schema: Mapping[str, Any]) -> Any:
    """Return the value that the author of the schema gives: constant, default, example or first choice."""
    for word in ("const", "default"):
        if schema.get(word) is not None:
            return schema[word]
    offered = schema.get("examples") or schema.get("enum")
    return offered[0] if offered else None


def _kind(schema: Mapping[str, Any]) -> Any:
    """Return the type of a schema; of several types the first one."""
    kinds = schema.get("type")
    return kinds[0] if isinstance(kinds, list) else kinds


def _object_example(
    schema: Mapping[str, Any], components: Schemas, inside: tuple[str, ...]
) -> dict[str, Any]:
    """Return an object with examples of its properties. Optional properties without an example are left out.
    Raises NoExample when a required one has none.
    """
    required = frozenset(schema.get("required", ()))
    values: dict[str, Any] = {}
    for name, property_ in schema.get("properties", {}).items():
        try:
            values[name] = example(property_, components, name, inside)
        except NoExample:
            if name in required:
                raise
    return values


def _array_example(schema: Mapping[str, Any], components: Schemas, inside: tuple[str, ...]) -> list[Any]:
    """Return an array of one example; empty without an example, if it may be. Raises NoExample."""
    fewest = schema.get("minItems", 0)
    # An array of the same example twice might be refused.
    if fewest > 1:
        raise NoExample
    try:
        return [example(schema["items"], components, "", inside)] if schema.get("maxItems", 1) else []
    except NoExample:
        if fewest:
            raise
        return []


def _text_example(schema: Mapping[str, Any], name: str) -> str:
    """Return a text that fits the schema. Raises NoExample where nobody can make one up, or only one of more
    than _LONGEST_TEXT characters.
    """
    if "pattern" in schema:
        raise NoExample
    if "format" in schema:
        sample = _FORMATS.get(schema["format"])
        if sample is None:
            raise NoExample
        return sample
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", 100)
    if shortest > _LONGEST_TEXT:
        raise NoExample
    text = (name or _WORDS)[:longest]
    return text if len(text) >= shortest else (_WORDS * (shortest // len(_WORDS) + 1))[:shortest]


def _number_example(schema: Mapping[str, Any]) -> Any:
    """Return 1 or, if that is out of the schema's range, the nearest limit."""
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    if lowest is not None and lowest > 1:
        return lowest
    return highest if highest is not None and highest < 1 else 1
