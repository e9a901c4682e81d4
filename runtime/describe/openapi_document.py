"""The OpenAPI document for some readers: the fragments of what they may call, under one head.

Fragments are in the words of OpenAPI 3.1. The document is in those of 3.0, too, for generators that read no
newer one, and as YAML, for people.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import jiter
import orjson
import yaml

from crmclient.metadata import ENGLISH
from designer.configuration import Endpoint
from runtime.describe.audience import Audience
from runtime.describe.document_cache import DocumentCache
from runtime.describe.documentation import GLOBAL, documentation_of
from runtime.describe.fragment_cache import FRAGMENTS
from runtime.describe.fragments import Texts
from runtime.describe.own_routes import GUARDED_ROUTES, OPEN_ROUTES
from runtime.http.problems import unknown_route
from runtime.http.rendering import render
from runtime.serving.served import Served

_SECURITY_SCHEMES = {
    "account": {
        "type": "oauth2",
        "description": "An API account of this service.",
        "flows": {"password": {"tokenUrl": "/api/token", "refreshUrl": "/api/token/refresh", "scopes": {}}},
    },
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A token of this service, or of an issuer that it trusts.",
    },
}
_DESCRIPTION = (
    "The endpoints that you may call. Send a token to see all that its roles may call. "
    "Each GET endpoint also answers HEAD. Each error is a problem document (RFC 9457)."
)
_CONTEXT = "Context"
_OWN_TAGS = {
    "Tokens": "Access and refresh tokens of API accounts.",
    _CONTEXT: "What the configuration says of the caller.",
    "Introspection": "What the API says of itself.",
}

# Parts of documents in OpenAPI 3.0, by the digest of the same part in 3.1.
_CONVERTED = DocumentCache()
_OPTIONS_REFERENCE = "#/components/schemas/options."
# Members that hold values of callers, not schemas.
_VALUES = frozenset({"example", "examples", "default", "enum", "const"})


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # in C: a tenth of the time
    """Writes Decimals with all their digits."""


# Bytes. Nobody reads a longer document in one piece, and laying it out as blocks would take minutes.
_LONGEST_LAID_OUT = 2 * 1024 * 1024
# What JSON holds as it is and YAML does not, or takes for a line break.
_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# components, schemas, the name of one: what is under that is one line.
_DEPTH = 3


def openapi(
    served: Served, audience: Audience, module: str = "", version: str = "3.1", lcid: int = ENGLISH
) -> Mapping[str, Any]:
    """Return the OpenAPI document, for orjson, in version "3.1" or "3.0".

    With `module`, it has only the endpoints of this module and those of no module. `lcid` is the language of
    the configuration's texts. Raises Problem 404 when the readers may call nothing in the module, and 503
    while fragments are being made.
    """
    endpoints = served.configuration.endpoints
    ids = [id for id in audience.ids(served) if not module or endpoints[id].definition.module in ("", module)]
    if module and not any(endpoints[id].definition.module for id in ids):
        raise unknown_route()
    own_routes = [OPEN_ROUTES] if audience.roles is None else [OPEN_ROUTES, GUARDED_ROUTES]
    fragments = FRAGMENTS.of(served, [*own_routes, *ids])
    FRAGMENTS.keep_only(served)
    full_version, convert = _VERSIONS[version]
    components = _components((fragment.components_in(lcid) for fragment in fragments), convert)
    return {
        "openapi": full_version,
        "info": {"title": "Portico", "version": "1", "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "tags": _tags(served, (endpoints[id] for id in ids), audience.roles is not None, lcid),
        "paths": _paths((fragment.paths_in(lcid) for fragment in fragments), convert),
        "components": {**components, "securitySchemes": _SECURITY_SCHEMES},
    }


def _paths(paths_of_fragments: Iterable[Texts], convert: Callable[[bytes], bytes]) -> Mapping[str, Any]:
    """Return the operations of all fragments by path and method. `convert` rewrites each in the version of
    the document.
    """
    paths: dict[str, dict[str, orjson.Fragment]] = {}
    for texts in paths_of_fragments:
        for path, operations in texts.items():
            by_method = paths.setdefault(path, {})
            for method, text in operations.items():
                by_method[method] = orjson.Fragment(convert(text))
    return paths


def _components(
    components_of_fragments: Iterable[Texts], convert: Callable[[bytes], bytes]
) -> Mapping[str, Any]:
    """Return the components of all fragments by kind and name, sorted. `convert` rewrites each in the version
    of the document.
    """
    by_kind: dict[str, dict[str, orjson.Fragment]] = {}
    for texts in components_of_fragments:
        for kind, components in texts.items():
            by_name = by_kind.setdefault(kind, {})
            for name, text in components.items():
                if name not in by_name:
                    by_name[name] = orjson.Fragment(convert(text))
    return {kind: dict(sorted(by_name.items())) for kind, by_name in sorted(by_kind.items())}


def _tags(served: Served, endpoints: Iterable[Endpoint], signed_in: bool, lcid: int) -> list[dict[str, str]]:
    """Return the tags in use: the modules with their descriptions, then the API's own tags."""
    used = {documentation_of(endpoint).tag for endpoint in endpoints}
    tags: list[dict[str, str]] = []
    for module in served.configuration.modules:
        if module.segment in used:
            used.discard(module.segment)
            translated = module.in_language(lcid)
            words = ": ".join(text for text in (translated.title, translated.description) if text)
            tags.append({"name": module.segment, "description": words or "A module without a description."})
    if GLOBAL in used:
        tags.append({"name": GLOBAL, "description": "Options that all modules share, with their labels."})
    own_tags = {name: text for name, text in _OWN_TAGS.items() if name != _CONTEXT or signed_in}
    return tags + [{"name": name, "description": text} for name, text in own_tags.items()]


