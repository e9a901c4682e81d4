"""What consultants choose from, as “label (logical name)”.

A present choice that the platform does not know, or cannot be asked about, stays among the choices: opening
and saving a page loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from django.utils.translation import gettext as _

from crmclient.metadata import Attribute, Label, Relationship
from designer.readiness.metadata import Metadata, MetadataUnavailable
from designer.types import TYPES

Choices: TypeAlias = list[tuple[str, str]]

_NONE = ("", "—")


def with_present(choices: Choices, present: str | None) -> Choices:
    """`choices` after an empty one, with `present` among them."""
    if present and all(value != present for value, _ in choices):
        choices = [*choices, (present, _("%(name)s (not known to the platform)") % {"name": present})]
    return [_NONE, *choices]


def entities(metadata: Metadata) -> Choices:
    known = _asked(metadata.entities)
    return _sorted(
        (name, _labelled(entity.label, name)) for name, entity in known.items() if not entity.is_intersect
    )


def attributes(metadata: Metadata, entity: str) -> Choices:
    return described(_asked(lambda: metadata.attributes(entity)))


def described(known: Mapping[str, Attribute]) -> Choices:
    """Each with its facts."""
    return _sorted((name, _described(attribute)) for name, attribute in known.items())


def attributes_of_users(metadata: Metadata) -> Choices:
    return described(_asked(metadata.attributes_of_users))


def choice_attributes(metadata: Metadata, entity: str) -> Choices:
    known = _asked(lambda: metadata.attributes(entity))
    return _sorted(
        (name, _labelled(attribute.label, name))
        for name, attribute in known.items()
        if attribute.type.has_options
    )


def file_columns(metadata: Metadata, entity: str) -> Choices:
    known = _asked(lambda: metadata.attributes(entity)) if entity else {}
    return _sorted(
        (name, _labelled(attribute.label, name))
        for name, attribute in known.items()
        if attribute.type.holds_file
    )


def option_sets(metadata: Metadata) -> Choices:
    known = _asked(metadata.option_sets)
    return _sorted((name, _labelled(option_set.label, name)) for name, option_set in known.items())


def processes(metadata: Metadata, entity: str) -> Choices:
    """Those that run on a record of `entity` or, where that is empty, on none."""
    known = _asked(metadata.processes)
    return _sorted(
        (name, f"{process.label} ({name})")
        for name, process in known.items()
        if (process.entity or "") == entity
    )


def relationships_of_users(metadata: Metadata) -> Choices:
    try:
        known = metadata.relationships_of_users()
    except MetadataUnavailable:
        return []
    found = []
    for relationship in known:
        target = metadata.related_to_users(relationship)
        through = relationship.referencing_attribute or relationship.intersect or ""
        found.append(
            (
                relationship.name,
                _("%(entity)s by %(attribute)s") % {"entity": target, "attribute": through}
                + f" ({relationship.name})",
            )
        )
    return _sorted(found)


def related_attributes(metadata: Metadata, relationship: str) -> Choices:
    """Attributes of the records that a relationship leads a user to."""
    try:
        known = {related.name: related for related in metadata.relationships_of_users()}
    except MetadataUnavailable:
        return []
    if relationship not in known:
        return []
    return attributes(metadata, metadata.related_to_users(known[relationship]))


def many_to_many(metadata: Metadata, entity: str) -> Choices:
    """The relationships by which records of `entity` can be associated, by the entity that they lead to."""
    known = _asked(metadata.entities)
    labels = {name: _labelled(one.plural_label, name) for name, one in known.items()}
    return _sorted(
        (
            relationship.name,
            _("%(entity)s by %(attribute)s")
            % {"entity": labels.get(other, other), "attribute": relationship.name},
        )
        for relationship, other in _leading(metadata, entity)
    )


def other_ends(metadata: Metadata, entity: str) -> set[str]:
    """The entities that many-to-many relationships of `entity` lead to."""
    return {other for _relationship, other in _leading(metadata, entity)}


def _leading(metadata: Metadata, entity: str) -> Iterator[tuple[Relationship, str]]:
    try:
        known = metadata.relationships(entity) if entity else ()
    except MetadataUnavailable:
        return
    for relationship in known:
        other = relationship.other_end(entity)
        if other is not None:
            yield relationship, other


def security_roles(metadata: Metadata) -> Choices:
    try:
        return sorted({(role.name, role.name) for role in metadata.security_roles()})
    except MetadataUnavailable:
        return []


def input_types() -> Choices:
    return [(name, f"{_(kind.label)} ({name})") for name, kind in TYPES.items()]


def _asked(ask: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    try:
        return ask()
    except MetadataUnavailable:
        return {}


def _sorted(choices: Iterable[tuple[str, str]]) -> Choices:
    return sorted(choices, key=lambda choice: choice[1].casefold())


def _labelled(label: Label, name: str) -> str:
    text = label.text()
    return f"{text} ({name})" if text else name


def facts(attribute: Attribute) -> str:
    """What a consultant must know of an attribute: type, length, whether the platform requires it."""
    known = [attribute.type.value]
    if attribute.max_length:
        known.append(_("%(count)d characters") % {"count": attribute.max_length})
    if attribute.is_required:
        known.append(_("required"))
    return ", ".join(known)


def _described(attribute: Attribute) -> str:
    return f"{_labelled(attribute.label, attribute.logical_name)} – {facts(attribute)}"
