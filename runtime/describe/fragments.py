"""Fragments: known by what they stand for, made of an endpoint's operation, kept as bytes.

Thousands are read for one document, so reading one must cost next to nothing: it is an index in JSON and, a
line each, the texts that OpenAPI is put together from, which nobody has to parse; packed by itself, the part
of `/api/schema`, which nobody unpacks who does not ask for it.

An endpoint that has texts in several languages is described in each of them. What is said otherwise than to
those who ask for English, or for a language that it has no texts in, is kept beside that.
"""

from __future__ import annotations

import logging
import sys
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeAlias

import jiter
import orjson
from django.db import DatabaseError

from crmclient.errors import MissingPrivilege, PlatformError
from crmclient.metadata import ENGLISH
from crmclient.outages import Outage
from runtime.describe.documentation import components, documentation_of
from runtime.describe.openapi_operations import Route, RouteSchemaGenerator
from runtime.describe.own_routes import OWN_ROUTES, own_routes
from runtime.describe.schema_parts import part_of
from runtime.http.rendering import render
from runtime.operations.base import Operation
from runtime.serving.served import Served

logger = logging.getLogger("portico.introspection")

# Equal words are found at the first level already.
_LEVEL = 1
_GROUPS = ("paths", "components")
_NOTHING: Mapping[str, Any] = {"paths": {}, "components": {}, "problems": [], "part": None}
# In a part, the same part in other languages; in an index, what else is said in them.
_LANGUAGES = "languages"
# Texts of JSON by path and method, or by kind and name.
Texts: TypeAlias = Mapping[str, Mapping[str, bytes]]
# drf-spectacular keeps state in module globals while it generates.
_lock = threading.Lock()
_lacking_privilege = Outage(
    logger,
    "endpoints cannot be described: grant the privilege in a security role, then refresh the metadata",
    "endpoints can be described again",
)


@dataclass(frozen=True, slots=True)
class Fragment:
    """The description of an endpoint, as documents are put together from it.

    `paths` has operations by path and method, `components` has components by kind and name, all as JSON
    texts. `packed` is the compressed part of `/api/schema`.
    """

    paths: Texts
    components: Texts
    packed: bytes
    # The paths and components that have other texts in a language than in English, by the language's LCID.
    others: Mapping[int, tuple[Texts, Texts]] = field(default_factory=dict)

    def paths_in(self, lcid: int) -> Texts:
        """Return the operations in a language, by path and method."""
        return _with_replaced(self.paths, self.others[lcid][0]) if lcid in self.others else self.paths

    def components_in(self, lcid: int) -> Texts:
        """Return the components in a language, by kind and name."""
        return (
            _with_replaced(self.components, self.others[lcid][1]) if lcid in self.others else self.components
        )

    def part_in(self, lcid: int) -> Mapping[str, Any] | None:
        """Return the part of `/api/schema` about the endpoint; None when the endpoint has no part.

        Texts of the configuration are in the language `lcid`; the platform's labels are in all languages.
        """
        # Exact, as everything that speaks of money.
        text = zlib.decompress(self.packed)
        part: Mapping[str, Any] | None = jiter.from_json(text, float_mode="decimal", cache_mode="keys")
        if part is None or _LANGUAGES not in part:
            return part
        in_language: Mapping[str, Any] = part[_LANGUAGES].get(str(lcid), part)
        return in_language


def _with_replaced(texts: Texts, others: Texts) -> Texts:
    """Return `texts` in which the texts of `others` replace those of the same two names."""
    return {**texts, **{key: {**texts.get(key, {}), **other} for key, other in others.items()}}


def make_fragment(served: Served, id: int) -> bytes:
    """Return the fragment of an endpoint, or of one of `OWN_ROUTES`, as the database stores it: the
    compressed index and texts, followed by the compressed part of `/api/schema`.

    The fragment is empty for an endpoint that cannot be described: its mistake must not break the document
    for everybody. Raises DatabaseError and PlatformError.
    """
    try:
        # Rendered here, too: a value that has no JSON form must not break the document either.
        packed = _packed(_in_languages(served, id))
    except MissingPrivilege as error:
        # The answer stays the same until the metadata is refreshed. Then another fragment is made.
        # The same privilege is missing for all endpoints: one line tells of them all.
        _lacking_privilege.failed(reason=str(error), endpoint=id)
        packed = _packed(_NOTHING)
    except (DatabaseError, PlatformError):
        raise
    except Exception:
        logger.exception("endpoint %s cannot be described", id)
        packed = _packed(_NOTHING)
    else:
        _lacking_privilege.worked()
    return packed


def _packed(content: Mapping[str, Any]) -> bytes:
    """Return a fragment as the database stores it."""
    return zlib.compress(_serialized(content), _LEVEL) + zlib.compress(render(content["part"]), _LEVEL)


def read_fragment(content: bytes, interned: dict[str, bytes]) -> Fragment:
    """Read a fragment that `make_fragment` made.

    `interned` has component texts by name, which fragments share to save memory.
    """
    unpacking = zlib.decompressobj()
    index, problems, *lines = unpacking.decompress(content).split(b"\n")
    places = orjson.loads(index)
    texts = iter(lines)
    paths = _texts_by_name(places["paths"], texts)
    by_kind: dict[str, Mapping[str, bytes]] = {
        kind: {sys.intern(name): _interned(name, next(texts), interned) for name in names}
        for kind, names in places["components"].items()
    }
    components_by_language = {
        int(lcid): (_texts_by_name(differing["paths"], texts), _texts_by_name(differing["components"], texts))
        for lcid, differing in places.get(_LANGUAGES, {}).items()
    }
    for kind, shared in _problem_components(problems).items():
        by_kind[kind] = {**by_kind[kind], **shared} if kind in by_kind else shared
    return Fragment(paths, by_kind, unpacking.unused_data, components_by_language)


