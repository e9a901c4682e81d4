"""What consultants choose from, as “label (logical name)”.

A present choice that the platform does not know, or cannot be asked about, stays among the choices: opening
and saving a page loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from django.utils.choices import BaseChoiceIterator
from django.utils.translation import gettext as _

from crmclient.metadata import Attribute
from designer.kinds.pickers import Picker, PickerPlace, labelled, relationship_label
from designer.readiness.metadata import Metadata, MetadataUnavailable
from designer.types import TYPES, holds_records

# Values with their labels.
Choices: TypeAlias = list[tuple[str, str]]

_NONE = ("", "—")


class SharedChoices(BaseChoiceIterator):
    """Choices of the same field in each row of a page.

    Django goes through all choices of a field when it is made or copied, for each row, unless they are lazy.
    `offered` returns the choices, in the language of whoever looks.
    """

    def __init__(self, offered: Callable[[], Iterable[tuple[str, str]]]) -> None:
        self._offered = offered

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._offered())

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> SharedChoices:
        return self

    def __deepcopy__(self, memo: Any) -> SharedChoices:
        return self


class ListedChoices(SharedChoices):
    """The same choices for whoever looks, and before them an empty one."""

    def __init__(self, choices: Choices) -> None:
        listed = [_NONE, *choices]
        self._values = frozenset(value for value, _label in listed)
        super().__init__(lambda: listed)

    def with_present(self, present: str) -> SharedChoices | Choices:
        """Return the choices with `present` among them."""
        return self if present in self._values else with_all_present(list(self), [present])


def with_present(choices: Choices, present: str | None) -> Choices:
    """Return `choices` with an empty one before them, and with `present` among them."""
    return [_NONE, *with_all_present(choices, [present] if present else [])]


def with_all_present(choices: Choices, present: Iterable[str]) -> Choices:
    """Return `choices` with each of `present` among them."""
    known = {value for value, _ in choices}
    unknown = [name for name in present if name not in known]
    return [
        *choices,
        *((name, _("%(name)s (not known to the platform)") % {"name": name}) for name in unknown),
    ]


def offered(picker: Picker, place: PickerPlace) -> Choices:
    """Return what a setting is chosen from, by label; nothing while the platform cannot be asked."""
    try:
        return _sorted(picker.offered(place))
    except MetadataUnavailable:
        return []


def entities(metadata: Metadata) -> Choices:
    """Return the entities; none while the platform cannot be asked. Intersect entities are left out."""
    by_name = _answer_or_nothing(metadata.entities)
    return _sorted(
        (name, labelled(entity.label, name)) for name, entity in by_name.items() if not entity.is_intersect
    )


def attributes(metadata: Metadata, entity: str) -> Choices:
    """Return the attributes of an entity; none while the platform cannot be asked."""
    return described(_answer_or_nothing(lambda: metadata.attributes(entity)))


def described(by_name: Mapping[str, Attribute]) -> Choices:
    """Return the attributes as choices, each with its facts in its label."""
    return _sorted((name, _attribute_label(attribute)) for name, attribute in by_name.items())


def relationships(metadata: Metadata, entity: str) -> Choices:
    """Return the relationships of an entity; none while the platform cannot be asked."""
    try:
        related = metadata.relationships(entity) if entity else ()
        entities = metadata.entities()
    except MetadataUnavailable:
        return []
    return _sorted(
        [
            (
                relationship.name,
                relationship_label(relationship, metadata.related_to(entity, relationship), entities),
            )
            for relationship in related
        ]
    )


def related_attributes(metadata: Metadata, entity: str, relationship: str) -> Choices:
    """Return the attributes of the records that a relationship leads to from a record of `entity`.

    None for an unknown relationship, and while the platform cannot be asked.
    """
    try:
        by_name = {related.name: related for related in (metadata.relationships(entity) if entity else ())}
    except MetadataUnavailable:
        return []
    if relationship not in by_name:
        return []
    return attributes(metadata, metadata.related_to(entity, by_name[relationship]))


def security_roles(metadata: Metadata) -> Choices:
    """Return the names of security roles; none while the platform cannot be asked."""
    try:
        # A set: each business unit has a role of the same name.
        return sorted({(role.name, role.name) for role in metadata.security_roles()})
    except MetadataUnavailable:
        return []


def input_types(present: str, *, with_records: bool) -> SharedChoices:
    """Return the input types in the order of their registration, with the `present` one among them.

    `with_records`: offer those that hold records, too.
    """
    return _input_types(present if not with_records and holds_records(present) else "", with_records)


@cache
def _input_types(present: str, with_records: bool) -> SharedChoices:
    return SharedChoices(
        lambda: [
            (name, f"{_(input_type.label)} ({name})")
            for name, input_type in TYPES.items()
            if with_records or not input_type.holds_records or name == present
        ]
    )


def _answer_or_nothing(ask: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the answer of `ask`; nothing while the platform cannot be asked."""
    try:
        return ask()
    except MetadataUnavailable:
        return {}


def _sorted(choices: Iterable[tuple[str, str]]) -> Choices:
    """Return the choices in the order of their labels."""
    return sorted(choices, key=lambda choice: choice[1].casefold())


def facts(attribute: Attribute) -> str:
    """Return what a consultant must know of an attribute: type, length, whether the platform requires it."""
    parts = [attribute.type.value]
    if attribute.max_length:
        parts.append(_("%(count)d characters") % {"count": attribute.max_length})
    if attribute.is_required:
        parts.append(_("required"))
    # Arabic has a comma of its own.
    return _(", ").join(parts)


def _attribute_label(attribute: Attribute) -> str:
    return f"{labelled(attribute.label, attribute.logical_name)} – {facts(attribute)}"
