"""What a setting's value is chosen from, where the platform's metadata knows the choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext

from crmclient.metadata import Attribute, Label, Relationship
from designer.kinds.vocabulary import MetadataSource


@dataclass(frozen=True, slots=True)
class PickerPlace:
    """Where a setting is chosen: on an endpoint of the exposed `entity`, empty where the kind has none.

    `exposures` gives the logical names of the entities that its module exposes, by segment.
    """

    metadata: MetadataSource
    entity: str
    exposures: Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Picker:
    """Annotates a setting: `option_set: Annotated[str, OPTION_SET]`.

    `offered` gives pairs of a value and its label, in any order. It may let what the metadata raises pass:
    there is then nothing to choose from but the present value.
    """

    offered: Callable[[PickerPlace], Iterable[tuple[str, str]]]


def labelled(label: Label, name: str) -> str:
    """“Label (logical name)”, as the studio writes all choices."""
    text = label.text()
    return f"{text} ({name})" if text else name


def _attributes(place: PickerPlace, wanted: Callable[[Attribute], bool]) -> Iterator[tuple[str, str]]:
    known = place.metadata.attributes(place.entity) if place.entity else {}
    for name, attribute in known.items():
        if wanted(attribute):
            yield name, labelled(attribute.label, name)


def _option_sets(place: PickerPlace) -> Iterator[tuple[str, str]]:
    """Those of the entity's attributes or, where there is no entity, the global ones."""
    if place.entity:
        yield from _attributes(place, lambda attribute: attribute.type.has_options)
        return
    for name, option_set in place.metadata.option_sets().items():
        yield name, labelled(option_set.label, name)


def _processes(place: PickerPlace) -> Iterator[tuple[str, str]]:
    """Those that run on a record of the entity or, where there is none, on no record."""
    for name, process in place.metadata.processes().items():
        if (process.entity or "") == place.entity:
            yield name, f"{process.label} ({name})"


def _many_to_many(place: PickerPlace) -> Iterator[tuple[str, str]]:
    """The relationships by which records can be associated, by the entity that they lead to."""
    known = place.metadata.entities()
    for relationship, other in _leading(place):
        label = labelled(known[other].plural_label, other) if other in known else other
        yield (
            relationship.name,
            gettext("%(entity)s by %(attribute)s") % {"entity": label, "attribute": relationship.name},
        )


def _related_entities(place: PickerPlace) -> Iterator[tuple[str, str]]:
    """The exposed entities of the module that a many-to-many relationship leads to."""
    others = {other for _, other in _leading(place)}
    for segment, entity in place.exposures().items():
        if entity in others:
            yield segment, f"{segment} ({entity})"


def _leading(place: PickerPlace) -> Iterator[tuple[Relationship, str]]:
    for relationship in place.metadata.relationships(place.entity) if place.entity else ():
        other = relationship.other_end(place.entity)
        if other is not None:
            yield relationship, other


def _alternate_keys(place: PickerPlace) -> Iterator[tuple[str, str]]:
    """The alternate keys of the entity, each with its attributes in their order."""
    known = place.metadata.entities().get(place.entity) if place.entity else None
    for key in known.keys if known is not None else ():
        yield key.name, f"{', '.join(key.attributes)} ({key.name})"


ALTERNATE_KEY = Picker(_alternate_keys)
OPTION_SET = Picker(_option_sets)
PROCESS = Picker(_processes)
FILE_COLUMN = Picker(lambda place: _attributes(place, lambda attribute: attribute.type.holds_file))
MANY_TO_MANY = Picker(_many_to_many)
RELATED_ENTITY = Picker(_related_entities)
