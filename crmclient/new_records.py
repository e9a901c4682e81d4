"""The attributes of a new record that a platform sets itself, as far as it says so."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum

from crmclient.conventions import SystemAttributes
from crmclient.errors import MissingPrivilege, UnknownOptionSet
from crmclient.metadata import Attribute
from crmclient.platform import Platform


class Origin(Enum):
    """The origin of the value of an attribute in a new record."""

    GIVEN = "given"
    # The owner and what follows from it, state and status, who made the record, its id.
    DEFAULT = "default"
    EMPTY = "empty"
    PLATFORM = "platform"


def origin(
    name: str, attributes: Mapping[str, Attribute], given: Collection[str], system: SystemAttributes
) -> Origin:
    """Return where the value of the attribute `name` comes from, when a create sets the attributes in
    `given`.
    """
    attribute = attributes.get(name)
    if name in system.set_with_owner:
        # The owner settles it, given or not.
        is_owned = system.owner in system.set_to_caller or system.owner in given
        return Origin.DEFAULT if is_owned else Origin.EMPTY
    if name in system.life | system.set_to_caller or (attribute is not None and attribute.is_primary_id):
        return Origin.GIVEN if name in given else Origin.DEFAULT
    # Given or not: the platform makes it of the others.
    if name in system.composed_of(given):
        return Origin.PLATFORM
    if name in given:
        return Origin.GIVEN
    if attribute is None or not attribute.creatable:
        return Origin.PLATFORM
    return Origin.PLATFORM if _is_filled(attribute, system) else Origin.EMPTY


def _is_filled(attribute: Attribute, system: SystemAttributes) -> bool:
    """Whether the platform gives the attribute a default that the metadata do not tell."""
    return attribute.logical_name in system.filled or attribute.type in system.filled_types


def first_state(entity: str, platform: Platform) -> int | None:
    """Return the state that new records of `entity` have; None for an entity without states.

    Raises MissingPrivilege where that may not be read.
    """
    system = platform.conventions.of(entity)
    if system.state is None or system.state not in platform.attributes(entity):
        return None
    try:
        options = platform.option_set(system.state, entity=entity).options
    except UnknownOptionSet:
        return None
    except MissingPrivilege:
        if system.first_state is None:
            raise
        return system.first_state
    return options[0].value if options else None
