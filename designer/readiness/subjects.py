"""The subjects of rules: one endpoint, user property or issuer, with what it depends on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crmclient.errors import InvalidQuery
from crmclient.metadata import Attribute, OptionSet
from crmclient.query.designed import DesignedFilter
from crmclient.query.resolving.prepared_queries import Needs
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
from designer.endpoint_facts.bound_attributes import bound_attributes, bound_options
from designer.endpoint_facts.reached_entities import ruled_entities
from designer.kinds import Section
from designer.kinds.vocabulary import Vocabulary
from designer.names import OWN_RECORD, USER_TYPE
from designer.readiness.metadata import Metadata


class Surroundings:
    """The configuration, indexed once for all of its endpoints, and the metadata of the platform."""

    def __init__(self, configuration: Configuration, metadata: Metadata) -> None:
        self.configuration = configuration
        self.metadata = metadata

    @cached_property
    def roles(self) -> frozenset[str]:
        """The names of the roles."""
        return frozenset(role.name for role in self.configuration.roles)

    @cached_property
    def caller_types(self) -> Mapping[str, CallerTypeDefinition]:
        """The caller types by name."""
        return {caller_type.name: caller_type for caller_type in self.configuration.caller_types}

    @cached_property
    def user_properties(self) -> Mapping[str, UserPropertyDefinition]:
        """The user properties by name.

        Where several types have one of a name, that of the type `user` counts.
        """
        ordered = sorted(
            self.configuration.user_properties,
            # The last one of a name is kept, and True comes after False.
            key=lambda user_property: user_property.caller_type == USER_TYPE,
        )
        return {user_property.name: user_property for user_property in ordered}

    @cached_property
    def properties_by_type(self) -> Mapping[str, Mapping[str, UserPropertyDefinition]]:
        """The user properties by name, for each caller type that has some. Another caller type gives none."""
        by_type: defaultdict[str, dict[str, UserPropertyDefinition]] = defaultdict(dict)
        for user_property in self.configuration.user_properties:
            by_type[user_property.caller_type][user_property.name] = user_property
        return by_type

    def properties_of_type(self, caller_type: str) -> frozenset[str]:
        """The names of what `@user.…` reads of the record of such callers: their user properties, and the id
        of the record.
        """
        definition = self.caller_types.get(caller_type)
        own_record = {OWN_RECORD} if definition is not None and definition.has_records else set()
        return frozenset(own_record | self.properties_by_type.get(caller_type, {}).keys())

    @cached_property
    def samples_of_callers(self) -> dict[frozenset[str], Mapping[str, Any]]:
        """Samples of callers by the admitted caller types. They are added when they are first needed."""
        return {}

    @cached_property
    def prepared_row_rules(self) -> dict[tuple[int, str], tuple[DesignedFilter, Needs | InvalidQuery]]:
        """Return what filters of row rules need, or why they are wrong, by the filter's identity and its
        entity.

        The entries are added when they are first needed.
        """
        return {}

    def entity_of(self, caller_type: str) -> str:
        """Return the entity of the records of a caller type; empty where its callers have none."""
        definition = self.caller_types.get(caller_type)
        return definition.records(self.metadata.users_entity) if definition else ""

    def attribute_of(self, user_property: UserPropertyDefinition) -> Attribute | None:
        """Return the attribute that a field property reads; None for other properties, and for an unknown
        attribute.
        """
        entity = self.entity_of(user_property.caller_type) if user_property.kind == "field" else ""
        return self.metadata.attributes(entity).get(user_property.attribute) if entity else None

    @cached_property
    def ruled_entities(self) -> frozenset[str]:
        """The logical names of the entities that have a row rule in any module."""
        return ruled_entities(self.configuration)

    @cached_property
    def modules(self) -> frozenset[str]:
        """The segments of the modules."""
        return frozenset(module.segment for module in self.configuration.modules)

    @cached_property
    def by_path(self) -> Mapping[tuple[str, str], list[int]]:
        """The row ids of the enabled endpoints at a method and path."""
        ids_by_path: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for id, endpoint in self.configuration.endpoints.items():
            if endpoint.definition.enabled:
                for method in endpoint.methods:
                    ids_by_path[method, endpoint.path].append(id)
        return ids_by_path


@dataclass(frozen=True)
class EndpointSubject:
    """An endpoint to check. `id` is the id of its row."""

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
    def lacks_entity(self) -> bool:
        """Whether the platform does not have the exposed entity. The rule “entity-unknown” says so, and
        nothing that the entity would have is missing besides.
        """
        return bool(self.entity) and self.entity not in self.metadata.entities()

    @property
    def inputs(self) -> tuple[InputDefinition, ...]:
        """The inputs of the endpoint; none for a kind without inputs, whatever its definition says."""
        return self.definition.inputs if Section.INPUTS in self.endpoint.kind.sections else ()

    @property
    def bindings(self) -> tuple[BindingDefinition, ...]:
        """The bindings of the endpoint; none for a kind without bindings, whatever its definition says."""
        return self.definition.bindings if Section.BINDINGS in self.endpoint.kind.sections else ()

    @property
    def columns(self) -> tuple[ColumnDefinition, ...]:
        """The columns of the endpoint; none for a kind without columns, whatever its definition says."""
        return self.definition.columns if Section.COLUMNS in self.endpoint.kind.sections else ()

    @cached_property
    def user_properties(self) -> Mapping[str, UserPropertyDefinition]:
        """The user properties by name.

        Where several types have one of a name, that of an admitted type counts.
        """
        by_name = dict(self.surroundings.user_properties)
        for type in self.definition.access.caller_types:
            by_name |= self.surroundings.properties_by_type.get(type, {})
        return by_name

    @cached_property
    def admitted_properties(self) -> frozenset[str]:
        """The names of user properties that callers of at least one admitted type have."""
        return frozenset(
            name
            for type in self.definition.access.caller_types
            for name in self.surroundings.properties_of_type(type)
        )

    @cached_property
    def vocabulary(self) -> Vocabulary | None:
        """The attributes that the endpoint may read and write; None while they are not known."""
        return self.definition.settings.vocabulary(self.entity, self.metadata)

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes that bindings may set; none while they are not known."""
        return self.vocabulary.written if self.vocabulary else {}

    @cached_property
    def input_names(self) -> frozenset[str]:
        """The names of the inputs, without those of the items of lists."""
        return frozenset(input_definition.name for input_definition in self.inputs)

    @cached_property
    def set_without_binding(self) -> frozenset[str]:
        """The attributes that calls set in a new record without a binding: those of the alternate key in the
        path, and those that the kind's settings name.
        """
        entity = self.metadata.entities().get(self.entity)
        keys = entity.keys if entity is not None and self.definition.settings.creates_records else ()
        name = self.definition.settings.key_name
        in_path = (attribute for key in keys if key.name == name for attribute in key.attributes)
        return self.definition.settings.set_without_binding.union(in_path)

    def attribute_limiting(self, name: str) -> Attribute | None:
        """Return the attribute whose limits apply to the input `name`; None where it is bound to none."""
        return self._bound_attributes.get(name)

    def options_limiting(self, name: str) -> OptionSet | None:
        """Return the options that the input `name` may have; None where it is bound to no choice."""
        return self._bound_options.get(name)

    def attributes_set_by(self, name: str) -> list[Attribute]:
        """Return all attributes that the input `name` is bound to."""
        return [
            self.attributes[binding.attribute]
            for binding in self.bindings
            if binding.source == "input" and binding.value == name and binding.attribute in self.attributes
        ]

    @cached_property
    def _bound_attributes(self) -> Mapping[str, Attribute]:
        """The attribute whose limits apply to each input, by the name of the input."""
        return bound_attributes(self.bindings, self.attributes)

    @cached_property
    def _bound_options(self) -> Mapping[str, OptionSet]:
        """The options that each input may have that is bound to a choice, by the name of the input."""
        return bound_options(self.bindings, self.attributes, self.options)

    def options(self, attribute: Attribute | None) -> OptionSet | None:
        """Return the option set of a choice attribute; None for other attributes."""
        if attribute is None or attribute.option_set is None:
            return None
        return self.metadata.option_set(attribute.logical_name, self.entity)


