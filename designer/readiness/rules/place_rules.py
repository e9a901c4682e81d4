"""Where an endpoint stands: its module, entity and path."""

from __future__ import annotations

from designer.kinds import Scope
from designer.names import RESERVED_SEGMENTS, is_segment
from designer.readiness.registry import Found, blocking
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


@blocking("module-missing")
def module_is_chosen(subject: EndpointSubject) -> Found:
    """Find that no module is chosen, where the kind needs one."""
    if subject.endpoint.kind.scope is Scope.MODULE and not subject.definition.module:
        yield _("Choose the module that it belongs to."), "module"


@blocking("entity-missing")
def entity_is_chosen(subject: EndpointSubject) -> Found:
    """Find that no exposed entity is chosen, where the kind needs one."""
    if subject.endpoint.kind.scope is Scope.ENTITY and not subject.definition.exposure:
        yield _("Choose the entity that it works on."), "entity"


@blocking("entity-unknown")
def entity_exists(subject: EndpointSubject) -> Found:
    """Find an exposed entity that the platform does not have."""
    if subject.lacks_entity:
        yield _("The platform has no entity “%(entity)s”.", entity=subject.entity), "entity"


@blocking("entity-read-only")
def entity_takes_writes(subject: EndpointSubject) -> Found:
    """Find endpoints that write to an entity whose records cannot be written."""
    entity = subject.metadata.entities().get(subject.entity)
    if entity is not None and entity.is_read_only and subject.endpoint.kind.writes_records:
        yield (
            _(
                "Records of “%(entity)s” can only be read. Choose an entity whose records can be written.",
                entity=subject.entity,
            ),
            "entity",
        )


@blocking("path-segment")
def segments_are_well_formed(subject: EndpointSubject) -> Found:
    """Find parts of the path that are empty, reserved or badly spelled."""
    definition = subject.definition
    if subject.endpoint.kind.is_named and not definition.name:
        yield _("Give it a name: its path ends in one."), "name"
    parts = {"module": definition.module, "segment": subject.endpoint.segment, "name": definition.name}
    for field, text in parts.items():
        if text in RESERVED_SEGMENTS:
            yield (
                _(
                    "“%(text)s” is reserved for the service itself; choose another one.",
                    text=text,
                ),
                field,
            )
        elif text and not is_segment(text):
            yield (
                _(
                    "“%(text)s” cannot stand in a path: write lower-case letters, digits and -, "
                    "a letter first.",
                    text=text,
                ),
                field,
            )


@blocking("path-taken")
def path_is_its_own(subject: EndpointSubject) -> Found:
    """Find enabled endpoints that have the same method and path."""
    for method in subject.endpoint.methods:
        at_path = subject.surroundings.by_path.get((method, subject.endpoint.path), ())
        for other in at_path:
            if other != subject.id:
                key = subject.surroundings.configuration.endpoints[other].definition.key
                yield (
                    _(
                        "%(method)s %(path)s is the path of %(key)s already.",
                        method=method,
                        path=subject.endpoint.path,
                        key=key,
                    ),
                    "segment",
                )
