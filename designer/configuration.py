"""The configuration at one revision, as the runtime, readiness and documents read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from designer.definitions import (
    EndpointDefinition,
    ExposedEntityDefinition,
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
        """The path, with `{id}` where a record's id stands, and `{relatedId}` where a related one's does."""
        definition = self.definition
        return self.kind.path_of(module=definition.module, segment=self.segment, name=definition.name)

    @property
    def item_path(self) -> str | None:
        """The path of one item of what the endpoint lists."""
        item = self.definition.settings.item
        return f"{self.path}/{{{item}}}" if item else None


def _nothing() -> Mapping[int, Endpoint]:
    return MappingProxyType({})


def _none() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything configured. `endpoints` is keyed by the row's id, which is no part of any definition.

    `unreadable` holds, by a name for the row, why rows without a place of their own were left out.
    """

    revision: Revision
    endpoints: Mapping[int, Endpoint] = field(default_factory=_nothing)
    modules: tuple[ModuleDefinition, ...] = ()
    entities: tuple[ExposedEntityDefinition, ...] = ()
    roles: tuple[RoleDefinition, ...] = ()
    user_properties: tuple[UserPropertyDefinition, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=_none)
