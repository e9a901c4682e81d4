"""Reading the names in a document: each is resolved to the value that this environment has for it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from xml.sax.saxutils import escape, unescape

from designer.definitions import ConfigurationDocument, InputDefinition
from designer.documents.keys import COLLECTIONS, Location, Place
from designer.documents.named_values import UNQUOTED, NamedValue, Use, is_name, path_of
from designer.documents.record_keys import LONGEST_NAME, NoSuchRecord, RecordKey, Records
from designer.sentences import Sentence
from designer.types import TYPES, InvalidInput, Limits

PREFIX: Final = "PORTICO_VALUE_"
_TEXT, _ID = "String", "Guid"
_SAMPLE_ID = str(TYPES[_ID].sample)
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,62}")
# A name of a value (group 1) or of a record (group 2) in FetchXML.
_IN_XML = re.compile(r"\{(?:env:([^{}<>\"']*)|record:([^{}<>\"]*))\}")
# Of the column that keeps where a name is used. Bodies of example calls are as deep as their author likes.
_LONGEST_PATH = 400


@dataclass(frozen=True, slots=True)
class ValueSources:
    """Where values come from: first `given`, then the environment of the process, then `stored`.

    The ids of records come from `records`.
    """

    records: Records
    given: Mapping[str, str] = field(default_factory=dict)
    stored: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """Return the text of a named value: given, in the environment (with the prefix), or stored; None
        without one.
        """
        for source, key in ((self.given, name), (os.environ, PREFIX + name), (self.stored, name)):
            if key in source:
                return source[key]
        return None


class Names:
    """The names in one document's JSON, where they stand, and the values that they have here."""

    def __init__(self, sources: ValueSources, place: Place) -> None:
        self._sources = sources
        self._place = place
        # Input types by name: the first that is stated, or String.
        self._types: dict[str, str] = {}
        # Ids of records by the names of their keys; empty where there is no such record.
        self._ids: dict[str, str] = {}
        # The places of names that have no value, by name.
        self._missing: dict[str, list[str]] = {}
        # A list of the document, the position of an item in it, the path in that item, and the name there.
        self._uses: list[tuple[str, int, str, str]] = []
        self._problems: list[str] = []

    def resolved(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return `data` with values in place of names.

        A name with a problem, see `problems`, gets a sample value of its type.
        """
        return {
            member: self._resolve(content, (member,))
            if member in _FIELDS and isinstance(content, list)
            else content
            for member, content in data.items()
        }

    @property
    def problems(self) -> list[str]:
        """Return a sentence for each name that has no value here, and for each that is wrong."""
        missing = [
            Sentence(
                "%(name)s has no value here. Set %(variable)s, or give it in a file with --values. It is "
                "used at %(places)s.",
                name=name,
                variable=PREFIX + name,
                places=", ".join(places),
            )
            for name, places in self._missing.items()
        ]
        return [*self._problems, *missing]

    def uses(self, document: ConfigurationDocument) -> list[Use]:
        """Return where the document, made of the resolved data, uses names."""
        return [
            Use(member, _FIELDS[member].key(getattr(document, member)[index]), path, name)
            for member, index, path, name in self._uses
        ]

    @property
    def values(self) -> list[NamedValue]:
        """Return the names in the document, with their types and values; without those that have no value."""
        entries = [(name, type, self._sources.text(name)) for name, type in self._types.items()]
        entries += [(name, _ID, id or None) for name, id in self._ids.items()]
        return [NamedValue(name, type, text) for name, type, text in entries if text is not None]

    def _resolve(self, content: Any, location: Location) -> Any:
        """Return `content` with values in place of the names in it.

        A name is `{"env": "MAIL"}`, with a `type` if it is no text, or a record by its key,
        `{"entity": "team", "key": {"name": "Portal"}}`; in FetchXML, `{env:MAIL}` or
        `{record:team(name='Portal')}`. What only looks like a name is written as `{"literal": …}`.
        """
        match content:
            case {"literal": literal} if is_name(content):
                return literal
            case {"env": str(name), **rest} if rest.keys() <= {"type"}:
                return self._value(name, rest.get("type", _TEXT), location)
            case {"entity": str(entity), "key": dict(key), **rest} if not rest:
                return self._id(RecordKey(entity, key), location)
            case dict():
                return {key: self._resolve(item, (*location, key)) for key, item in content.items()}
            case list():
                return [self._resolve(item, (*location, position)) for position, item in enumerate(content)]
            case str() if "<" in content:
                return _IN_XML.sub(
                    lambda reference: self._in_xml(reference[1], reference[2], location), content
                )
            case _:
                return content

    def _in_xml(self, name: str | None, key: str | None, location: Location) -> str:
        """Return the XML for a name in XML: of a value `name` or, with `key`, of a record."""
        if key is not None:
            return self._id_in_xml(unescape(key, UNQUOTED), location)
        text = self._text(name or "", None, location)
        # A name without a value has a problem already. A sample id is likely to fit, so that no second
        # problem follows from it.
        return escape(_SAMPLE_ID if text is None else text, {'"': "&quot;"})

    def _id_in_xml(self, name: str, location: Location) -> str:
        """Return the id of the record that a name in XML means; empty, with a problem noted, when it names no
        record.
        """
        record = RecordKey.of_name(name)
        if record is None:
            self._add_problem(
                location,
                Sentence(
                    "“%(name)s” does not name a record. Write its entity and the values of its key, such as "
                    "{record:team(name='Portal')}.",
                    name=name,
                ),
            )
            return ""
        return self._id(record, location)

    def _id(self, record: RecordKey, location: Location) -> str:
        """Return the id of the record; a sample id, with a problem noted, when the key does not mean exactly
        one record.
        """
        name = record.name
        # An export writes the name, and an import reads it again: it has to mean the same record.
        if RecordKey.of_name(name) != record or len(name) > LONGEST_NAME:
            self._add_problem(
                location,
                Sentence(
                    "%(record)s: name a record by its entity and at least one attribute, whose value is a "
                    "text, a number, true or false; %(most)s characters together.",
                    record=json.dumps(record.to_json(), ensure_ascii=False, default=str),
                    most=LONGEST_NAME,
                ),
            )
            return _SAMPLE_ID
        if name not in self._ids:
            self._ids[name] = self._id_of(record, location)
        self._note_use(name, location)
        return self._ids[name] or _SAMPLE_ID

    def _id_of(self, record: RecordKey, location: Location) -> str:
        """Return the id of the record; empty, with a problem noted, when there is not exactly one."""
        try:
            return self._sources.records.id_of(record)
        except NoSuchRecord as error:
            self._add_problem(location, error.sentence)
            return ""

    def _value(self, name: str, type: Any, location: Location) -> Any:
        """Return the value of a name of an input type; a sample, with a problem noted, without a right one.

        `type` is what the document says, which may be anything.
        """
        if type not in NAMED_TYPES:
            self._add_problem(
                location,
                Sentence(
                    "the type of %(name)s must be one of %(known)s, not %(type)s",
                    name=name,
                    type=json.dumps(type),
                    known=", ".join(NAMED_TYPES),
                ),
            )
            return TYPES[_TEXT].sample
        text = self._text(name, type, location)
        if text is None:
            return TYPES[type].sample
        value = TYPES[type].from_text(text)
        try:
            TYPES[type].compile(Limits.of(InputDefinition(name="value", type=type)))(value)
        except InvalidInput as error:
            self._add_problem(
                location, Sentence("%(name)s: %(why)s, not %(text)s", name=name, why=error.message, text=text)
            )
            return TYPES[type].sample
        return value

    def _text(self, name: str, type: str | None, location: Location) -> str | None:
        """Return the text that a name stands for here, and note that it is used; None, with a problem noted,
        without one.

        `type` is None in XML, where a name has no type: any type that it has elsewhere fits.
        """
        if _NAME.fullmatch(name) is None:
            self._add_problem(
                location,
                Sentence(
                    "“%(name)s” cannot be the name of a value. Use A to Z, 0 to 9 and _, and start with a "
                    "letter",
                    name=name,
                ),
            )
            return None
        # String may only stand for a name that has been used in XML, where it has no type.
        earlier_type = self._types.get(name)
        if type is not None and earlier_type not in (None, type, _TEXT):
            self._add_problem(
                location,
                Sentence(
                    "%(name)s is of the type %(known)s elsewhere, and %(type)s here",
                    name=name,
                    known=earlier_type,
                    type=type,
                ),
            )
        self._types[name] = type or earlier_type or _TEXT
        self._note_use(name, location)
        text = self._sources.text(name)
        if text is None:
            self._missing.setdefault(name, []).append(self._place(location))
        return text

    def _note_use(self, name: str, location: Location) -> None:
        """Note that `name` is used at `location`, or a problem where the way to it is too long to be kept."""
        field, position, *path = location
        place = path_of(path)
        if len(place) > _LONGEST_PATH:
            self._add_problem(
                location,
                Sentence(
                    "%(name)s stands too deep: the names of the members that lead to it have %(count)s "
                    "characters, and at most %(most)s can be kept",
                    name=name,
                    count=len(place),
                    most=_LONGEST_PATH,
                ),
            )
            return
        self._uses.append((str(field), int(position), place, name))

    def _add_problem(self, location: Location, sentence: Sentence) -> None:
        """Note a problem of a name at `location`."""
        self._problems.append(
            Sentence("%(place)s: %(sentence)s", place=self._place(location), sentence=sentence)
        )


def _nameable_types() -> Iterator[str]:
    """Yield the input types that a named value may have: those of single values without targets
    or options.
    """
    for name, input_type in TYPES.items():
        if (
            input_type.in_query
            and not input_type.is_several
            and not input_type.needs_targets
            and not input_type.is_choice
        ):
            yield name


_FIELDS = {collection.field: collection for collection in COLLECTIONS}
NAMED_TYPES: Final = tuple(_nameable_types())
