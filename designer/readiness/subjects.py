"""What rules look at: one endpoint or user property, with what it depends on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crmclient.metadata import Attribute, OptionSet
from designer.configuration import Configuration, Endpoint
from designer.definitions import (
    BindingDefinition,
    CallerTypeDefinition,
    ColumnDefinition,
    EndpointDefinition,
    InputDefinition,
    IssuerDefinition,
    UserPropertyDefinition,
)
from designer.kinds import Section
from designer.kinds.vocabulary import Vocabulary
from designer.names import USER_TYPE
from designer.reach import ruled_entities
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
    def caller_types(self) -> Mapping[str, CallerTypeDefinition]:
        return {known.name: known for known in self.configuration.caller_types}

    @cached_property
    def user_properties(self) -> Mapping[str, UserPropertyDefinition]:
        """By name; where several types have one of the name, that of the type `user` goes before."""
        ordered = sorted(self.configuration.user_properties, key=lambda known: known.caller_type == USER_TYPE)
        return {known.name: known for known in ordered}

    @cached_property
    def properties_by_type(self) -> Mapping[str, Mapping[str, UserPropertyDefinition]]:
        found: defaultdict[str, dict[str, UserPropertyDefinition]] = defaultdict(dict)
        for known in self.configuration.user_properties:
            found[known.caller_type][known.name] = known
        return found

    @cached_property
    def samples_of_callers(self) -> dict[frozenset[str], Mapping[str, Any]]:
        """What expressions see of callers, by the admitted caller types; filled as it is asked for."""
        return {}

    def entity_of(self, caller_type: str) -> str:
        """The entity of the records of a caller type; empty where its callers have none."""
        known = self.caller_types.get(caller_type)
        return known.records(self.metadata.users) if known else ""

    def attribute_of(self, known: UserPropertyDefinition) -> Attribute | None:
        """What a field property reads; None for others, and for what is not there."""
        entity = self.entity_of(known.caller_type) if known.kind == "field" else ""
        return self.metadata.attributes(entity).get(known.attribute) if entity else None

    @cached_property
    def ruled_entities(self) -> frozenset[str]:
        return ruled_entities(self.configuration)

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
    def user_properties(self) -> Mapping[str, UserPropertyDefinition]:
        """By name. Where several types have one of the name, that of a type which the endpoint admits."""
        found = dict(self.surroundings.user_properties)
        for type in self.definition.access.caller_types:
            found |= self.surroundings.properties_by_type.get(type, {})
        return found

    @cached_property
    def admitted_properties(self) -> frozenset[str]:
        """The names that callers of at least one admitted type have."""
        of_type = self.surroundings.properties_by_type
        return frozenset(
            name for type in self.definition.access.caller_types for name in of_type.get(type, ())
        )

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

    @cached_property
    def set_by_path(self) -> frozenset[str]:
        """The attributes that a new record has from the path."""
        known = self.metadata.entities().get(self.entity)
        keys = known.keys if known is not None and self.definition.settings.creates_records else ()
        name = self.definition.settings.key_name
        return frozenset(one for key in keys if key.name == name for one in key.attributes)

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
    def caller_type(self) -> CallerTypeDefinition | None:
        return self.surroundings.caller_types.get(self.definition.caller_type)

    @property
    def entity(self) -> str:
        """The entity of its callers' records; empty where they have none, or the platform has no users."""
        return self.surroundings.entity_of(self.definition.caller_type)

    @property
    def metadata(self) -> Metadata:
        return self.surroundings.metadata


@dataclass(frozen=True)
class IssuerSubject:
    definition: IssuerDefinition
    surroundings: Surroundings

    @property
    def metadata(self) -> Metadata:
        return self.surroundings.metadata

    @property
    def caller_type(self) -> CallerTypeDefinition | None:
        """The type of its callers; None where there is none of that name."""
        types = self.surroundings.configuration.caller_types
        return next((known for known in types if known.name == self.definition.record.type), None)

    @property
    def entity(self) -> str:
        """The entity of its callers' records; empty where they have none."""
        return self.caller_type.records(self.metadata.users) if self.caller_type else ""

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """Those of its callers' records; none while they are not known."""
        return self.metadata.attributes(self.entity) if self.entity else {}
