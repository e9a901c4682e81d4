"""The document in other forms: OpenAPI 3.0, for generators that read no newer one, and YAML, for people."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jiter
import orjson
import yaml

from runtime.describe.document_cache import Documents
from runtime.http.rendering import render

VERSION_3_0 = "3.0.3"
_KNOWN = Documents()

_OF_OPTIONS = "#/components/schemas/options."

# What callers send and get is no schema.
_VALUES = frozenset({"example", "examples", "default", "enum", "const"})

# Written in C where libyaml is there: a tenth of the time.
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
# Nobody reads more than that in one piece, and laying it out would take minutes of everybody's time.
_LONGEST_LAID_OUT = 2 * 1024 * 1024
# What JSON holds as it is and YAML does not, or takes for a line break.
_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# components, schemas, the name of one: what is under that is one line.
_DEPTH = 3


def in_3_0(text: bytes) -> bytes:
    """A part of a 3.1 document, as JSON, in the words of 3.0."""
    # The longest documents are made of parts that have not changed since the last one.
    return _KNOWN.get(hashlib.sha256(text).hexdigest(), lambda: _converted(text))


def _converted(text: bytes) -> bytes:
    return render(_older(jiter.from_json(text, float_mode="decimal", cache_mode="keys")))


def _older(value: Any) -> Any:
    if isinstance(value, list):
        return [_older(item) for item in value]
    if isinstance(value, dict):
        return _object({key: _member(key, item) for key, item in value.items()})
    return value


def _member(key: str, item: Any) -> Any:
    if key in _VALUES:
        return item
    if key == "properties" and isinstance(item, dict):
        # Its keys are names, which may look like a schema's words.
        return {name: _older(schema) for name, schema in item.items()}
    return _older(item)


def _object(found: dict[str, Any]) -> dict[str, Any]:
    kinds = found.get("type")
    if isinstance(kinds, list):
        found["type"] = next(kind for kind in kinds if kind != "null")
        if "null" in kinds:
            found["nullable"] = True
    if "anyOf" in found:
        found = _without_null(found)
    if "const" in found:
        found["enum"] = [found.pop("const")]
    if isinstance(found.get("examples"), list):
        found["example"] = found.pop("examples")[0]
    if "$ref" in found and len(found) > 1:
        # A reference has no neighbours in 3.0.
        found["allOf"] = [{"$ref": found.pop("$ref")}]
    return found


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    choices = [choice for choice in schema["anyOf"] if choice != {"type": "null"}]
    if len(choices) == len(schema["anyOf"]):
        return schema
    rest = {key: item for key, item in schema.items() if key != "anyOf"}
    if len(choices) > 1:
        return {**rest, "anyOf": [_nullable(choice) for choice in choices]}
    return {**rest, **_nullable(choices[0])}


def _nullable(choice: dict[str, Any]) -> dict[str, Any]:
    """`nullable` adds to a `type` that stands beside it, and to nothing where none does."""
    if "$ref" in choice:
        kind = "integer" if choice["$ref"].startswith(_OF_OPTIONS) else "object"
        return {"type": kind, "nullable": True, "allOf": [choice]}
    listed = {"enum": [*choice["enum"], None]} if None not in choice.get("enum", [None]) else {}
    return {**choice, **listed, "nullable": True}


def as_yaml(document: Mapping[str, Any]) -> bytes:
    """`document` is for orjson. A long one has an operation or a component a line, as JSON, which is YAML."""
    content = orjson.dumps(document)
    if len(content) > _LONGEST_LAID_OUT:
        text = _SPECIAL.sub(_escaped, "".join(_lines(document, 0)))
    else:
        text = yaml.dump(
            orjson.loads(content), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110
        )
    return text.encode()


def _lines(value: object, depth: int) -> Iterator[str]:
    if not isinstance(value, dict) or not value or depth == _DEPTH:
        yield f" {orjson.dumps(value).decode()}\n"
        return
    if depth:
        yield "\n"
    for key, item in value.items():
        yield f"{'  ' * depth}{orjson.dumps(key).decode()}:"
        yield from _lines(item, depth + 1)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
