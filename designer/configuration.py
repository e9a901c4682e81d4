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
    """A definition with the exposed entity it belongs to: all that serving the endpoint needs.

    `exposures` are all exposed entities of its module. `problem` says why its rows make no definition, and is
    None when they do; with a problem, `definition` says only where the endpoint stands.
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
        """The segment of the endpoint: its own, else that of its exposed entity; empty without both."""
        return self.definition.segment or (self.entity.segment if self.entity else "")

    @property
    def methods(self) -> tuple[str, ...]:
        """The HTTP methods that it takes, in upper case."""
        return self.definition.settings.methods(self.kind.methods)

    @property
    def path(self) -> str:
        """Return the path, with `{id}` for the id of a record, `{relatedId}` for that of a related one, and
        `{value}` for the value of a key.
        """
        definition = self.definition
        return self.kind.path_of(module=definition.module, segment=self.segment, name=definition.name)

    @property
    def methods_and_path(self) -> str:
        """Return the address as callers know it, such as `POST /api/sales/accounts`."""
        return f"{', '.join(self.methods)} {self.path}"

    def without_defaults(self) -> Endpoint:
        """Return the endpoint without the defaults of its inputs, for calls that keep what they leave out.

        Inputs of the items of lists keep theirs, for the records that such a call adds.
        """
        inputs = tuple(
            input_definition.model_copy(update={"default": None})
            for input_definition in self.definition.inputs
        )
        return replace(self, definition=self.definition.model_copy(update={"inputs": inputs}))

    @property
    def item_path(self) -> str | None:
        """Return the path of one item that the endpoint lists; None when it has no paths for items."""
        item = self.definition.settings.item
        return f"{self.path}/{{{item}}}" if item else None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The exposed entities that endpoints may refer to, by their place (module and segment) and by module."""

    by_place: Mapping[tuple[str, str], ExposedEntityDefinition]
    by_module: Mapping[str, tuple[ExposedEntityDefinition, ...]]

    @classmethod
    def of(
        cls, exposed: Iterable[ExposedEntityDefinition], closed: Iterable[ExposedEntityDefinition]
    ) -> Surroundings:
        """Return the surroundings of exposed entities. `closed` ones have no valid definition: nothing can
        refer to them, but they are known to be in their module.
        """
        exposed = tuple(exposed)
        by_module: dict[str, tuple[ExposedEntityDefinition, ...]] = {}
        for entity in (*exposed, *closed):
            by_module[entity.module] = (*by_module.get(entity.module, ()), entity)
        return cls({(entity.module, entity.segment): entity for entity in exposed}, by_module)

    def entity(self, module: str, segment: str) -> ExposedEntityDefinition | None:
        """Return the exposed entity at a place; None when there is none, or its row cannot be read."""
        return self.by_place.get((module, segment))

    def exposures(self, module: str) -> tuple[ExposedEntityDefinition, ...]:
        """Return all exposed entities of a module, those that cannot be read included."""
        return self.by_module.get(module, ())


@dataclass(frozen=True, slots=True)
class Protection:
    """What `group` serves changes only by a proposal.

    `group` is the segment of a module; empty: everything. `needs_approval`: somebody else than its author has
    to approve the proposal.
    """

    group: str
    needs_approval: bool = False


@dataclass(frozen=True, slots=True)
class RowIds:
    """The items that endpoints name, by row id: only ids tell that an item has been renamed."""

    modules: Mapping[int, ModuleDefinition]
    entities: Mapping[int, ExposedEntityDefinition]
    roles: Mapping[int, RoleDefinition]


def _no_endpoints() -> Mapping[int, Endpoint]:
    return MappingProxyType({})


def _no_reasons() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything configured. `endpoints` is keyed by the row's id, which is no part of any definition.

    `unreadable` holds, by a name for the row, why rows without a place of their own were left out.
    `closed_entities` stand, for queries of their modules alone, in the place of exposed entities among these.
    `protections` are this system's: no document has them.
    """

    revision: Revision
    endpoints: Mapping[int, Endpoint] = field(default_factory=_no_endpoints)
    modules: tuple[ModuleDefinition, ...] = ()
    entities: tuple[ExposedEntityDefinition, ...] = ()
    closed_entities: tuple[ExposedEntityDefinition, ...] = ()
    roles: tuple[RoleDefinition, ...] = ()
    caller_types: tuple[CallerTypeDefinition, ...] = CALLER_TYPES
    issuers: tuple[IssuerDefinition, ...] = ()
    user_properties: tuple[UserPropertyDefinition, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=_no_reasons)
    protections: tuple[Protection, ...] = ()
    ids: RowIds | None = None

    def languages(self) -> frozenset[int]:
        """Return the languages (LCID) that any text for API consumers is translated to."""
        of_endpoints = (endpoint.definition.languages() for endpoint in self.endpoints.values())
        return frozenset[int]().union(*of_endpoints, *(module.languages() for module in self.modules))
