"""The document of what is served now: a fragment an endpoint, kept until the endpoint changes."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson
import yaml

from runtime.conditions import digest
from runtime.openapi.generator import DefinitionSchemaGenerator, Route
from runtime.rendering import render
from runtime.serving import Served, View
from runtime.viewsets import ItemViewSet, OperationViewSet

# drf-spectacular keeps state in module globals while it generates.
_lock = threading.Lock()


@dataclass(frozen=True)
class Document:
    """The JSON text, and its entity tag with quotes."""

    content: bytes
    tag: str

    @property
    def yaml_tag(self) -> str:
        return f'{self.tag[:-1]}-yaml"'

    @cached_property
    def yaml(self) -> bytes:
        """The same document for people who read YAML, made when it is first asked for."""
        text: str = yaml.safe_dump(orjson.loads(self.content), allow_unicode=True, sort_keys=False)
        return text.encode()


class Documents:
    """The document of the last state asked for, and the fragments it was put together from."""

    def __init__(self, fixed: list[Route]) -> None:
        self._fixed = fixed
        # One value, so that no thread sees a state beside another's document.
        self._made: tuple[object, Document] | None = None
        self._fragments: dict[int, tuple[View, dict[str, Any]]] = {}

    def of(self, served: Served) -> Document:
        """The document for `served`: its served endpoints and the API's own routes."""
        state = (served.configuration.revision, served.metadata)
        made = self._made
        if made is not None and made[0] == state:
            return made[1]
        with _lock:
            content = render(self._assemble(served))
            document = Document(content, f'"{digest(content)}"')
            self._made = state, document
        return document

    def _assemble(self, served: Served) -> dict[str, Any]:
        document = DefinitionSchemaGenerator(self._fixed).document()
        fragments: dict[int, tuple[View, dict[str, Any]]] = {}
        for id in sorted(served.routes.ids(), key=lambda id: served.configuration.endpoints[id].path):
            view = served.view(id)
            known = self._fragments.get(id)
            if known is None or known[0] is not view:
                known = (view, _fragment(served, id, view))
            fragments[id] = known
            for path, operations in known[1].items():
                document["paths"].setdefault(path, {}).update(operations)
        self._fragments = fragments
        return document


def _fragment(served: Served, id: int, view: Any) -> dict[str, Any]:
    """The `paths` of one endpoint; nothing for one that cannot be served."""
    if not issubclass(view.cls, OperationViewSet):
        return {}
    endpoint = served.configuration.endpoints[id]
    routes: list[Route] = [(endpoint.path, method, view) for method in endpoint.kind.methods]
    if endpoint.item_path is not None:
        item = ItemViewSet.as_view(view.actions, **view.initkwargs)
        routes += [(endpoint.item_path, method, item) for method in endpoint.kind.methods]
    paths: dict[str, Any] = DefinitionSchemaGenerator(routes).document()["paths"]
    return paths
