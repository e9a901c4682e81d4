"""A record's body taken apart: values, files, related records to make, and records to associate."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

from crmbox.webapi.errors import WebApiError, bad_payload
from crmbox.webapi.model import EntityType
from crmbox.webapi.navigation import Collection, Lookup
from crmbox.webapi.privileges import refuse_reference
from crmbox.webapi.records.parties import read_parties
from crmbox.webapi.records.references import read_reference
from crmbox.webapi.records.values import read_value, wrong_type
from crmbox.webapi.request import Request
from crmclient.errors import InvalidRecord, InvalidValue
from crmclient.metadata import Attribute
from crmclient.values import Guid, Reference, Value, parse_guid

_BIND = "@odata.bind"


@dataclass
class Draft:
    """A record as a body describes it.

    `parents` are created before the record, `children` after it; `ties` are records to associate it with.
    `files` has the bytes of file and image columns; `facts` has the name and type of a note's file.
    """

    type: EntityType
    id: Guid | None = None
    values: dict[str, Value] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    parents: list[tuple[Lookup, Draft]] = field(default_factory=list)
    children: list[tuple[Collection, Draft]] = field(default_factory=list)
    ties: list[tuple[Collection, Reference]] = field(default_factory=list)

    @property
    def is_simple(self) -> bool:
        """Return whether a single write of the platform stores the draft."""
        return not (self.files or self.parents or self.children or self.ties)


def read_draft(request: Request, type_: EntityType, body: dict[str, Any], *, creating: bool) -> Draft:
    """Read the values of a body.

    Raises WebApiError for unknown names, InvalidRecord for values of a wrong type.
    """
    reader = _Reader(request, type_, creating)
    for name, raw in body.items():
        reader.take(name, raw)
    if reader.problems:
        raise InvalidRecord(type_.name, reader.problems)
    return reader.draft


class _Reader:
    """Reads the properties of a body one by one into `draft`. Wrong values are collected in `problems`."""

    def __init__(self, request: Request, type_: EntityType, creating: bool) -> None:
        self.draft = Draft(type_)
        self.problems: list[InvalidValue] = []
        self._request = request
        self._type = type_
        self._creating = creating

    def take(self, name: str, raw: Any) -> None:
        """Take one property of the body. Raises WebApiError for one that the type does not have."""
        if name.endswith(_BIND):
            self._bind(name.removesuffix(_BIND), raw)
        elif "@" in name:
            self._check_annotated(name.partition("@")[0])
        elif name in self._type.lookups:
            self._take_nested(self._type.lookups[name], raw)
        elif name in self._type.collections and self._type.holds_parties(self._type.collections[name]):
            self._take_parties(name, raw)
        elif name in self._type.collections:
            self._take_nested_list(self._type.collections[name], raw)
        else:
            self._take_value(name, raw)

    def _bind(self, name: str, raw: Any) -> None:
        """Take `name@odata.bind`: the record of a lookup, or records to associate by a collection."""
        if name in self._type.lookups:
            self._refer(self._type.lookups[name], raw)
        elif name in self._type.collections:
            if not isinstance(raw, list):
                raise bad_payload(f"'{name}{_BIND}' of a collection takes an array of URLs.")
            references = [read_reference(self._request, url) for url in raw]
            self.draft.ties += [(self._type.collections[name], reference) for reference in references]
        else:
            raise undeclared_property(self._type, name)

    def _refer(self, lookup: Lookup, raw: Any) -> None:
        """Let a lookup point at the record of a URL; empty it for null."""
        # A lookup with several targets has a property for each. Null in one does not undo another.
        if raw is None:
            self.draft.values.setdefault(lookup.attribute, None)
            return
        reference = read_reference(self._request, raw)
        if reference.entity not in lookup.targets:
            raise bad_payload(
                f"'{lookup.name}' leads to {' or '.join(lookup.targets)}, not to {reference.entity}."
            )
        refuse_reference(
            self._request, self._type.name, self._type.attributes[lookup.attribute], reference.entity
        )
        self.draft.values[lookup.attribute] = reference

    def _check_annotated(self, name: str) -> None:
        """Check that an annotated property exists.

        Its annotations are ignored, and so are the control ones (`@…`).
        """
        if name and not self._is_property(name):
            raise undeclared_property(self._type, name)

    def _take_nested(self, lookup: Lookup, raw: Any) -> None:
        """Take the record that a lookup leads to and that is created before this one; null empties it."""
        # As in `_refer`, null does not undo another property of the same lookup.
        if raw is None:
            self.draft.values.setdefault(lookup.attribute, None)
        elif not isinstance(raw, dict):
            raise bad_payload(
                f"A 'PrimitiveValue' node was found when trying to read the value of the navigation property "
                f"'{lookup.name}'; write '{lookup.name}{_BIND}' to refer to a record."
            )
        elif not self._creating:
            raise bad_payload(f"'{lookup.name}': related records are made with their record, not on update.")
        else:
            target = self._target_of(lookup, raw)
            draft = read_draft(self._request, self._request.model.entity_type(target), raw, creating=True)
            self.draft.parents.append((lookup, draft))

    def _target_of(self, lookup: Lookup, raw: dict[str, Any]) -> str:
        """Return the entity of a nested record. Raises WebApiError where it is not clear."""
        type_name = str(raw.get("@odata.type", "")).rpartition(".")[2]
        if type_name in lookup.targets:
            return type_name
        if len(lookup.targets) > 1:
            raise bad_payload(f"'{lookup.name}' needs an @odata.type: {' or '.join(lookup.targets)}.")
        return lookup.targets[0]

    def _take_nested_list(self, collection: Collection, raw: Any) -> None:
        """Take records that are created along with this one."""
        if not self._creating:
            raise bad_payload(
                f"'{collection.name}': related records are made with their record, not on update."
            )
        if not isinstance(raw, list) or not all(isinstance(item, dict) for item in raw):
            raise bad_payload(f"'{collection.name}' takes an array of records.")
        target = self._request.model.entity_type(collection.entity)
        self.draft.children += [
            (collection, read_draft(self._request, target, item, creating=True)) for item in raw
        ]

    def _take_parties(self, name: str, raw: Any) -> None:
        """Take all parties of an activity. On update they replace those of every party list."""
        parties = read_parties(self._request, self._type, name, raw)
        lists = self._type.stored.party_lists
        written_lists = {
            list_name: parties.get(list_name, ())
            for list_name in lists
            if list_name in parties or not self._creating
        }
        self.draft.values |= written_lists

    def _take_value(self, name: str, raw: Any) -> None:
        """Take the value of a plain property. Raises WebApiError for an unknown one, and for a lookup's."""
        attribute = self._type.properties.get(name)
        if attribute is None:
            # The name of a file and the id of an image can be read, but are not written by themselves.
            if name in self._type.selectable:
                return
            raise bad_payload(
                f"Invalid property '{name}' was found in entity '{self._type.type_name}'. "
                f"The property '{name}' does not exist on type '{self._type.type_name}'. "
                "Make sure to only use property names that are defined by the type."
            )
        if attribute.type.is_reference:
            raise bad_payload(
                "CRM do not support direct update of Entity Reference properties, Use Navigation properties "
                f"instead: write '{attribute.logical_name}{_BIND}' instead of '{name}'."
            )
        if attribute.is_primary_id:
            self._take_id(attribute, raw)
        elif attribute.type.holds_file:
            self._take_file(attribute, raw)
        elif self._is_written(attribute, raw):
            self._put_value(attribute, raw)

    def _is_written(self, attribute: Attribute, raw: Any) -> bool:
        """Return whether a value is written.

        Values of attributes that the platform sets are ignored, as in Dataverse. A fact about a file, such as
        its name, is kept in `facts` instead.
        """
        if self._type.stored.columns[attribute.logical_name].definition.file_fact is not None:
            self.draft.facts[attribute.logical_name] = str(raw or "")
            return False
        return attribute.creatable if self._creating else attribute.updatable

    def _put_value(self, attribute: Attribute, raw: Any) -> None:
        """Put a value of JSON into the draft. A wrong one is noted as a problem."""
        try:
            self.draft.values[attribute.logical_name] = read_value(attribute, raw)
        except InvalidValue as problem:
            self.problems.append(problem)

    def _take_id(self, attribute: Attribute, raw: Any) -> None:
        """Take the id that the caller chooses, if any. A text that is no GUID is noted as a problem."""
        if raw is None:
            return
        try:
            self.draft.id = parse_guid(raw if isinstance(raw, str) else "")
        except ValueError:
            self.problems.append(wrong_type(attribute, f"{raw!r} is no GUID."))

    def _take_file(self, attribute: Attribute, raw: Any) -> None:
        """Take the bytes of a file column, in base64; null empties it. Wrong base64 is noted as a problem."""
        if raw is None:
            self.draft.values[attribute.logical_name] = None
            return
        try:
            self.draft.files[attribute.logical_name] = base64.b64decode(raw, validate=True)
        except (binascii.Error, ValueError, TypeError):
            self.problems.append(wrong_type(attribute, "The bytes are needed in base64."))

    def _is_property(self, name: str) -> bool:
        """Whether the type has a property or navigation property of this name."""
        type_ = self._type
        return name in type_.selectable or name in type_.lookups or name in type_.collections


def undeclared_property(type_: EntityType, name: str) -> WebApiError:
    """Return the error in the words of Dataverse, which clients look for.

    Names of navigation properties are case-sensitive.
    """
    return bad_payload(
        f"Error identified in Payload provided by the user for Entity :'{type_.entity.entity_set}'. "
        f"An undeclared property '{name}' which only has property annotations in the payload but no property "
        "value was found in the payload. In OData, only declared navigation properties and declared named "
        "streams can be represented as properties without values."
    )