def _in_3_0(text: bytes) -> bytes:
    """Return a part of a 3.1 document as 3.0. Both are JSON. Unchanged parts are cached."""
    # The longest documents are made of parts that have not changed since the last one.
    return _CONVERTED.get(hashlib.sha256(text).hexdigest(), lambda: _part_in_3_0(text))


def _part_in_3_0(text: bytes) -> bytes:
    """Return a part of a 3.1 document, which is JSON, as 3.0."""
    return render(_value_in_3_0(jiter.from_json(text, float_mode="decimal", cache_mode="keys")))


def _value_in_3_0(value: Any) -> Any:
    """Return a value of a 3.1 document as 3.0 has it, with everything inside it."""
    if isinstance(value, list):
        return [_value_in_3_0(item) for item in value]
    if isinstance(value, dict):
        return _schema_in_3_0({key: _member_in_3_0(key, item) for key, item in value.items()})
    return value


def _member_in_3_0(key: str, item: Any) -> Any:
    """Return the member `key` of an object as 3.0 has it. Values such as examples stay as they are."""
    if key in _VALUES:
        return item
    if key == "properties" and isinstance(item, dict):
        # Its keys are names, which may look like a schema's words.
        return {name: _value_in_3_0(schema) for name, schema in item.items()}
    return _value_in_3_0(item)


def _schema_in_3_0(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a 3.1 object in 3.0. Its members are converted already; an object that is no schema stays."""
    types = schema.get("type")
    if isinstance(types, list):
        schema["type"] = next(type for type in types if type != "null")
        if "null" in types:
            schema["nullable"] = True
    if "anyOf" in schema:
        schema = _without_null(schema)
    if "const" in schema:
        schema["enum"] = [schema.pop("const")]
    if isinstance(schema.get("examples"), list):
        schema["example"] = schema.pop("examples")[0]
    if "$ref" in schema and len(schema) > 1:
        # OpenAPI 3.0 ignores the members beside a `$ref`.
        schema["allOf"] = [{"$ref": schema.pop("$ref")}]
    return schema


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with `anyOf` in which `nullable` replaces the choice of null, which 3.0 does not
    have.
    """
    choices = [choice for choice in schema["anyOf"] if choice != {"type": "null"}]
    if len(choices) == len(schema["anyOf"]):
        return schema
    rest = {key: item for key, item in schema.items() if key != "anyOf"}
    if len(choices) > 1:
        return {**rest, "anyOf": [_nullable(choice) for choice in choices]}
    return {**rest, **_nullable(choices[0])}


def _nullable(choice: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a choice that may also be null.

    In OpenAPI 3.0, `nullable` only has an effect beside a `type`, so that a reference gets one.
    """
    if "$ref" in choice:
        # Of all components, only option sets are no objects.
        json_type = "integer" if choice["$ref"].startswith(_OPTIONS_REFERENCE) else "object"
        return {"type": json_type, "nullable": True, "allOf": [choice]}
    if "enum" in choice and None not in choice["enum"]:
        # An `enum` excludes null unless it lists null.
        choice = {**choice, "enum": [*choice["enum"], None]}
    return {**choice, "nullable": True}


def as_yaml(document: Mapping[str, Any]) -> bytes:
    """Return a document for orjson as YAML.

    A long document has each operation and each component on one line, as JSON, which is YAML, too.
    """
    content = orjson.dumps(document)
    if len(content) > _LONGEST_LAID_OUT:
        text = _SPECIAL.sub(_escaped, "".join(_yaml_lines(document, 0)))
    else:
        values = jiter.from_json(content, float_mode="decimal", cache_mode="keys")
        text = yaml.dump(values, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110)
    return text.encode()


def _yaml_number(dumper: Any, value: Decimal) -> Any:
    """Return a number as YAML writes it: a float has a point."""
    text = f"{value:f}"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{'float' if '.' in text else 'int'}", text)


_Dumper.add_representer(Decimal, _yaml_number)


def _yaml_lines(value: object, depth: int) -> Iterator[str]:
    """Yield YAML: objects as blocks down to a depth, everything else as JSON, which YAML includes."""
    if not isinstance(value, dict) or not value or depth == _DEPTH:
        yield f" {orjson.dumps(value).decode()}\n"
        return
    if depth:
        yield "\n"
    for key, item in value.items():
        yield f"{'  ' * depth}{orjson.dumps(key).decode()}:"
        yield from _yaml_lines(item, depth + 1)


def _escaped(match: re.Match[str]) -> str:
    """Return a character as a JSON escape."""
    return f"\\u{ord(match[0]):04x}"


# By the version that readers ask for: the full version, and what rewrites a part of a document in it.
_VERSIONS: Mapping[str, tuple[str, Callable[[bytes], bytes]]] = {
    "3.1": ("3.1.0", lambda text: text),
    "3.0": ("3.0.3", _in_3_0),
}
