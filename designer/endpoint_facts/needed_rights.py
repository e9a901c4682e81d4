"""Which rights to write the service's account needs on the platform, so that the endpoints can do their work.

What they read is not here: whether that may be read is told by reading it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from crmclient.metadata import Attribute, AttributeType, Cascade
from crmclient.optional_abilities import AccessRight
from designer.configuration import Endpoint
from designer.definitions import BindingDefinition, InputDefinition
from designer.kinds.vocabulary import MetadataSource
from designer.types import holds_records


@dataclass(frozen=True, slots=True)
class NeededRight:
    """A right to records of `entity`.

    `is_certain`: all calls need it. If not, only those do that name a record of this entity where other
    entities are possible, too.
    """

    entity: str
    right: AccessRight
    is_certain: bool = True


def needed_rights(endpoint: Endpoint, metadata: MetadataSource, notes: str) -> Iterator[NeededRight]:
    """Yield what an endpoint needs, some of it twice; nothing for one that is not enabled, or not readable.

    `notes` is the entity of notes; empty where the platform has none. What a process needs is not known.
    Raises what `metadata` raises.
    """
    definition = endpoint.definition
    if not definition.enabled or endpoint.problem is not None or endpoint.entity is None:
        return
    kind, settings, entity = endpoint.kind, definition.settings, endpoint.entity.entity
    if settings.creates_records:
        yield NeededRight(entity, AccessRight.CREATE)
    # A `partial` kind updates a record: what a call leaves out stays.
    if kind.partial or (kind.takes_files and not settings.writes_notes):
        yield NeededRight(entity, AccessRight.WRITE)
    if kind.removes_records:
        yield NeededRight(entity, AccessRight.DELETE)
    if settings.reads_notes and notes:
        # The configuration does not name the entity of notes, so it is not among those that are read above.
        yield NeededRight(notes, AccessRight.READ)
    if settings.writes_notes and notes:
        # A note is created before its file is written.
        for right in (AccessRight.CREATE, AccessRight.WRITE, AccessRight.APPEND):
            yield NeededRight(notes, right)
        yield NeededRight(entity, AccessRight.APPEND_TO)
    for tied_entity in settings.tied_entities(entity, metadata):
        # In a many-to-many relationship, both records are appended.
        yield NeededRight(tied_entity, AccessRight.APPEND)
    if kind.writes_records:
        yield from _of_bindings(entity, definition.bindings, metadata)
        yield from _of_attributes(entity, settings.set_without_binding, metadata)
        for input_definition in definition.inputs:
            if holds_records(input_definition.type):
                yield from _of_list(endpoint, entity, input_definition, metadata)


def _of_list(
    endpoint: Endpoint, entity: str, definition: InputDefinition, metadata: MetadataSource
) -> Iterator[NeededRight]:
    """Yield what is needed for the records in an input, which refer to the endpoint's own of `entity`."""
    group = endpoint.definition.settings.record_groups(entity, metadata).get(definition.relationship)
    if group is None:
        return
    yield NeededRight(group.entity, AccessRight.CREATE)
    yield NeededRight(group.entity, AccessRight.APPEND)
    yield NeededRight(entity, AccessRight.APPEND_TO)
    if endpoint.kind.partial:
        yield NeededRight(group.entity, AccessRight.WRITE)
        if any(
            relationship.name == group.name and relationship.on_delete is Cascade.DELETE
            for relationship in metadata.relationships(entity)
        ):
            # What is removed from the list is deleted; elsewhere it is untied, which is a write.
            yield NeededRight(group.entity, AccessRight.DELETE)
    yield from _of_bindings(group.entity, definition.bindings, metadata)


def _of_bindings(
    entity: str, bindings: Iterable[BindingDefinition], metadata: MetadataSource
) -> Iterator[NeededRight]:
    """Yield what is needed to set owners and lookups of records of `entity`."""
    attributes: Mapping[str, Attribute] = metadata.attributes(entity)
    for binding in bindings:
        attribute = attributes.get(binding.attribute)
        if attribute is not None:
            yield from _of_attribute(entity, attribute, _targets(binding, attribute))


def _of_attributes(entity: str, names: Iterable[str], metadata: MetadataSource) -> Iterator[NeededRight]:
    """Yield what is needed to set the owners and lookups among the attributes `names` of `entity`."""
    attributes: Mapping[str, Attribute] = metadata.attributes(entity)
    for attribute in (attributes[name] for name in names if name in attributes):
        yield from _of_attribute(entity, attribute, attribute.targets)


def _of_attribute(entity: str, attribute: Attribute, targets: tuple[str, ...]) -> Iterator[NeededRight]:
    """Yield what is needed to set an owner, or a lookup to records of `targets`; nothing for others."""
    if not attribute.type.is_reference:
        return
    if attribute.type is AttributeType.OWNER:
        yield NeededRight(entity, AccessRight.ASSIGN)
        return
    yield NeededRight(entity, AccessRight.APPEND)
    for target in targets:
        yield NeededRight(target, AccessRight.APPEND_TO, is_certain=len(targets) == 1)


def _targets(binding: BindingDefinition, attribute: Attribute) -> tuple[str, ...]:
    """Return the entities whose records a binding may set a lookup to."""
    if binding.source == "constant" and isinstance(binding.value, dict):
        target = binding.value.get("type")
        if isinstance(target, str):
            return (target,)
    return attribute.targets
