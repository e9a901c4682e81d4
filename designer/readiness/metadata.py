"""The platform's metadata for rules and pickers. An unknown name gives None or nothing, and no error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crmclient import KeepsMetadata, Platform
from crmclient.errors import (
    MetadataPending,
    MissingPrivilege,
    PlatformError,
    UnknownEntity,
    UnknownOptionSet,
)
from crmclient.metadata import Attribute, Entity, OptionSet, Process, Relationship, SecurityRole
from crmclient.metadata_parts import PROCESSES


class MetadataUnavailable(Exception):
    """The platform does not give its metadata.

    `error` is what the platform gave instead. `privilege` is the privilege that the service's account lacks;
    None where the platform does not answer. `is_pending`: it is being fetched, and is there in a moment.
    """

    def __init__(self, error: PlatformError) -> None:
        super().__init__(str(error))
        self.error = error
        self.privilege = error.privilege if isinstance(error, MissingPrivilege) else None
        self.is_pending = isinstance(error, MetadataPending)


class Metadata:
    """Asks the platform once for each thing.

    Raises MetadataUnavailable where the platform gives no answer.
    """

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.conventions = platform.conventions
        self._entities: Mapping[str, Entity] | None = None
        self._attributes: dict[str, Mapping[str, Attribute]] = {}
        self._option_sets: dict[tuple[str, str | None], OptionSet | None] = {}
        self._processes: Mapping[str, Process] | None = None
        self._relationships: dict[str, Sequence[Relationship]] = {}

    def entities(self) -> Mapping[str, Entity]:
        """Return the entities of the platform by logical name."""
        if self._entities is None:
            try:
                self._entities = self._platform.entities()
            except PlatformError as error:
                raise MetadataUnavailable(error) from error
        return self._entities

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        """Return the attributes of an entity by logical name; empty for an unknown entity."""
        if entity not in self._attributes:
            try:
                self._attributes[entity] = self._platform.attributes(entity)
            except UnknownEntity:
                self._attributes[entity] = {}
            except PlatformError as error:
                raise MetadataUnavailable(error) from error
        return self._attributes[entity]

    def known_attributes(self, entity: str) -> Mapping[str, Attribute]:
        """Return the attributes of an entity, as `attributes` does.

        Raises UnknownEntity for an unknown entity.
        """
        attributes = self.attributes(entity)
        if not attributes:
            raise UnknownEntity(entity)
        return attributes

    def option_set(self, name: str, entity: str | None = None) -> OptionSet | None:
        """Return a global option set, or that of the choice attribute `name` of `entity`; None for an unknown
        one.
        """
        key = (name, entity)
        if key not in self._option_sets:
            try:
                self._option_sets[key] = self._platform.option_set(name, entity=entity)
            except (UnknownOptionSet, UnknownEntity):
                self._option_sets[key] = None
            except PlatformError as error:
                raise MetadataUnavailable(error) from error
        return self._option_sets[key]

    def option_sets(self) -> Mapping[str, OptionSet]:
        """Return the global option sets of the platform by name."""
        try:
            return self._platform.option_sets()
        except PlatformError as error:
            raise MetadataUnavailable(error) from error

    def processes(self) -> Mapping[str, Process]:
        """Return the processes that actions can run, by name."""
        if self._processes is None:
            try:
                self._processes = self._platform.processes()
            except PlatformError as error:
                raise MetadataUnavailable(error) from error
        return self._processes

    def process(self, name: str) -> Process | None:
        """Return the process called `name`; None for an unknown one.

        Raises MetadataUnavailable where the service's account may not read processes, so that they seem not
        to exist.
        """
        platform_process = self.processes().get(name)
        if platform_process is None and isinstance(self._platform, KeepsMetadata):
            missing = self._platform.missing_privileges()
            if PROCESSES in missing:
                raise MetadataUnavailable(MissingPrivilege(missing[PROCESSES]))
        return platform_process

    @property
    def entities_asked_for(self) -> frozenset[str]:
        """The entities whose attributes or relationships somebody has asked for."""
        return frozenset(self._attributes) | frozenset(self._relationships)

    @property
    def users_entity(self) -> str:
        """The entity of the platform's users; empty where the platform has no users."""
        return self.conventions.users.entity if self.conventions.users else ""

    def related_to(self, entity: str, relationship: Relationship) -> str:
        """Return the entity at the other end of a relationship of `entity`.

        For a relationship of an entity with itself, that is the same entity.
        """
        return relationship.referenced if relationship.referencing == entity else relationship.referencing

    def relationships(self, entity: str) -> Sequence[Relationship]:
        """Return the relationships of an entity; empty for an unknown entity."""
        if entity not in self._relationships:
            try:
                self._relationships[entity] = self._platform.relationships(entity)
            except UnknownEntity:
                self._relationships[entity] = ()
            except PlatformError as error:
                raise MetadataUnavailable(error) from error
        return self._relationships[entity]

    def languages(self) -> Sequence[int]:
        """Return the LCIDs of the platform's languages, the base language first; none where they are not
        known.
        """
        try:
            return self._platform.languages()
        except PlatformError as error:
            raise MetadataUnavailable(error) from error

    def security_roles(self) -> Sequence[SecurityRole]:
        """Return the security roles of the platform."""
        try:
            return self._platform.security_roles()
        except PlatformError as error:
            raise MetadataUnavailable(error) from error
