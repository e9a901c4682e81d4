"""The configuration at one revision, as the runtime, readiness and documents read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from designer.definitions import (
    CALLER_TYPES,
    CallerTypeDefinition,
    EndpointDefinition,
    ExposedEntityDefinition,
    IssuerDefinition,
    ModuleDefinition,
    RoleDefinition,
    UserPropertyDefinition,
)
from designer.kinds import KINDS, OperationKind


@dataclass(frozen=True, slots=True)
class Revision:
    """A number that only grows, and a token that no other state of the configuration shares."""

    number: int
    token: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A definition with the exposed entity it belongs to: all that serving it needs.

    `exposures` are all exposed entities of its module. `problem`: its rows make no definition, and why;
    `definition` then says only where it stands.
    """

    definition: EndpointDefinition
    entity: ExposedEntityDefinition | None = None
    problem: str | None = None
    exposures: tuple[ExposedEntityDefinition, ...] = ()

    @property
    def kind(self) -> OperationKind:
        return KINDS[self.definition.kind]

    @property
    def segment(self) -> str:
        return self.definition.segment or (self.entity.segment if self.entity else "")

    @property
    def methods(self) -> tuple[str, ...]:
        """The HTTP methods that it takes, in upper case."""
        return self.definition.settings.methods(self.kind.methods)

    @property
    def path(self) -> str:
        """The path, with `{id}` where a record's id stands, `{relatedId}` where a related one's does, and
        `{value}` where the value of a key does."""
        definition = self.definition
        return self.kind.path_of(module=definition.module, segment=self.segment, name=definition.name)

    def without_defaults(self) -> Endpoint:
        """The same where what a call leaves out stays as it is, so that a default would mean nothing."""
        inputs = tuple(known.model_copy(update={"default": None}) for known in self.definition.inputs)
        return replace(self, definition=self.definition.model_copy(update={"inputs": inputs}))

    @property
    def item_path(self) -> str | None:
        """The path of one item of what the endpoint lists."""
        item = self.definition.settings.item
        return f"{self.path}/{{{item}}}" if item else None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What endpoints know of the exposed entities beside them."""

    by_place: Mapping[tuple[str, str], ExposedEntityDefinition]
    by_module: Mapping[str, tuple[ExposedEntityDefinition, ...]]

    @classmethod
    def of(
        cls, exposed: Iterable[ExposedEntityDefinition], closed: Iterable[ExposedEntityDefinition]
    ) -> Surroundings:
        exposed = tuple(exposed)
        by_module: dict[str, tuple[ExposedEntityDefinition, ...]] = {}
        for entity in (*exposed, *closed):
            by_module[entity.module] = (*by_module.get(entity.module, ()), entity)
        return cls({(entity.module, entity.segment): entity for entity in exposed}, by_module)

    def entity(self, module: str, segment: str) -> ExposedEntityDefinition | None:
        return self.by_place.get((module, segment))

    def exposures(self, module: str) -> tuple[ExposedEntityDefinition, ...]:
        return self.by_module.get(module, ())


@dataclass(frozen=True, slots=True)
class Protection:
    """What is served of `group`, a module's segment, changes by a proposal alone; empty: of everything.

    `needs_approval`: by one that somebody else than its author has approved.
    """

    group: str
    needs_approval: bool = False


@dataclass(frozen=True, slots=True)
class RowIds:
    """What endpoints name, by the ids of rows: only these tell what has another name now."""

    modules: Mapping[int, ModuleDefinition]
    entities: Mapping[int, ExposedEntityDefinition]
    roles: Mapping[int, RoleDefinition]


def _nothing() -> Mapping[int, Endpoint]:
    return MappingProxyType({})


def _none() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything configured. `endpoints` is keyed by the row's id, which is no part of any definition.

    `unreadable` holds, by a name for the row, why rows without a place of their own were left out.
    `closed_entities` stand, for queries of their modules alone, in the place of exposed entities among these.
    `protections` are this system's: no document has them.
    """

    revision: Revision
    endpoints: Mapping[int, Endpoint] = field(default_factory=_nothing)
    modules: tuple[ModuleDefinition, ...] = ()
    entities: tuple[ExposedEntityDefinition, ...] = ()
    closed_entities: tuple[ExposedEntityDefinition, ...] = ()
    roles: tuple[RoleDefinition, ...] = ()
    caller_types: tuple[CallerTypeDefinition, ...] = CALLER_TYPES
    issuers: tuple[IssuerDefinition, ...] = ()
    user_properties: tuple[UserPropertyDefinition, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=_none)
    protections: tuple[Protection, ...] = ()
    ids: RowIds | None = None

    def languages(self) -> frozenset[int]:
        """The languages in which something that API consumers read has a text beside its own."""
        of_endpoints = (endpoint.definition.languages() for endpoint in self.endpoints.values())
        return frozenset[int]().union(*of_endpoints, *(module.languages() for module in self.modules))
