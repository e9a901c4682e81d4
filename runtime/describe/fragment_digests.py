"""Digests of what fragments are made of: they tell which fragments have to be made again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from django.conf import settings
from pydantic import BaseModel

from crmclient.extensions import offered
from designer.configuration import Endpoint
from designer.definitions import ExposedEntityDefinition
from designer.endpoint_facts.reached_entities import exposures_read
from runtime.describe.own_routes import OWN_ROUTES
from runtime.serving.served import Served

# The platform is told apart by its metadata's revision, so that `crmbox` and `project` make no description.
_ROOT = Path(__file__).resolve().parents[2]
_SOURCES = ("crmclient", "designer", "runtime")
_LIBRARIES = ("drf-spectacular", "pydantic")
# The settings that descriptions depend on.
_SETTINGS = ("PRIVATE_DESCRIPTIONS", "UPLOAD_LIMIT")


class Digests:
    """Computes the digests of endpoints. A digest is used again while the endpoint is the same object."""

    def __init__(self) -> None:
        # By the id of an endpoint, or the key of an exposed entity: the object that the digest is of, and the
        # digest.
        self._digests: dict[int | str, tuple[object, bytes]] = {}

    def of(self, served: Served, id: int) -> str:
        """Return the digest of an endpoint, or of one of `OWN_ROUTES`, in hexadecimal."""
        own_bytes = self._of_own_routes(served, id) if id in OWN_ROUTES else self._of_endpoint(served, id)
        return hashlib.sha256(own_bytes + served.metadata.encode() + program_digest()).hexdigest()

    def _of_own_routes(self, served: Served, id: int) -> bytes:
        """Return the digest of what the API's own routes are described from."""
        definitions = [*served.configuration.caller_types, *served.configuration.user_properties]
        # Made anew whenever any of these changes.
        return self._cached_while_same(id, served.user_context, lambda: _digest(definitions, str(id)))

    def _of_endpoint(self, served: Served, id: int) -> bytes:
        """Return the digest of what an endpoint is described from: its definition, its problem and its
        entities.
        """
        endpoint = served.configuration.endpoints[id]
        return self._cached_while_same(
            id,
            endpoint,
            lambda: _digest([endpoint.definition], f"{endpoint.problem} {self._of_entities(endpoint).hex()}"),
        )

    def _of_entities(self, endpoint: Endpoint) -> bytes:
        """Return the bytes of the endpoint's exposed entity, and of those whose row rules may refuse a call
        or need a data fetcher, such as the entity of a list.
        """
        return b"".join(self._of_entity(exposure) for exposure in exposures_read(endpoint))

    def _of_entity(self, entity: ExposedEntityDefinition) -> bytes:
        """Return the digest of an exposed entity. It is cached: many endpoints have the same entity."""
        return self._cached_while_same(entity.key, entity, lambda: _digest([entity], ""))

    def _cached_while_same(self, key: int | str, subject: object, make: Callable[[], bytes]) -> bytes:
        """Return the cached bytes of `key` while `subject` is the same object, else those that `make` returns
        now.
        """
        entry = self._digests.get(key)
        if entry is None or entry[0] is not subject:
            entry = self._digests[key] = (subject, make())
        return entry[1]


def _digest(definitions: Iterable[BaseModel], more: str) -> bytes:
    """Return the digest of definitions, and of the text `more`."""
    # Not by orjson, which takes no whole number beyond 64 bits: a constant may be one.
    texts = [definition.model_dump_json(warnings=False) for definition in definitions]
    return hashlib.sha256("\n".join((*texts, more)).encode()).digest()


def program_digest() -> bytes:
    """Return a digest of what makes descriptions: another release of the service or of a package that extends
    it, or one with other settings, may describe the same endpoint otherwise.
    """
    values = [settings.PORTICO[name] for name in _SETTINGS]
    return hashlib.sha256(_sources() + repr(values).encode()).digest()


@cache
def _sources() -> bytes:
    """Return a digest of the source, of the libraries' releases, and of packages that extend the service."""
    checksum = hashlib.sha256()
    for library in _LIBRARIES:
        checksum.update(version(library).encode())
    for package in _SOURCES:
        for path in sorted((_ROOT / package).rglob("*.py")):
            checksum.update(path.read_bytes())
    for point in offered():
        release = f"{point.dist.name} {point.dist.version}" if point.dist else ""
        checksum.update(f"{point.group} {point.name} {point.value} {release}".encode())
        checksum.update(_module_source(point.module))
    return checksum.digest()


def _module_source(name: str) -> bytes:
    """Return the source of a package's module, as far as there is one: while somebody works on a package, its
    release does not change.
    """
    try:
        spec = find_spec(name)
    # Looking for a module imports its parents, which may raise anything. Loading the package has said so.
    except Exception:
        return b""
    path = Path(spec.origin) if spec and spec.origin else None
    return path.read_bytes() if path and path.is_file() else b""
