"""What a fragment stands for: a definition, the platform's metadata, and the program that describes it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import orjson
from django.conf import settings
from pydantic import BaseModel

from designer.configuration import Endpoint
from runtime.describe.own_routes import OWN_ROUTES
from runtime.serving.served import Served

_ROOT = Path(__file__).resolve().parents[2]
_SOURCES = ("crmclient", "designer", "runtime")
_LIBRARIES = ("drf-spectacular", "pydantic")


class Digests:
    """Digests by endpoint. What was digested once is known again as long as it is the same object."""

    def __init__(self) -> None:
        self._known: dict[int | str, tuple[object, bytes]] = {}

    def of(self, served: Served, id: int) -> str:
        """The digest of an endpoint, or of one of `OWN_ROUTES`, in hexadecimal."""
        own = self._of_own_routes(served, id) if id in OWN_ROUTES else self._of_endpoint(served, id)
        return hashlib.sha256(own + served.metadata.encode() + program()).hexdigest()

    def _of_own_routes(self, served: Served, id: int) -> bytes:
        properties = served.configuration.user_properties
        is_private = settings.PORTICO["PRIVATE_DESCRIPTIONS"]
        return self._once(id, properties, lambda: _digest(properties, f"{id} {is_private}"))

    def _of_endpoint(self, served: Served, id: int) -> bytes:
        endpoint = served.configuration.endpoints[id]
        return self._once(
            id,
            endpoint,
            lambda: _digest([endpoint.definition], f"{endpoint.problem} {self._of_entity(endpoint).hex()}"),
        )

    def _of_entity(self, endpoint: Endpoint) -> bytes:
        """Many endpoints have the same one."""
        entity = endpoint.entity
        return b"" if entity is None else self._once(entity.key, entity, lambda: _digest([entity], ""))

    def _once(self, key: int | str, subject: object, make: Callable[[], bytes]) -> bytes:
        known = self._known.get(key)
        if known is None or known[0] is not subject:
            known = self._known[key] = (subject, make())
        return known[1]


def _digest(definitions: Iterable[BaseModel], more: str) -> bytes:
    values = [definition.model_dump(warnings=False) for definition in definitions]
    return hashlib.sha256(orjson.dumps([values, more], default=str)).digest()


@cache
def program() -> bytes:
    """Another release describes the same definition otherwise: the digest of its source."""
    found = hashlib.sha256()
    for library in _LIBRARIES:
        found.update(version(library).encode())
    for package in _SOURCES:
        for path in sorted((_ROOT / package).rglob("*.py")):
            found.update(path.read_bytes())
    return found.digest()
