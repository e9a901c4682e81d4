"""A value that fits a JSON Schema, for people to see what a body looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BY_FORMAT = {
    "uuid": "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "uri": "https://example.com/",
    "email": "somebody@example.com",
}
# Characters of a sample text, unless the schema requires more.
_LONGEST = 40
# Characters of any sample text. One that the schema requires to be longer would fill the page, or the memory.
_LONGEST_REQUIRED = 1000


def sample(schema: Mapping[str, Any], name: str = "") -> Any:
    """Return a sample value for a schema. `name` is the field's name, which serves as the sample of a text
    if it fits. None for a schema of which no sample can be made.
    """
    for key in ("example", "default", "const"):
        if key in schema:
            return schema[key]
    if schema.get("examples"):
        return schema["examples"][0]
    if values := [value for value in schema.get("enum", ()) if value is not None]:
        return values[0]
    for key in ("anyOf", "oneOf", "allOf"):
        if choices := [choice for choice in schema.get(key, ()) if choice.get("type") != "null"]:
            return sample(choices[0], name)
    declared_type = schema.get("type", "object" if "properties" in schema else None)
    possible_types = (
        [declared_type]
        if isinstance(declared_type, str)
        else [json_type for json_type in declared_type or () if json_type != "null"]
    )
    make = _SAMPLES.get(possible_types[0]) if possible_types else None
    return make(schema, name) if make else None


def _object_sample(schema: Mapping[str, Any], name: str) -> Any:
    """Return an object with a sample of every property."""
    return {key: sample(inner, key) for key, inner in schema.get("properties", {}).items()}


def _array_sample(schema: Mapping[str, Any], name: str) -> Any:
    """Return an array of one sample; empty for an array whose items are not described."""
    return [sample(schema["items"], name)] if isinstance(schema.get("items"), Mapping) else []


def _text_sample(schema: Mapping[str, Any], name: str) -> Any:
    """Return the name of the field, made to fit the length; for a known format, a value of this format.

    Where more than _LONGEST_REQUIRED characters are required, the sample is too short.
    """
    if schema.get("format") in _BY_FORMAT:
        return _BY_FORMAT[schema["format"]]
    text = name or "text"
    shortest = min(schema.get("minLength", 0), _LONGEST_REQUIRED)
    longest = min(schema.get("maxLength", _LONGEST), _LONGEST)
    return text.ljust(shortest, "x")[: max(longest, shortest)]


def _number_sample(schema: Mapping[str, Any], name: str) -> Any:
    """Return the least allowed number or, without a minimum, 1 if that is allowed."""
    return schema.get("minimum", min(1, schema.get("maximum", 1)))


_SAMPLES: Mapping[str, Any] = {
    "object": _object_sample,
    "array": _array_sample,
    "string": _text_sample,
    "number": _number_sample,
    "integer": _number_sample,
    "boolean": lambda schema, name: True,
}
