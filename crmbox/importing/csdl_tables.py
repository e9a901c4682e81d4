"""The types of a `$metadata` document as tables: what each has of its bases, and what ties them together."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from crmbox.importing import csdl_document
from crmbox.importing.csdl_document import Document, Navigation, Property, Type
from crmbox.importing.found import Note, Pair, Verdict, left_out
from crmclient.metadata import Relationship

GUID: Final = "Edm.Guid"
_METADATA_TYPES: Final = frozenset({"crmmodelbaseentity", "MetadataBase"})
"""What the types descend from that describe the metadata: they are served, but hold no records."""
_NOTE, _REGARDING = "annotation", "_objectid_value"


@dataclass(slots=True)
class Whole:
    """A type with all that it inherits: an activity has most properties from its base."""

    name: str
    primary_id: str
    properties: dict[str, Property] = field(default_factory=dict)
    lookups: dict[str, list[Navigation]] = field(default_factory=dict)
    """The navigation properties of each property that holds a record's id."""
    keys: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


class Model:
    """The document's types as tables and what ties them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._wholes: dict[str, Whole] = {}
        self._reasons: dict[str, str | None] = {}
        self._targets: dict[str, list[str]] = {}

    def no_table(self, name: str) -> str | None:
        """Why a type is no entity with records; None for one that is."""
        if name not in self._reasons:
            self._reasons[name] = self._why_no_table(name)
        return self._reasons[name]

    def _why_no_table(self, name: str) -> str | None:
        chain = self.document.chain(name)
        key = next((each.key for each in chain if each.key), ())
        if any(each.name in _METADATA_TYPES for each in chain):
            return "It describes metadata and holds no records."
        if not key:
            return "It is a base of other types and has no key, so it holds no records."
        if chain[0].is_abstract and name not in self.document.sets:
            return "It is an abstract base of other types and holds no records."
        if len(key) > 1:
            return f"Its key has several properties: {', '.join(key)}. An entity has one id."
        kinds = [each.properties[key[0]].type for each in chain if key[0] in each.properties]
        if kinds and self._plain(kinds[0]) != GUID:
            return f"Its key {key[0]} is of type {kinds[0]}. An id is of type {GUID}."
        return None

    def whole(self, name: str) -> Whole:
        if name not in self._wholes:
            self._wholes[name] = self._with_bases(name)
        return self._wholes[name]

    def _with_bases(self, name: str) -> Whole:
        chain = self.document.chain(name)
        key = next((each.key[0] for each in chain if each.key), "")
        whole = Whole(name, key)
        for each in reversed(chain):
            whole.properties.update(each.properties)
            whole.keys += each.alternate_keys
        for each in chain:
            whole.notes += [
                left_out(f"{name}.{repeated}", "The type declares the property twice. The first is made.")
                for repeated in each.repeated
            ]
            # What a type says of a lookup replaces what its base says: a task is about other records than
            # activities are as a whole, and the base's relationships are the base's own.
            own: dict[str, list[Navigation]] = {}
            for navigation in each.navigations:
                if not navigation.is_collection:
                    holder = self._holder(navigation, whole)
                    if holder is not None:
                        own.setdefault(holder, []).append(navigation)
                    elif each is chain[0]:
                        reason = f"No property holds the id of the {navigation.target} that it leads to."
                        whole.notes.append(Note(Verdict.PASSED_OVER, f"{name}.{navigation.name}", reason))
            whole.lookups = {**own, **whole.lookups}
        self._tell_ids_apart(chain, whole)
        return whole

    def _tell_ids_apart(self, chain: list[Type], whole: Whole) -> None:
        """Users and teams inherit `ownerid` as their key from what can own records, and have an id of their
        own.
        """
        own = f"{whole.name}id"
        inherited = any(
            whole.primary_id in each.key and self.no_table(each.name) is not None for each in chain[1:]
        )
        if inherited and whole.primary_id != own and own in whole.properties:
            reason = f"It repeats {own}, the record's id."
            whole.notes.append(left_out(f"{whole.name}.{whole.primary_id}", reason))
            del whole.properties[whole.primary_id]
            whole.primary_id = own

    def _holder(self, navigation: Navigation, whole: Whole) -> str | None:
        """The property that holds the id of the record a navigation property leads to.

        One that says nothing is called as the lookup, with or without the entities after it:
        `regardingobjectid_account_task`.
        """
        if navigation.constraint is not None:
            return navigation.constraint if navigation.constraint in whole.properties else None
        words = navigation.name.split("_")
        for end in range(len(words), 0, -1):
            lookup = "_".join(words[:end])
            for holder in (f"_{lookup}_value", f"_{lookup}id_value"):
                if holder in whole.properties:
                    return holder
        return None

    def targets(self, target: str) -> list[str]:
        """The entities whose records a navigation property to a type can lead to."""
        if target not in self._targets:
            self._targets[target] = self._targets_of(target)
        return self._targets[target]

    def _targets_of(self, target: str) -> list[str]:
        types = self.document.types
        if target not in types:
            return []
        if self.no_table(target) is None:
            return [target.lower()]
        derived = (each for each in types if target in [base.name for base in self.document.chain(each)[1:]])
        return [
            each.lower() for each in derived if self.no_table(each) is None and each in self.document.sets
        ]

    def plain(self, property: Property) -> str:
        return self._plain(property.type)

    def _plain(self, kind: str) -> str:
        return self.document.underlying.get(csdl_document.short(kind), kind)

    @cached_property
    def noted(self) -> frozenset[str]:
        """The entities that notes can be about."""
        note = self.document.types.get(_NOTE)
        if note is None:
            return frozenset()
        about = self.whole(_NOTE).lookups.get(_REGARDING, ())
        return frozenset(target for each in about for target in self.targets(each.target))

    @cached_property
    def pairs(self) -> dict[str, list[Pair]]:
        """Many-to-many relationships by the entity that is named first: collections that are each other's
        partner.
        """
        collections = {
            (name, each.name): each
            for name, type_ in self.document.types.items()
            for each in type_.navigations
            if each.is_collection
        }
        found: dict[str, list[Pair]] = {}
        for (name, navigation), each in sorted(collections.items()):
            back = collections.get((each.target, each.partner or ""))
            if back is None or back.target != name or (each.target, back.name) < (name, navigation):
                continue
            if self.no_table(name) is None and self.no_table(each.target) is None:
                found.setdefault(name, []).append(self._pair(name, each))
        return found

    def _pair(self, name: str, navigation: Navigation) -> Pair:
        ends = name, navigation.target
        between = self._between(navigation.name, ends)
        relationship = Relationship(
            navigation.name,
            name.lower(),
            navigation.target.lower(),
            intersect=(between or navigation.name).lower(),
        )
        if between is None:
            return Pair(relationship)
        sets = self.document.sets.get(between, [""])
        return Pair(relationship, sets[0], self.document.types[between].key[0].lower())

    def _between(self, relationship: str, ends: tuple[str, str]) -> str | None:
        """The type that holds the pairs: it has both ids as plain properties, and an id of its own."""
        candidates = self._ties.get(frozenset(self.whole(end).primary_id for end in ends), [])
        wanted = relationship.lower().removesuffix("_association")
        named = [each for each in candidates if each.lower() in (wanted, relationship.lower())]
        found = next(iter(named or candidates), None)
        if found is not None:
            candidates.remove(found)
        return found

    @cached_property
    def _ties(self) -> dict[frozenset[str], list[str]]:
        """Types that may only tie two others, by the two ids that they hold."""
        found: dict[frozenset[str], list[str]] = {}
        for name, type_ in self.document.types.items():
            ids = {each.name for each in type_.properties.values() if each.type == GUID} - set(type_.key)
            if (
                len(type_.key) == 1
                and len(ids) == 2
                and not any(each.startswith("_") for each in type_.properties)
            ):
                found.setdefault(frozenset(ids), []).append(name)
        return found

    @cached_property
    def intersects(self) -> frozenset[str]:
        return frozenset(pair.relationship.intersect or "" for pairs in self.pairs.values() for pair in pairs)