@dataclass(frozen=True)
class UserPropertySubject:
    """A user property for the rules that judge it, with what surrounds it."""

    definition: UserPropertyDefinition
    surroundings: Surroundings

    @property
    def caller_type(self) -> CallerTypeDefinition | None:
        """The caller type that has the property; None where there is no type of that name."""
        return self.surroundings.caller_types.get(self.definition.caller_type)

    @property
    def entity(self) -> str:
        """The entity of the records of callers who have the property.

        Empty where they have none, or the platform has no users.
        """
        return self.surroundings.entity_of(self.definition.caller_type)

    @property
    def metadata(self) -> Metadata:
        return self.surroundings.metadata


@dataclass(frozen=True)
class IssuerSubject:
    """An issuer for the rules that judge it, with what surrounds it."""

    definition: IssuerDefinition
    surroundings: Surroundings

    @property
    def metadata(self) -> Metadata:
        return self.surroundings.metadata

    @property
    def caller_type(self) -> CallerTypeDefinition | None:
        """The type of the issuer's callers; None where there is no type of that name."""
        types = self.surroundings.configuration.caller_types
        return next((candidate for candidate in types if candidate.name == self.definition.record.type), None)

    @property
    def entity(self) -> str:
        """The entity of the records of the issuer's callers; empty where they have none."""
        return self.caller_type.records(self.metadata.users_entity) if self.caller_type else ""

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes of the records of the issuer's callers; none while they are not known."""
        return self.metadata.attributes(self.entity) if self.entity else {}