def _texts_by_name(places: Mapping[str, Iterable[str]], texts: Iterator[bytes]) -> Texts:
    """Return the next texts, one for each of `places`."""
    return {key: {name: next(texts) for name in names} for key, names in places.items()}


@lru_cache(maxsize=1024)
def _problem_components(problems: bytes) -> Mapping[str, Mapping[str, bytes]]:
    """Return the response components for these problems as JSON, by kind and name.

    They are cached, because most operations share their problems with another operation.
    """
    by_kind = components((status, tuple(codes)) for status, codes in orjson.loads(problems))
    return {
        kind: {name: render(value) for name, value in by_name.items()} for kind, by_name in by_kind.items()
    }


def _serialized(content: Mapping[str, Any]) -> bytes:
    """Return the fragment as bytes: an index and the texts, one on each line.

    Rendered JSON has no line breaks.
    """
    index = _names_in_order(content)
    groups = [content["paths"], content["components"]]
    if contents_by_language := content.get(_LANGUAGES):
        index[_LANGUAGES] = {
            lcid: _names_in_order(differing) for lcid, differing in contents_by_language.items()
        }
        groups += [
            group
            for other in contents_by_language.values()
            for group in (other["paths"], other["components"])
        ]
    texts = [value for group in groups for values in group.values() for value in values.values()]
    return b"\n".join(map(render, (index, content["problems"], *texts)))


def _names_in_order(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names in a fragment without the texts, in the order in which the texts are stored."""
    return {group: {key: list(members) for key, members in content[group].items()} for group in _GROUPS}


def _interned(name: str, text: bytes, interned: dict[str, bytes]) -> bytes:
    """Return the text that is stored under `name` already if it is the same, to save memory."""
    stored_text = interned.setdefault(name, text)
    return stored_text if stored_text == text else text


def _in_languages(served: Served, id: int) -> Mapping[str, Any]:
    """Return the description of an endpoint in English and, under _LANGUAGES, what differs in each other
    language that it has texts in.
    """
    if id in OWN_ROUTES or not (languages := served.configuration.endpoints[id].definition.languages()):
        return _content(served, id)
    content = _content(_served_in_language(served, id, ENGLISH), id)
    contents_by_language = {
        lcid: _content(_served_in_language(served, id, lcid), id) for lcid in sorted(languages - {ENGLISH})
    }
    differing = {
        str(lcid): {group: _differing(content[group], other[group]) for group in _GROUPS}
        for lcid, other in contents_by_language.items()
    }
    part = content["part"]
    if part is not None:
        # The part of `/api/schema` has the whole part in each other language.
        part = {
            **part,
            _LANGUAGES: {str(lcid): other["part"] for lcid, other in contents_by_language.items()},
        }
    return {**content, "part": part, _LANGUAGES: differing}


def _served_in_language(served: Served, id: int, lcid: int) -> Served:
    """Return `served` with one endpoint only, whose texts are in the language `lcid`."""
    endpoint = served.configuration.endpoints[id]
    endpoint = replace(endpoint, definition=endpoint.definition.in_language(lcid))
    return replace(served, configuration=replace(served.configuration, endpoints={id: endpoint}), views={})


def _differing(base: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the values in `other` that `base` lacks or has otherwise. Both are nested by two names."""
    differences = {
        key: {name: value for name, value in values.items() if base.get(key, {}).get(name) != value}
        for key, values in other.items()
    }
    return {key: values for key, values in differences.items() if values}


def _content(served: Served, id: int) -> Mapping[str, Any]:
    """Return the fragment of an endpoint or own route, as JSON."""
    routes = own_routes(served, id) if id in OWN_ROUTES else _routes(served, id)
    if not routes:
        return _NOTHING
    with _lock:
        generator = RouteSchemaGenerator(routes)
        paths = generator.operations()
    return {
        "paths": paths,
        "components": generator.components(),
        "problems": generator.problems(),
        "part": None if id in OWN_ROUTES else _schema_part(served, id, routes[0]),
    }


def _schema_part(served: Served, id: int, route: Route) -> Mapping[str, Any]:
    """Return the endpoint's part of `/api/schema`."""
    return part_of(served.configuration.endpoints[id], route.description, served.platform)


def _routes(served: Served, id: int) -> list[Route]:
    """Return the routes of an endpoint; empty for an endpoint that cannot be served."""
    view: Any = served.view(id)
    operation: Operation | None = view.initkwargs.get("operation")
    if operation is None:
        return []
    endpoint = served.configuration.endpoints[id]
    documentation, description = documentation_of(endpoint), operation.describe()
    routes = [Route(endpoint.path, method, documentation, description) for method in endpoint.methods]
    if endpoint.item_path is not None:
        item = replace(documentation, operation_id=f"{documentation.operation_id}.item")
        item_description = operation.describe_item()
        routes += [Route(endpoint.item_path, method, item, item_description) for method in endpoint.methods]
    return routes
