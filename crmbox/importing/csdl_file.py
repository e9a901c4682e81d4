"""Entities from a `$metadata` document (CSDL).

It knows less than the definitions: no labels, lengths or options, and choices look like whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from crmbox.engine.definitions import Ownership
from crmbox.importing import csdl_document
from crmbox.importing.csdl_document import Navigation, Property
from crmbox.importing.csdl_properties import (
    attribute_of,
    attribute_type,
    describes_file,
    is_lookup,
    key_lengths,
    primary_name,
)
from crmbox.importing.csdl_tables import Model
from crmbox.importing.source_entity import Described, Note, SourceEntity, Verdict, left_out
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


def entities(path: Path) -> Iterator[Described | Note]:
    """Yield the entities of a CSDL file, and notes about its other parts. Raises CannotRead, OSError."""
    document = csdl_document.read(path)
    model = Model(document)
    for name in document.repeated:
        yield left_out(name, "The document has another type of this name, which comes first.")
    for what, count in sorted(document.passed_over.items()):
        yield Note(Verdict.PASSED_OVER, what.strip(), f"{count:,} elements that describe no entity.")
    # The names in the document by their logical names.
    spelling_by_name: dict[str, str] = {}
    for name in document.types:
        if reason := model.why_no_table(name):
            yield left_out(name, reason)
            continue
        logical = name.lower()
        if logical in spelling_by_name:
            yield left_out(name, f"Its name differs from {spelling_by_name[logical]} in case only.")
            continue
        spelling_by_name[logical] = name
        # An intersect entity is made with its many-to-many relationship.
        if logical in model.intersects:
            continue
        properties = model.whole_type(name).properties
        # The reason why the entity is made only when it is named, if there is one.
        hidden = (
            None if name in document.sets or not document.sets else "The document has no entity set for it."
        )
        yield Described(logical, len(properties), partial(_read_entity, model, name), hidden)


def _read_entity(model: Model, name: str) -> SourceEntity:
    return _EntityReader(model, name).read()


class _EntityReader:
    """One entity of a document."""

    def __init__(self, model: Model, name: str) -> None:
        self._model = model
        self._whole_type = model.whole_type(name)
        self._name = name.lower()
        self._notes = list(self._whole_type.notes)
        # The names of attributes as the document spells them, by logical name (in small letters).
        self._spelled: dict[str, str] = {}
        self._key_lengths = key_lengths(self._whole_type.keys, self._whole_type.properties)

    def read(self) -> SourceEntity:
        """Return the entity as far as CSDL describes it, which has no labels, lengths and options."""
        # `whole_type` has the properties that the type inherits, too; only the type itself has a description.
        whole_type, name, document = self._whole_type, self._name, self._model.document
        own_type = document.types[whole_type.name]
        entity_set, *others = document.sets.get(whole_type.name) or [_entity_set_name(name)]
        if whole_type.name not in document.sets:
            reason = f"The document has no entity set for it. It is called {entity_set}."
            self._notes.append(Note(Verdict.CHANGED, name, reason))
        self._notes += [
            left_out(f"{name}: entity set {other_set}", f"The entity has the set {entity_set} already.")
            for other_set in others
        ]
        texts = {
            property.name.lower()
            for property in whole_type.properties.values()
            if self._model.plain(property) == "Edm.String"
        }
        name_attribute = primary_name(name, texts)
        attributes = [*self._attributes_but_lookups(name_attribute), *self._lookups()]
        keys = (tuple(attribute_of(path).lower() for path in key) for key in whole_type.keys)
        return SourceEntity(
            Entity(
                logical_name=name,
                entity_set=entity_set,
                label=Label(),
                plural_label=Label(),
                primary_id=whole_type.primary_id.lower(),
                primary_name=name_attribute,
                description=_label(own_type.description),
                keys=tuple(AlternateKey(f"{name}_key{n}", key) for n, key in enumerate(keys, 1)),
                has_notes=name in self._model.entities_with_notes,
                is_custom="_" in name,
            ),
            tuple(attributes),
            tuple(self._relationships(attributes)),
            tuple(self._model.many_to_many.get(whole_type.name, ())),
            ownership=Ownership.USER if "_ownerid_value" in whole_type.properties else Ownership.ORGANIZATION,
            schema_names={key: spelling for key, spelling in self._spelled.items() if key != spelling},
            only_completes=True,
            notes=tuple(self._notes),
        )

    def _attributes_but_lookups(self, name_attribute: str | None) -> Iterator[Attribute]:
        """Yield the attributes, except lookups and the primary id. Properties that only describe a file or
        image, such as `photo_url` of `photo`, are none.

        Left out with a note: a type that the CRM in the box lacks, and a name that another attribute has in
        other letters (`_note_spelling` notes it).
        """
        properties = self._whole_type.properties
        for name, property in properties.items():
            if name == self._whole_type.primary_id or is_lookup(property) or describes_file(name, properties):
                continue
            make = self._maker(property)
            if make is None:
                reason = f"The CRM in the box has no attributes of type {property.type or 'unknown'}."
                self._leave_out(name, reason)
            elif self._note_spelling(name):
                yield make(name_attribute)

    def _maker(self, property: Property) -> Callable[[str | None], Attribute] | None:
        """Return the function that makes the attribute of a property, given the entity's primary name.

        None for a property of a type that there is no attribute for.
        """
        short = csdl_document.short_name(property.type)
        enumeration = self._model.document.enumerations.get(short)
        if enumeration is not None and not property.type.startswith("Collection("):
            # A choice has one option of each value. Flags and enumerations with repeated values are none.
            options = _options(f"{self._name}_{property.name.lower()}", self._name, enumeration.members)
            if enumeration.is_flags or len(options.options) != len(
                {option.value for option in options.options}
            ):
                return None
            return partial(self._attribute, property, AttributeType.PICKLIST, options)
        type_ = attribute_type(property, self._model.plain(property), self._whole_type.properties)
        return None if type_ is None else partial(self._attribute, property, type_, None)

    def _attribute(
        self, property: Property, type_: AttributeType, options: OptionSet | None, name_attribute: str | None
    ) -> Attribute:
        """Return the attribute of a property. A text that is too long for its type becomes a memo."""
        name = property.name.lower()
        is_day = self._model.plain(property) == "Edm.Date"
        length = property.max_length or self._key_lengths.get(name, LONGEST_STRING)
        return Attribute(
            name,
            type_ if length <= LONGEST_STRING or type_ is not AttributeType.STRING else AttributeType.MEMO,
            description=_label(property.description),
            max_length=length if type_ is AttributeType.STRING else None,
            precision=property.scale,
            behavior=DateTimeBehavior.DATE_ONLY if is_day else DateTimeBehavior.USER_LOCAL,
            option_set=None if options is None else options.name,
            options=options,
            is_primary_name=name == name_attribute,
            is_custom="_" in name,
        )

    def _lookups(self) -> Iterator[Attribute]:
        """Yield the lookups, from properties such as `_ownerid_value`, the `holder` of the record's id.

        The navigation properties of a holder say what the lookup points at. A lookup without a target that
        exists is left out, with a note. Of another lookup, only the targets that do not exist are.
        """
        for holder, property in self._whole_type.properties.items():
            if not is_lookup(property):
                continue
            name = attribute_of(holder)
            navigations = self._whole_type.lookups.get(holder)
            if not navigations:
                self._leave_out(name, "No navigation property says what the lookup points at.")
                continue
            targets: list[str] = []
            missing: list[str] = []
            for navigation in navigations:
                entity_names = self._model.targets(navigation.target)
                if not entity_names:
                    missing.append(navigation.target)
                targets += [target for target in entity_names if target not in targets]
            self._note_missing_targets(name, missing, has_others=bool(targets))
            if targets and self._note_spelling(_spelled_as_navigations(name, navigations)):
                type_ = AttributeType.OWNER if name == "ownerid" else AttributeType.LOOKUP
                yield Attribute(name.lower(), type_, targets=tuple(targets), is_custom="_" in name)

    def _note_missing_targets(self, lookup: str, missing: Iterable[str], *, has_others: bool) -> None:
        """Note each target of a lookup that does not exist.

        Where the lookup `has_others`, the note is about the target alone, else about the whole lookup.
        """
        for target in missing:
            is_described = target in self._model.document.types
            if has_others:
                reason = f"The document does not describe {target}."
                if is_described:
                    reason = f"{target} is no entity with records."
                self._leave_out(f"{lookup}: target {target}", f"{reason} The lookup keeps its other targets.")
            elif is_described:
                self._leave_out(lookup, f"{target}, which it points at, is no entity with records.")
            else:
                self._leave_out(lookup, f"The document does not describe {target}, which it points at.")

    def _relationships(self, attributes: list[Attribute]) -> Iterator[Relationship]:
        """Yield a relationship for each target of each lookup among `attributes`."""
        lookups = {
            attribute.logical_name: attribute for attribute in attributes if attribute.type.is_reference
        }
        for holder, navigations in self._whole_type.lookups.items():
            lookup = lookups.get(attribute_of(holder).lower())
            if lookup is None:
                continue
            for navigation in navigations:
                targets = self._model.targets(navigation.target)
                inherited = navigation not in self._model.document.types[self._whole_type.name].navigations
                # A partner is the name of the relationship. That of a navigation property to a base type, or
                # of an inherited one, belongs to another relationship.
                partner = None if inherited or len(targets) > 1 else navigation.partner
                for target in targets:
                    name = partner or f"{self._name}_{lookup.logical_name}_{target}"
                    yield Relationship(
                        name, target, self._name, lookup.logical_name, on_delete=Cascade.REMOVE_LINK
                    )

    def _note_spelling(self, name: str) -> bool:
        """Note the spelling of a name. Return False when another attribute has the name in other letters."""
        logical = name.lower()
        if logical in self._spelled:
            self._leave_out(name, f"Its name differs from {self._spelled[logical]} in case only.")
            return False
        self._spelled[logical] = name
        return True

    def _leave_out(self, name: str, reason: str) -> None:
        self._notes.append(left_out(f"{self._name}.{name}", reason))


def _spelled_as_navigations(lookup: str, navigations: Iterable[Navigation]) -> str:
    """Return a lookup's name in upper and lower case as its navigation properties have it: `parentCustomerId`
    for parentcustomerid beside `parentCustomerId_account`. Without such a property, return it as it is.

    The navigation properties of a lookup with several targets end with `_` and the target.
    """
    size = len(lookup)
    for navigation in navigations:
        beginning, ending = navigation.name[:size], navigation.name[size:]
        if beginning.lower() == lookup.lower() and (not ending or ending.startswith("_")):
            return beginning
    return lookup


def _options(name: str, entity: str, members: Mapping[str, int]) -> OptionSet:
    options = tuple(Option(value, Label({ENGLISH: text})) for text, value in members.items())
    return OptionSet(name, Label(), options, entity=entity)


def _entity_set_name(entity: str) -> str:
    """Return the name that Dataverse would give the entity set of an entity."""
    if entity.endswith(("s", "x", "z", "ch", "sh")):
        return f"{entity}es"
    return f"{entity[:-1]}ies" if entity.endswith("y") else f"{entity}s"


def _label(text: str) -> Label:
    return Label({ENGLISH: text}) if text else Label()
