"""Entities from a `$metadata` document (CSDL).

It knows less than the definitions: no labels, lengths or options, and choices look like whole numbers. What a
property's kind can be told from the company it keeps: a money amount has a `_base` beside it, a file its
`_name`, an image its `_timestamp` and `_url`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Final

from crmbox.engine.definitions import Ownership
from crmbox.engine.tables import INDEXED_LENGTH
from crmbox.importing import csdl_document
from crmbox.importing.csdl_document import Document, Navigation, Property, Type
from crmbox.importing.found import Described, Found, Note, Pair, Verdict, left_out
from crmbox.metadata.checks import LONGEST_STRING
from crmclient.metadata import (
    ENGLISH,
    AlternateKey,
    Attribute,
    AttributeType,
    Cascade,
    DateTimeBehavior,
    Entity,
    Label,
    Option,
    OptionSet,
    Relationship,
)

_TYPES: Final = {
    "Edm.String": AttributeType.STRING,
    "Edm.Byte": AttributeType.INTEGER,
    "Edm.SByte": AttributeType.INTEGER,
    "Edm.Int16": AttributeType.INTEGER,
    "Edm.Int32": AttributeType.INTEGER,
    "Edm.Int64": AttributeType.BIGINT,
    "Edm.Decimal": AttributeType.DECIMAL,
    "Edm.Single": AttributeType.DOUBLE,
    "Edm.Double": AttributeType.DOUBLE,
    "Edm.Boolean": AttributeType.BOOLEAN,
    "Edm.DateTimeOffset": AttributeType.DATETIME,
    "Edm.Date": AttributeType.DATETIME,
    "Edm.Guid": AttributeType.UNIQUEIDENTIFIER,
}
_GUID: Final = "Edm.Guid"
_STATES: Final = {"statecode": AttributeType.STATE, "statuscode": AttributeType.STATUS}
_NAMES: Final = ("name", "fullname", "subject", "title")
"""What the property that names a record is called, or ends with after the publisher's prefix."""
_METADATA_TYPES: Final = frozenset({"crmmodelbaseentity", "MetadataBase"})
"""What the types descend from that describe the metadata: they are served, but hold no records."""
_NOTE, _REGARDING = "annotation", "_objectid_value"


def entities(path: Path) -> Iterator[Described | Note]:
    """Raises CannotRead, OSError."""
    document = csdl_document.read(path)
    model = _Model(document)
    for name in document.repeated:
        yield left_out(name, "The document has another type of this name, which comes first.")
    for what, count in sorted(document.passed_over.items()):
        yield Note(Verdict.PASSED_OVER, what.strip(), f"{count:,} elements that describe no entity.")
    lowered: dict[str, str] = {}
    for name in document.types:
        if reason := model.no_table(name):
            yield left_out(name, reason)
            continue
        logical = name.lower()
        if logical in lowered:
            yield left_out(name, f"Its name differs from {lowered[logical]} in case only.")
            continue
        lowered[logical] = name
        if logical in model.intersects:
            continue
        properties = model.whole(name).properties
        hidden = (
            None if name in document.sets or not document.sets else "The document has no entity set for it."
        )
        yield Described(logical, len(properties), partial(_found, model, name), hidden)


@dataclass(slots=True)
class _Whole:
    """A type with all that it inherits: an activity has most properties from its base."""

    name: str
    primary_id: str
    properties: dict[str, Property] = field(default_factory=dict)
    lookups: dict[str, list[Navigation]] = field(default_factory=dict)
    """The navigation properties of each property that holds a record's id."""
    keys: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


