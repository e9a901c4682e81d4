"""Choices for the values of settings, from the platform's metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext

from crmclient.metadata import Attribute, Entity, Label, Relationship
from designer.kinds.vocabulary import MetadataSource


@dataclass(frozen=True, slots=True)
class PickerPlace:
    """Where a setting is chosen: on an endpoint of the exposed `entity`, which is empty where the kind has
    none.

    `exposures` returns the logical names of the entities that the endpoint's module exposes, by segment.
    """

    metadata: MetadataSource
    entity: str
    exposures: Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Picker:
    """Annotates a setting: `option_set: Annotated[str, OPTION_SET]`.

    `offered` yields pairs of a value and its label, in any order; the functions below are such. Exceptions of
    the metadata may pass through; only the present value can be chosen then.
    """

    offered: Callable[[PickerPlace], Iterable[tuple[str, str]]]


def labelled(label: Label, name: str) -> str:
    """Return a choice as the studio writes it: “Label (logical name)”."""
    text = label.text()
    return f"{text} ({name})" if text else name


def offered_attributes(
    place: PickerPlace, is_offered: Callable[[Attribute], bool]
) -> Iterator[tuple[str, str]]:
    """Yield the logical name and the label of each attribute of the entity that `is_offered` accepts."""
    attributes = place.metadata.attributes(place.entity) if place.entity else {}
    for name, attribute in attributes.items():
        if is_offered(attribute):
            yield name, labelled(attribute.label, name)


def _option_sets(place: PickerPlace) -> Iterator[tuple[str, str]]:
    """Yield the option sets of the entity's attributes; without an entity, the global option sets."""
    if place.entity:
        yield from offered_attributes(place, lambda attribute: attribute.type.has_options)
        return
    for name, option_set in place.metadata.option_sets().items():
        yield name, labelled(option_set.label, name)


def _processes(place: PickerPlace) -> Iterator[tuple[str, str]]:
    """Yield the processes that run on a record of the entity or, without an entity, on no record."""
    for name, process in place.metadata.processes().items():
        # A process on no record has the entity None, and a place without an entity has "".
        if (process.entity or "") == place.entity:
            yield name, f"{process.label} ({name})"


def relationship_label(relationship: Relationship, other: str, entities: Mapping[str, Entity]) -> str:
    """Return the label of a relationship that leads to the entity `other`: the entity, by which attribute or
    intersect entity, and the relationship's name.
    """
    label = labelled(entities[other].plural_label, other) if other in entities else other
    linked_by = relationship.referencing_attribute or relationship.intersect or ""
    text = gettext("%(entity)s by %(attribute)s") % {"entity": label, "attribute": linked_by}
    return f"{text} ({relationship.name})"


def _many_to_many(place: PickerPlace) -> Iterator[tuple[str, str]]:
    """Yield the many-to-many relationships of the entity."""
    entities = place.metadata.entities()
    for relationship, other in _relationships_with_ends(place):
        yield relationship.name, relationship_label(relationship, other, entities)


def _related_entities(place: PickerPlace) -> Iterator[tuple[str, str]]:
    """Yield the exposed entities of the module that many-to-many relationships lead to."""
    others = {other for _, other in _relationships_with_ends(place)}
    for segment, entity in place.exposures().items():
        if entity in others:
            yield segment, f"{segment} ({entity})"


def _relationships_with_ends(place: PickerPlace) -> Iterator[tuple[Relationship, str]]:
    """Yield each many-to-many relationship of the entity with the entity at its other end."""
    for relationship in place.metadata.relationships(place.entity) if place.entity else ():
        other = relationship.other_end(place.entity)
        if other is not None:
            yield relationship, other


def _alternate_keys(place: PickerPlace) -> Iterator[tuple[str, str]]:
    """Yield the alternate keys of the entity, each labelled with its attributes in their order."""
    entity = place.metadata.entities().get(place.entity) if place.entity else None
    for key in entity.keys if entity is not None else ():
        yield key.name, f"{', '.join(key.attributes)} ({key.name})"


ALTERNATE_KEY = Picker(_alternate_keys)
OPTION_SET = Picker(_option_sets)
PROCESS = Picker(_processes)
FILE_COLUMN = Picker(lambda place: offered_attributes(place, lambda attribute: attribute.type.holds_file))
MANY_TO_MANY = Picker(_many_to_many)
RELATED_ENTITY = Picker(_related_entities)
