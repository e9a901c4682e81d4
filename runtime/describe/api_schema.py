"""`/api/schema` and its parts, put together for some readers in one language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import orjson

from crmclient.metadata import Entity as PlatformEntity
from designer.kinds import KINDS, Scope
from runtime.describe.audience import Audience
from runtime.describe.document_cache import DocumentCache
from runtime.describe.fragment_cache import FRAGMENTS
from runtime.describe.schema_parts import Entry, Part, entries, name_of, operation_of, place_of
from runtime.describe.schema_renderer import Language, Renderer
from runtime.describe.schema_shapes import (
    FORMAT,
    Call,
    Entity,
    Files,
    NoCall,
    OptionSetShape,
    Paging,
    Process,
    QueryShape,
)
from runtime.http.conditions import digest
from runtime.http.problems import unknown_route
from runtime.http.rendering import render
from runtime.serving.served import Served

# The one operation of a process, a query or an option set.
RUN = "run"
# The lists whose entries fields refer to by their addresses.
_LINKED = frozenset({"optionsets", "queries"})


class Schema:
    """The operations of `served` that `audience` may call, in the language `lcid`.

    With `module`, only the operations of that module. Raises Problem 503 while fragments are being made.
    """

    def __init__(self, served: Served, audience: Audience, lcid: int, module: str = "") -> None:
        self.served = served
        self.lcid = lcid
        endpoints = served.configuration.endpoints
        callable_endpoints = {id: endpoints[id] for id in audience.ids(served)}
        self._endpoints = [
            (id, endpoint)
            for id, endpoint in callable_endpoints.items()
            if not module or endpoint.definition.module in ("", module)
        ]
        linked = [id for id, endpoint in callable_endpoints.items() if place_of(endpoint) in _LINKED]
        language = Language(lcid, served.platform.languages()[0])
        self.renderer = Renderer(self._parts(linked), language, served.platform)

    def document(self, only: str = "") -> bytes:
        """Return the SchemaDocument as JSON; with `only` (`entities`, `queries`, `processes` or
        `optionsets`) just that list.
        """
        document: dict[str, Any] = {
            "format": FORMAT,
            "revision": str(self.served.configuration.revision.number),
            "lcid": self.lcid,
        }
        for list_name, key in _KEYS.items():
            if not only or list_name == only:
                texts = self._rendered(list_name, entries(list_name, self._endpoints))
                document[key] = [orjson.Fragment(text) for text in texts if text]
        return render(document)

    def one(self, list_name: str, name: str) -> bytes:
        """Return one entry of the list `list_name` as JSON. Raises Problem 404.

        `name` is the entry's name, or the platform's name if only one entry has it.
        """
        (text,) = self._rendered(list_name, [self._entry(list_name, name)])
        return text

    def part(self, list_name: str, name: str, operation: str) -> Part:
        """Return one operation of the entry that `one` returns. Raises Problem 404.

        Of an entity, `operation` is the key of an operation, or the name of an action or a file alone; of any
        other entry it is `run`.
        """
        entry = self._entry(list_name, name)
        parts = self._parts(entry.ids)
        # Only an entity has several operations; any other entry has one, which is called `run`.
        if list_name != "entities":
            meant = parts if operation == RUN else []
        else:
            # An upload may be called `create`: the key of an operation comes before the name of a file.
            meant = [part for part in parts if _has_key(part, entry.name, operation)] or [
                part for part in parts if _has_name(part, entry.name, operation)
            ]
        if not meant:
            raise unknown_route()
        return meant[0]

    def _entry(self, list_name: str, name: str) -> Entry:
        """Return the entry with this name, or with this name on the platform.

        Raises Problem 404 for none, or several, and Problem 503 while fragments are being made.
        """
        all_entries = entries(list_name, self._endpoints)
        matches = [entry for entry in all_entries if entry.name == name]
        matches = matches or [entry for entry in all_entries if entry.platform_name == name]
        # An entry whose endpoints cannot be described is not in the document either.
        matches = [entry for entry in matches if self._parts(entry.ids)]
        if len(matches) != 1:
            raise unknown_route()
        return matches[0]

    def _rendered(self, list_name: str, listed: Sequence[Entry]) -> list[bytes]:
        """Return the JSON text of each entry. Unchanged texts are cached. A text is empty when the entry
        cannot be described.
        """
        # What the texts of all entries of the list depend on.
        common_parts = (list_name, digest(self.renderer.dependencies.encode()))
        keys = [
            "\n".join((*common_parts, *(FRAGMENTS.digests.of(self.served, id) for id in entry.ids)))
            for entry in listed
        ]
        texts = [RENDERED.find(key) for key in keys]
        # Loaded at once, so that `_render` finds each in the cache: one by one, each would cost a query.
        missing = [entry for entry, text in zip(listed, texts, strict=True) if text is None]
        FRAGMENTS.of(self.served, (id for entry in missing for id in entry.ids))
        return [
            RENDERED.get(key, partial(self._render, list_name, entry)) if text is None else text
            for key, entry, text in zip(keys, listed, texts, strict=True)
        ]

    def _render(self, list_name: str, entry: Entry) -> bytes:
        """Return the JSON text of an entry; empty when none of its endpoints can be described."""
        parts = self._parts(entry.ids)
        return render(_MAKERS[list_name](self, parts)) if parts else b""

    @cached_property
    def _known_entities(self) -> Mapping[str, PlatformEntity]:
        """The entities of the platform, by logical name."""
        return self.served.platform.entities()

    def _parts(self, ids: Iterable[int]) -> list[Part]:
        """Return the parts of the endpoints `ids`. An endpoint that cannot be described has none."""
        parts = (fragment.part_in(self.lcid) for fragment in FRAGMENTS.of(self.served, ids))
        return [part for part in parts if part is not None]

    def _entity(self, parts: Sequence[Part]) -> Entity:
        """Return the description of an exposed entity, which is put together from the parts of its
        endpoints.
        """
        module, segment, entity = (parts[0][key] for key in ("module", "segment", "entity"))
        metadata = self._known_entities[entity]
        language = self.renderer.language
        operations: dict[str, Call | NoCall] = {
            name: NoCall(enabled=False) for name in _kinds_of_every_entity()
        }
        operations |= {
            operation_of(part): self.renderer.call(part) for part in parts if part["place"] == "operations"
        }
        return {
            "name": f"{module}.{segment}",
            "module": module,
            "entity": entity,
            "displayName": metadata.label.text(language.lcid, language.base) or entity,
            "pluralName": metadata.plural_label.text(language.lcid, language.base) or entity,
            "description": metadata.description.text(language.lcid, language.base),
            "endpoint": f"/api/{module}/{segment}",
            "operations": operations,
            "files": self._files(part for part in parts if part["place"] == "files"),
            "actions": [self._process([part]) for part in parts if part["place"] == "actions"],
            "optionSets": [part["call"]["path"] for part in parts if part["place"] == "optionsets"],
        }

    def _files(self, parts: Iterable[Part]) -> list[Files]:
        """Return the files of an entity: upload and download of the same name are one."""
        files: dict[str, Files] = {}
        for part in parts:
            file = files.setdefault(part["name"], {"name": part["name"]})
            file[part["kind"]] = self.renderer.call(part)  # type: ignore[literal-required]
        return list(files.values())

    def _process(self, parts: Sequence[Part]) -> Process:
        """Return the description of a process. It has one part."""
        (part,) = parts
        return {
            "name": name_of(part),
            "module": part["module"],
            "entity": part["entity"] or None,
            "call": self.renderer.call(part),
        }

    def _query(self, parts: Sequence[Part]) -> QueryShape:
        """Return the description of a query endpoint. It has one part."""
        (part,) = parts
        schemas: Mapping[str, Any] = {
            parameter["name"]: parameter["schema"] for parameter in part["parameters"]
        }
        page, order = schemas.get("pageSize"), schemas.get("order", {})
        paging = None if page is None else Paging(default=page["default"], max=page["maximum"])
        return {
            "name": name_of(part),
            "module": part["module"],
            "kind": part["kind"],
            "call": self.renderer.call(part),
            "orders": [name for name in order.get("enum", ()) if not name.startswith("-")],
            "paging": paging,
        }

    def _option_set(self, parts: Sequence[Part]) -> OptionSetShape:
        """Return the description of an option set. It has one part."""
        (part,) = parts
        return self.renderer.option_set(part)


# By the word in the address: the key in the document, and what makes one of its list.
_KEYS: Mapping[str, str] = {
    "entities": "entities",
    "queries": "queries",
    "processes": "processes",
    "optionsets": "optionSets",
}
_MAKERS: Mapping[str, Callable[[Schema, Sequence[Part]], Any]] = {
    "entities": Schema._entity,
    "queries": Schema._query,
    "processes": Schema._process,
    "optionsets": Schema._option_set,
}
# What was rendered for some readers, by what it was made of.
RENDERED = DocumentCache()


def _has_key(part: Part, entity: str, key: str) -> bool:
    """Whether a part is the operation with this key, such as `create` or `upload.contract`, of the entry
    `entity`.
    """
    is_own = part["place"] == "operations" or bool(part["fields"])
    return is_own and operation_of(part) == key and f"{part['module']}.{part['segment']}" == entity


def _has_name(part: Part, entity: str, name: str) -> bool:
    """Whether a part is the action or file called `name` of the entry `entity`."""
    # An upload and a download may have the same name. Only the upload has fields, and is meant.
    return part["place"] != "operations" and bool(part["fields"]) and name_of(part) == f"{entity}.{name}"


def _kinds_of_every_entity() -> Iterator[str]:
    """Yield the names of the kinds that every entity is listed with, whether it has such an endpoint or not.

    These are the kinds that an entity has at most once, such as a read: their path has the entity's segment
    and no name of their own.
    """
    for kind in KINDS.values():
        if kind.scope is Scope.ENTITY and not kind.is_named:
            yield kind.name