class _Model:
    """The document's types as tables and what ties them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._wholes: dict[str, _Whole] = {}
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
        if kinds and self._plain(kinds[0]) != _GUID:
            return f"Its key {key[0]} is of type {kinds[0]}. An id is of type {_GUID}."
        return None

    def whole(self, name: str) -> _Whole:
        if name not in self._wholes:
            self._wholes[name] = self._with_bases(name)
        return self._wholes[name]

    def _with_bases(self, name: str) -> _Whole:
        chain = self.document.chain(name)
        key = next((each.key[0] for each in chain if each.key), "")
        whole = _Whole(name, key)
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

    def _tell_ids_apart(self, chain: list[Type], whole: _Whole) -> None:
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

    def _holder(self, navigation: Navigation, whole: _Whole) -> str | None:
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

    def kind(self, property: Property) -> AttributeType | None:
        return _TYPES.get(self._plain(property.type))

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
            ids = {each.name for each in type_.properties.values() if each.type == _GUID} - set(type_.key)
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


def _found(model: _Model, name: str) -> Found:
    return _Reading(model, name).found()


class _Reading:
    """One entity of a document."""

    def __init__(self, model: _Model, name: str) -> None:
        self._model = model
        self._whole = model.whole(name)
        self._name = name.lower()
        self._notes = list(self._whole.notes)
        self._spelled: dict[str, str] = {}

    def found(self) -> Found:
        whole, name, document = self._whole, self._name, self._model.document
        type_ = document.types[whole.name]
        entity_set, *others = document.sets.get(whole.name) or [_set_name(name)]
        if whole.name not in document.sets:
            reason = f"The document has no entity set for it. It is called {entity_set}."
            self._notes.append(Note(Verdict.CHANGED, name, reason))
        self._notes += [
            left_out(f"{name}: entity set {each}", f"The entity has the set {entity_set} already.")
            for each in others
        ]
        primary_name = self._primary_name()
        attributes = [*self._plain(primary_name), *self._lookups()]
        keys = (tuple(_attribute_of(path).lower() for path in key) for key in whole.keys)
        return Found(
            Entity(
                name,
                entity_set,
                Label(),
                Label(),
                whole.primary_id.lower(),
                primary_name,
                _label(type_.description),
                keys=tuple(AlternateKey(f"{name}_key{n}", key) for n, key in enumerate(keys, 1)),
                has_notes=name in self._model.noted,
                is_custom="_" in name,
            ),
            tuple(attributes),
            tuple(self._relationships(attributes)),
            tuple(self._model.pairs.get(whole.name, ())),
            ownership=Ownership.USER if "_ownerid_value" in whole.properties else Ownership.ORGANIZATION,
            schema_names={key: each for key, each in self._spelled.items() if key != each},
            is_outline=True,
            notes=tuple(self._notes),
        )

    @cached_property
    def _key_lengths(self) -> dict[str, int]:
        """The texts of alternate keys have at most as many characters as an index of Dataverse takes."""
        lengths: dict[str, int] = {}
        for key in self._whole.keys:
            texts = [each for each in key if _type_of(self._whole.properties, each) == "Edm.String"]
            for each in texts:
                lengths[each.lower()] = min(
                    INDEXED_LENGTH // len(texts), lengths.get(each.lower(), INDEXED_LENGTH)
                )
        return lengths

    def _plain(self, primary_name: str | None) -> Iterator[Attribute]:
        """Properties that are attributes of their own, lookups aside."""
        properties = self._whole.properties
        for name, property in properties.items():
            if name == self._whole.primary_id or _is_lookup(property) or _is_fact(name, properties):
                continue
            make = self._maker(property)
            if make is None:
                reason = f"The CRM in the box has no attributes of type {property.type or 'unknown'}."
                self._leave_out(name, reason)
            elif self._spell(name):
                yield make(primary_name)

    def _maker(self, property: Property) -> Callable[[str | None], Attribute] | None:
        short = csdl_document.short(property.type)
        enumeration = self._model.document.enumerations.get(short)
        if enumeration is not None and not property.type.startswith("Collection("):
            options = _options(f"{self._name}_{property.name.lower()}", self._name, enumeration.members)
            if enumeration.is_flags or len(options.options) != len({each.value for each in options.options}):
                return None
            return partial(self._attribute, property, AttributeType.PICKLIST, options)
        kind = self._kind(property)
        return None if kind is None else partial(self._attribute, property, kind, None)

    def _attribute(
        self, property: Property, kind: AttributeType, options: OptionSet | None, primary_name: str | None
    ) -> Attribute:
        name = property.name.lower()
        is_day = self._model.plain(property) == "Edm.Date"
        length = property.max_length or self._key_lengths.get(name, LONGEST_STRING)
        return Attribute(
            name,
            kind if length <= LONGEST_STRING or kind is not AttributeType.STRING else AttributeType.MEMO,
            description=_label(property.description),
            max_length=length if kind is AttributeType.STRING else None,
            precision=property.scale,
            behavior=DateTimeBehavior.DATE_ONLY if is_day else DateTimeBehavior.USER_LOCAL,
            option_set=None if options is None else options.name,
            options=options,
            is_primary_name=name == primary_name,
            is_custom="_" in name,
        )

    def _kind(self, property: Property) -> AttributeType | None:
        properties, name, edm = self._whole.properties, property.name, self._model.plain(property)
        if edm == "Edm.Binary" and f"{name}_timestamp" in properties:
            return AttributeType.IMAGE
        if edm == _GUID and _type_of(properties, f"{name}_name") == "Edm.String":
            return AttributeType.FILE
        if edm == "Edm.Decimal" and f"{name}_base" in properties:
            return AttributeType.MONEY
        if name in _STATES and _STATES.keys() <= properties.keys():
            return _STATES[name]
        return self._model.kind(property)

    def _lookups(self) -> Iterator[Attribute]:
        for holder, property in self._whole.properties.items():
            if not _is_lookup(property):
                continue
            name = _attribute_of(holder)
            navigations = self._whole.lookups.get(holder)
            if not navigations:
                self._leave_out(name, "No navigation property says what the lookup points at.")
                continue
            targets: list[str] = []
            for each in navigations:
                found = self._model.targets(each.target)
                if not found:
                    reason = f"{each.target}, which it points at, is no entity with records."
                    if each.target not in self._model.document.types:
                        reason = f"The document does not describe {each.target}, which it points at."
                    self._leave_out(name, reason)
                targets += [target for target in found if target not in targets]
            if targets and self._spell(name):
                kind = AttributeType.OWNER if name == "ownerid" else AttributeType.LOOKUP
                yield Attribute(name.lower(), kind, targets=tuple(targets), is_custom="_" in name)

    def _relationships(self, attributes: list[Attribute]) -> Iterator[Relationship]:
        lookups = {each.logical_name: each for each in attributes if each.type.is_reference}
        for holder, navigations in self._whole.lookups.items():
            lookup = lookups.get(_attribute_of(holder).lower())
            for navigation in navigations if lookup is not None else ():
                assert lookup is not None  # noqa: S101  for the type checker
                targets = self._model.targets(navigation.target)
                inherited = navigation not in self._model.document.types[self._whole.name].navigations
                # Of one to a base type, and of one that is inherited, the name is another's.
                partner = None if inherited or len(targets) > 1 else navigation.partner
                for target in targets:
                    name = partner or f"{self._name}_{lookup.logical_name}_{target}"
                    yield Relationship(
                        name, target, self._name, lookup.logical_name, on_delete=Cascade.REMOVE_LINK
                    )

    def _primary_name(self) -> str | None:
        prefix = self._name.partition("_")[0]
        texts = {
            name.lower()
            for name, each in self._whole.properties.items()
            if self._model.plain(each) == "Edm.String"
        }
        wanted = (*_NAMES, *(f"{prefix}_{each}" for each in _NAMES), f"{self._name}name")
        return next((each for each in wanted if each in texts), None)

    def _spell(self, name: str) -> bool:
        """Whether no other attribute has the name in other letters."""
        logical = name.lower()
        if logical in self._spelled:
            self._leave_out(name, f"Its name differs from {self._spelled[logical]} in case only.")
            return False
        self._spelled[logical] = name
        return True

    def _leave_out(self, name: str, reason: str) -> None:
        self._notes.append(left_out(f"{self._name}.{name}", reason))


def _is_fact(name: str, properties: Mapping[str, Property]) -> bool:
    """Whether a property says something of a file or image beside it."""
    if name.endswith("_name"):
        return _type_of(properties, name.removesuffix("_name")) == _GUID
    return any(
        _type_of(properties, name.removesuffix(suffix)) == "Edm.Binary"
        for suffix in ("id", "_timestamp", "_url")
        if name.endswith(suffix)
    )


def _type_of(properties: Mapping[str, Property], name: str) -> str | None:
    return properties[name].type if name in properties else None


def _is_lookup(property: Property) -> bool:
    name = property.name
    return (
        property.type == _GUID
        and name.startswith("_")
        and name.endswith("_value")
        and len(name) > len("__value")
    )


def _attribute_of(name: str) -> str:
    """`_primarycontactid_value` holds the lookup primarycontactid."""
    return name[1 : -len("_value")] if name.startswith("_") and name.endswith("_value") else name


def _options(name: str, entity: str, members: Mapping[str, int]) -> OptionSet:
    options = tuple(Option(value, Label({ENGLISH: text})) for text, value in members.items())
    return OptionSet(name, Label(), options, entity=entity)


def _set_name(entity: str) -> str:
    """An entity set's name as Dataverse makes it."""
    if entity.endswith(("s", "x", "z", "ch", "sh")):
        return f"{entity}es"
    return f"{entity[:-1]}ies" if entity.endswith("y") else f"{entity}s"


def _label(text: str) -> Label:
    return Label({ENGLISH: text}) if text else Label()
