"""The types of a `$metadata` document as tables, with inherited properties and many-to-many relationships."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from crmbox.importing import csdl_document
from crmbox.importing.csdl_document import Document, Navigation, Property, Type
from crmbox.importing.source_entity import ManyToMany, Note, Verdict, left_out
from crmclient.metadata import Relationship

GUID: Final = "Edm.Guid"
_METADATA_TYPES: Final = frozenset({"crmmodelbaseentity", "MetadataBase"})
"""The bases of the types that describe metadata: these are served, but hold no records."""
_NOTE, _REGARDING = "annotation", "_objectid_value"


@dataclass(slots=True)
class WholeType:
    """A type with all that it inherits: an activity has most properties from its base."""

    name: str
    primary_id: str
    properties: dict[str, Property] = field(default_factory=dict)
    lookups: dict[str, list[Navigation]] = field(default_factory=dict)
    """The navigation properties of each property that holds a record's id."""
    keys: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


class Model:
    """The types of a document as tables, and the relationships between them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._whole_types: dict[str, WholeType] = {}
        self._reasons: dict[str, str | None] = {}
        self._targets: dict[str, list[str]] = {}

    def why_no_table(self, name: str) -> str | None:
        """Return in a sentence why a type is not an entity with records; None when it is one.

        The answers are kept, because they are asked for again and again.
        """
        if name not in self._reasons:
            self._reasons[name] = self._find_why_no_table(name)
        return self._reasons[name]

    def _find_why_no_table(self, name: str) -> str | None:
        """Return in a sentence why a type is not an entity with records; None when it is one."""
        chain = self.document.chain(name)
        key = next((type_.key for type_ in chain if type_.key), ())
        if any(type_.name in _METADATA_TYPES for type_ in chain):
            return "It describes metadata and holds no records."
        if not key:
            return "It is a base of other types and has no key, so it holds no records."
        if chain[0].is_abstract and name not in self.document.sets:
            return "It is an abstract base of other types and holds no records."
        if len(key) > 1:
            return f"Its key has several properties: {', '.join(key)}. An entity has one id."
        kinds = [type_.properties[key[0]].type for type_ in chain if key[0] in type_.properties]
        if kinds and self._plain(kinds[0]) != GUID:
            return f"Its key {key[0]} is of type {kinds[0]}. An id is of type {GUID}."
        return None

    def whole_type(self, name: str) -> WholeType:
        """Return a type with all that it inherits."""
        if name not in self._whole_types:
            self._whole_types[name] = self._with_bases(name)
        return self._whole_types[name]

    def _with_bases(self, name: str) -> WholeType:
        """Return a type with all that it inherits. Notes tell which parts of it are not used, and why."""
        chain = self.document.chain(name)
        key = next((type_.key[0] for type_ in chain if type_.key), "")
        whole_type = WholeType(name, key)
        # From the last base to the type itself, so that its own properties replace inherited ones.
        for type_ in reversed(chain):
            whole_type.properties.update(type_.properties)
            whole_type.keys += type_.alternate_keys
        for type_ in chain:
            whole_type.notes += [
                left_out(f"{name}.{repeated}", "The type declares the property twice. The first is made.")
                for repeated in type_.repeated
            ]
            # A type's own navigation properties of a lookup replace those of its base: a task is about other
            # records than activities as a whole, and the relationships of the base belong to the base.
            own_lookups: dict[str, list[Navigation]] = {}
            for navigation in type_.navigations:
                if not navigation.is_collection:
                    holder = self._id_property(navigation, whole_type)
                    if holder is not None:
                        own_lookups.setdefault(holder, []).append(navigation)
                    elif type_ is chain[0]:
                        reason = f"No property holds the id of the {navigation.target} that it leads to."
                        whole_type.notes.append(
                            Note(Verdict.PASSED_OVER, f"{name}.{navigation.name}", reason)
                        )
            whole_type.lookups = {**own_lookups, **whole_type.lookups}
        self._prefer_own_id(chain, whole_type)
        return whole_type

    def _prefer_own_id(self, chain: list[Type], whole_type: WholeType) -> None:
        """Make the type's own id the primary id where its key is inherited from a base without records.

        Users and teams inherit `ownerid` as their key: `systemuserid` and `teamid` become their ids, and
        `ownerid`, which repeats them, is left out with a note.
        """
        own_id = f"{whole_type.name}id"
        inherited = any(
            whole_type.primary_id in type_.key and self.why_no_table(type_.name) is not None
            for type_ in chain[1:]
        )
        if inherited and whole_type.primary_id != own_id and own_id in whole_type.properties:
            reason = f"It repeats {own_id}, the record's id."
            whole_type.notes.append(left_out(f"{whole_type.name}.{whole_type.primary_id}", reason))
            del whole_type.properties[whole_type.primary_id]
            whole_type.primary_id = own_id

    def _id_property(self, navigation: Navigation, whole_type: WholeType) -> str | None:
        """Return the property that holds the id of the record that a navigation property leads to; None
        without one.

        Without a constraint, the name tells: it begins with the lookup, as in
        `regardingobjectid_account_task`.
        """
        if navigation.constraint is not None:
            return navigation.constraint if navigation.constraint in whole_type.properties else None
        words = navigation.name.split("_")
        for end in range(len(words), 0, -1):
            lookup = "_".join(words[:end])
            for holder in (f"_{lookup}_value", f"_{lookup}id_value"):
                if holder in whole_type.properties:
                    return holder
        return None

    def targets(self, target: str) -> list[str]:
        """Return the entities whose records a navigation property to a type can lead to."""
        if target not in self._targets:
            self._targets[target] = self._targets_of(target)
        return self._targets[target]

    def _targets_of(self, target: str) -> list[str]:
        """Return the entity of the type or, for a base type without records of its own, the entities of all
        types that derive from it.
        """
        types = self.document.types
        if target not in types:
            return []
        if self.why_no_table(target) is None:
            return [target.lower()]
        derived = (
            type_name
            for type_name in types
            if target in [base.name for base in self.document.chain(type_name)[1:]]
        )
        return [
            type_name.lower()
            for type_name in derived
            if self.why_no_table(type_name) is None and type_name in self.document.sets
        ]

    def plain(self, property: Property) -> str:
        """Return the type of a property, with the type that it stands for in place of a type definition."""
        return self._plain(property.type)

    def _plain(self, type_name: str) -> str:
        return self.document.underlying.get(csdl_document.short_name(type_name), type_name)

    @cached_property
    def entities_with_notes(self) -> frozenset[str]:
        """The entities that can have notes."""
        note = self.document.types.get(_NOTE)
        if note is None:
            return frozenset()
        navigations = self.whole_type(_NOTE).lookups.get(_REGARDING, ())
        return frozenset(target for navigation in navigations for target in self.targets(navigation.target))

    @cached_property
    def many_to_many(self) -> dict[str, list[ManyToMany]]:
        """The many-to-many relationships by the entity that is named first.

        Each is a pair of collections that are partners of each other.
        """
        collections = {
            (name, navigation_property.name): navigation_property
            for name, type_ in self.document.types.items()
            for navigation_property in type_.navigations
            if navigation_property.is_collection
        }
        by_entity: dict[str, list[ManyToMany]] = {}
        for (name, navigation_name), navigation_property in sorted(collections.items()):
            back = collections.get((navigation_property.target, navigation_property.partner or ""))
            # Both collections of a relationship are met. The first in order stands for it.
            if (
                back is None
                or back.target != name
                or (navigation_property.target, back.name) < (name, navigation_name)
            ):
                continue
            if self.why_no_table(name) is None and self.why_no_table(navigation_property.target) is None:
                by_entity.setdefault(name, []).append(self._many_to_many(name, navigation_property))
        return by_entity

    def _many_to_many(self, name: str, navigation: Navigation) -> ManyToMany:
        """Return the many-to-many relationship that a collection of the type `name` leads along."""
        ends = name, navigation.target
        is_self_relationship = ends[0] == ends[1]
        intersect_type = (
            self._self_pair_type(navigation.name, name)
            if is_self_relationship
            else self._pair_type(navigation.name, ends)
        )
        relationship = Relationship(
            navigation.name,
            name.lower(),
            navigation.target.lower(),
            intersect=(intersect_type or navigation.name).lower(),
            intersect_attributes=self._ids_of_self_pair(name, intersect_type)
            if is_self_relationship and intersect_type
            else None,
        )
        if intersect_type is None:
            return ManyToMany(relationship)
        sets = self.document.sets.get(intersect_type, [""])
        return ManyToMany(relationship, sets[0], self.document.types[intersect_type].key[0].lower())

    def _pair_type(self, relationship: str, ends: tuple[str, str]) -> str | None:
        """Return the intersect type of a many-to-many relationship between two types; None without one.

        It has both ids as plain properties, and an id of its own. It is taken out of the candidates, so that
        each type holds the pairs of one relationship only.
        """
        candidates = self._pair_types_by_ids.get(
            frozenset(self.whole_type(end).primary_id for end in ends), []
        )
        named = [candidate for candidate in candidates if _is_called_as(candidate, relationship)]
        pair_type = next(iter(named or candidates), None)
        if pair_type is not None:
            # The next relationship between the same two types has pairs of its own.
            candidates.remove(pair_type)
        return pair_type

    def _self_pair_type(self, relationship: str, name: str) -> str | None:
        """Return the intersect type of a relationship of a type with itself; None without one.

        It is found by the relationship's name, because at most one of its two ids has the name of the
        entity's id.
        """
        named = (
            type_name
            for type_name in self._ids_of_pair_types
            if _is_called_as(type_name, relationship) and type_name != name
        )
        return next(named, None)

    def _ids_of_self_pair(self, name: str, intersect_type: str) -> tuple[str, str]:
        """Return the two ids in `intersect_type`, which holds pairs of a type with itself.

        First comes that of the record which the relationship leads from: it has the name of the type's id, or
        ends with `one`.
        """
        id = self.whole_type(name).primary_id.lower()
        first, second = sorted(
            (attribute.lower() for attribute in self._ids_of_pair_types[intersect_type]),
            key=lambda attribute: (attribute != id, not attribute.endswith("one"), attribute),
        )
        return first, second

    @cached_property
    def _pair_types_by_ids(self) -> dict[frozenset[str], list[str]]:
        """The types that may hold pairs of two other types, by the two ids that they hold."""
        types_by_ids: dict[frozenset[str], list[str]] = {}
        for name, ids in self._ids_of_pair_types.items():
            types_by_ids.setdefault(ids, []).append(name)
        return types_by_ids

    @cached_property
    def _ids_of_pair_types(self) -> dict[str, frozenset[str]]:
        """The types that may be intersect types, with the names of the two ids that each holds.

        Such a type has a key of one property, two further ids, and no lookups.
        """
        ids_by_type: dict[str, frozenset[str]] = {}
        for name, type_ in self.document.types.items():
            ids = {declared.name for declared in type_.properties.values() if declared.type == GUID} - set(
                type_.key
            )
            if (
                len(type_.key) == 1
                and len(ids) == 2
                and not any(property_name.startswith("_") for property_name in type_.properties)
            ):
                ids_by_type[name] = frozenset(ids)
        return ids_by_type

    @cached_property
    def intersects(self) -> frozenset[str]:
        """The intersect entities of all many-to-many relationships."""
        return frozenset(
            item.relationship.intersect or "" for items in self.many_to_many.values() for item in items
        )


def _is_called_as(intersect: str, relationship: str) -> bool:
    """Whether an intersect entity has the name of its relationship, with or without Dataverse's suffix."""
    return intersect.lower() in (relationship.lower(), relationship.lower().removesuffix("_association"))
