"""What rules look at: one endpoint or user property, with what it depends on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from crmclient.metadata import Attribute, OptionSet
from designer.configuration import Configuration, Endpoint
from designer.definitions import (
    BindingDefinition,
    ColumnDefinition,
    EndpointDefinition,
    InputDefinition,
    UserPropertyDefinition,
)
from designer.kinds import Section
from designer.kinds.vocabulary import Vocabulary
from designer.readiness.metadata import Metadata


class Surroundings:
    """The configuration, indexed once for all of its endpoints, and the platform's metadata."""

    def __init__(self, configuration: Configuration, metadata: Metadata) -> None:
        self.configuration = configuration
        self.metadata = metadata

    @cached_property
    def roles(self) -> frozenset[str]:
        return frozenset(role.name for role in self.configuration.roles)

    @cached_property
    def user_properties(self) -> Mapping[str, UserPropertyDefinition]:
        return {known.name: known for known in self.configuration.user_properties}

    @cached_property
    def modules(self) -> frozenset[str]:
        return frozenset(module.segment for module in self.configuration.modules)

    @cached_property
    def by_path(self) -> Mapping[tuple[str, str], list[int]]:
        """The enabled endpoints at a method and path, by row id."""
        found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for id, endpoint in self.configuration.endpoints.items():
            if endpoint.definition.enabled:
                for method in endpoint.methods:
                    found[method, endpoint.path].append(id)
        return found


@dataclass(frozen=True)
class EndpointSubject:
    """One endpoint. `id` is its row's."""

    id: int
    endpoint: Endpoint
    surroundings: Surroundings

    @property
    def definition(self) -> EndpointDefinition:
        return self.endpoint.definition

    @property
    def metadata(self) -> Metadata:
        return self.surroundings.metadata

    @property
    def entity(self) -> str:
        """The logical name of the exposed entity; empty where the kind has none, or none is chosen."""
        return self.endpoint.entity.entity if self.endpoint.entity else ""

    @property
    def inputs(self) -> tuple[InputDefinition, ...]:
        return self.definition.inputs if Section.INPUTS in self.endpoint.kind.sections else ()

    @property
    def bindings(self) -> tuple[BindingDefinition, ...]:
        return self.definition.bindings if Section.BINDINGS in self.endpoint.kind.sections else ()

    @property
    def columns(self) -> tuple[ColumnDefinition, ...]:
        return self.definition.columns if Section.COLUMNS in self.endpoint.kind.sections else ()

    @cached_property
    def vocabulary(self) -> Vocabulary | None:
        return self.definition.settings.vocabulary(self.entity, self.metadata)

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        """What bindings may set; nothing while that is not known."""
        return self.vocabulary.written if self.vocabulary else {}

    @cached_property
    def input_names(self) -> frozenset[str]:
        return frozenset(known.name for known in self.inputs)

    def bound(self, name: str) -> Attribute | None:
        """The attribute that input `name` is first bound to."""
        for binding in self.bindings:
            if binding.source == "input" and binding.value == name:
                return self.attributes.get(binding.attribute)
        return None

    def options(self, attribute: Attribute | None) -> OptionSet | None:
        """The option set of a choice attribute."""
        if attribute is None or attribute.option_set is None:
            return None
        return self.metadata.option_set(attribute.logical_name, self.entity)


@dataclass(frozen=True)
class UserPropertySubject:
    definition: UserPropertyDefinition
    surroundings: Surroundings

    @property
    def metadata(self) -> Metadata:
        return self.surroundings.metadata
