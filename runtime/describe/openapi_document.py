"""The OpenAPI document for some readers: the fragments of what they may call, under one head."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from designer.configuration import Endpoint
from runtime.describe.audience import Audience
from runtime.describe.documentation import GLOBAL, of_endpoint
from runtime.describe.fragment_cache import LIBRARY
from runtime.describe.fragments import Fragment
from runtime.describe.openapi_formats import VERSION_3_0, in_3_0
from runtime.describe.own_routes import GUARDED_ROUTES, OPEN_ROUTES
from runtime.http.problems import unknown_route
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
    "What this service is configured to serve, as far as the reader may call it: a token shows more. "
    "Wherever GET is answered, HEAD is too. Every error is a problem (RFC 9457)."
)
_CONTEXT = "Context"
_OWN_TAGS = {
    "Tokens": "Access and refresh tokens of API accounts.",
    _CONTEXT: "What the configuration says of the caller.",
    "Introspection": "What the API says of itself.",
}


# Words of 3.1 are those of fragments.
_WORDINGS: Mapping[str, tuple[str, Callable[[bytes], bytes]]] = {
    "3.1": ("3.1.0", lambda text: text),
    "3.0": (VERSION_3_0, in_3_0),
}


def openapi(served: Served, audience: Audience, module: str = "", version: str = "3.1") -> Mapping[str, Any]:
    """The document, for orjson, in OpenAPI 3.1 or 3.0; `module`: only its endpoints and those of no module.

    Raises Problem 404 for a module of which nothing is shown, 503 while fragments are being made.
    """
    endpoints = served.configuration.endpoints
    ids = [id for id in audience.ids(served) if not module or endpoints[id].definition.module in ("", module)]
    if module and not any(endpoints[id].definition.module for id in ids):
        raise unknown_route()
    own = [OPEN_ROUTES] if audience.roles is None else [OPEN_ROUTES, GUARDED_ROUTES]
    fragments = LIBRARY.of(served, [*own, *ids])
    LIBRARY.keep_only(served)
    number, worded = _WORDINGS[version]
    return {
        "openapi": number,
        "info": {"title": "Portico", "version": "1", "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "tags": _tags(served, (endpoints[id] for id in ids), audience.roles is not None),
        "paths": _paths(fragments, worded),
        "components": {**_components(fragments, worded), "securitySchemes": _SECURITY_SCHEMES},
    }


def _paths(fragments: Iterable[Fragment], worded: Callable[[bytes], bytes]) -> Mapping[str, Any]:
    paths: dict[str, dict[str, orjson.Fragment]] = {}
    for fragment in fragments:
        for path, operations in fragment.paths.items():
            known = paths.setdefault(path, {})
            for method, text in operations.items():
                known[method] = orjson.Fragment(worded(text))
    return paths


def _components(fragments: Iterable[Fragment], worded: Callable[[bytes], bytes]) -> Mapping[str, Any]:
    found: dict[str, dict[str, orjson.Fragment]] = {}
    for fragment in fragments:
        for kind, components in fragment.components.items():
            known = found.setdefault(kind, {})
            for name, text in components.items():
                if name not in known:
                    known[name] = orjson.Fragment(worded(text))
    return {kind: dict(sorted(known.items())) for kind, known in sorted(found.items())}


def _tags(served: Served, endpoints: Iterable[Endpoint], signed_in: bool) -> list[dict[str, str]]:
    """The tags in use: modules as the configuration describes them, then the API's own."""
    used = {of_endpoint(endpoint).tag for endpoint in endpoints}
    tags: list[dict[str, str]] = []
    for module in served.configuration.modules:
        if module.segment in used:
            used.discard(module.segment)
            words = ": ".join(text for text in (module.title, module.description) if text)
            tags.append({"name": module.segment, "description": words or "A module without a description."})
    if GLOBAL in used:
        tags.append({"name": GLOBAL, "description": "Options that all modules share, with their labels."})
    own = {name: text for name, text in _OWN_TAGS.items() if name != _CONTEXT or signed_in}
    return tags + [{"name": name, "description": text} for name, text in own.items()]
