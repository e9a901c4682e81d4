"""Values that differ from one environment to the next: a document names them, each environment supplies them.

    {"env": "PORTAL_TEAM_ID", "type": "Guid"}     where a value may stand
    value="{env:PORTAL_TEAM_ID}"                  in FetchXML

What is stored is the value. Which places have it from a name is kept beside, so that an export says the name.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final
from xml.sax.saxutils import escape

from designer.definitions import ConfigurationDocument, InputDefinition
from designer.documents.keys import COLLECTIONS, Key, Location, Place
from designer.documents.problems import DocumentError
from designer.sentences import Sentence
from designer.types import TYPES, InvalidInput, Limits

PREFIX: Final = "PORTICO_VALUE_"
_TEXT = "String"
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,62}")
_IN_XML = re.compile(r"\{env:([^{}<>\"']*)\}")


@dataclass(frozen=True, slots=True)
class NamedValue:
    """What an environment supplies: `text` as it was given, which is a value of the input type `type`."""

    name: str
    type: str
    text: str

    @property
    def value(self) -> Any:
        """As JSON has it."""
        return TYPES[self.type].from_text(self.text)


@dataclass(frozen=True, slots=True)
class Use:
    """That an item of the document has a value from a name. `path`: the members that lead to it."""

    collection: str
    key: Key
    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Supply:
    """Where values come from: those `given`, then the process's environment, then what is `stored`."""

    given: Mapping[str, str] = field(default_factory=dict)
    stored: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """What the environment says for `name`. Variables without the prefix cannot be named."""
        for source, key in ((self.given, name), (os.environ, PREFIX + name), (self.stored, name)):
            if key in source:
                return source[key]
        return None


class Names:
    """The names in one document's JSON, where they stand, and the values that they have here."""

    def __init__(self, supply: Supply, place: Place) -> None:
        self._supply = supply
        self._place = place
        self._types: dict[str, str] = {}
        self._missing: dict[str, list[str]] = {}
        self._uses: list[tuple[str, int, str, str]] = []
        self._problems: list[str] = []

    def resolved(self, data: dict[str, Any]) -> dict[str, Any]:
        """`data` with values for names. Raises DocumentError, with every name that has no value here."""
        named = {
            member: self._resolve(content, (member,))
            if member in _FIELDS and isinstance(content, list)
            else content
            for member, content in data.items()
        }
        self._problems += [
            Sentence(
                "%(name)s has no value here. Set %(variable)s, or give it in a file with --values. It is "
                "used at %(places)s.",
                name=name,
                variable=PREFIX + name,
                places=", ".join(places),
            )
            for name, places in self._missing.items()
        ]
        if self._problems:
            raise DocumentError(self._problems)
        return named

    def uses(self, document: ConfigurationDocument) -> list[Use]:
        """Of the document that was made of the resolved data."""
        return [
            Use(member, _FIELDS[member].key(getattr(document, member)[at]), path, name)
            for member, at, path, name in self._uses
        ]

    @property
    def values(self) -> list[NamedValue]:
        return [
            NamedValue(name, type, text)
            for name, type in self._types.items()
            if (text := self._supply.text(name)) is not None
        ]

    def _resolve(self, content: Any, location: Location) -> Any:
        match content:
            case {"env": str(name), **rest} if rest.keys() <= {"type"}:
                return self._value(name, rest.get("type", _TEXT), location)
            case dict():
                return {key: self._resolve(item, (*location, key)) for key, item in content.items()}
            case list():
                return [self._resolve(item, (*location, at)) for at, item in enumerate(content)]
            case str() if "<" in content:
                return _IN_XML.sub(lambda found: self._in_xml(found[1], location), content)
            case _:
                return content

    def _in_xml(self, name: str, location: Location) -> str:
        text = self._text(name, None, location)
        return escape(text or "", {'"': "&quot;"})

    def _value(self, name: str, type: Any, location: Location) -> Any:
        if type not in NAMED_TYPES:
            self._say(
                location,
                Sentence(
                    "the type of %(name)s is one of %(known)s, not %(type)s",
                    name=name,
                    type=json.dumps(type),
                    known=", ".join(NAMED_TYPES),
                ),
            )
            return None
        text = self._text(name, type, location)
        if text is None:
            return None
        value = TYPES[type].from_text(text)
        try:
            TYPES[type].compile(Limits.of(InputDefinition(name="value", type=type)))(value)
        except InvalidInput as error:
            self._say(
                location, Sentence("%(name)s: %(why)s, not %(text)s", name=name, why=error.message, text=text)
            )
        return value

    def _text(self, name: str, type: str | None, location: Location) -> str | None:
        if _NAME.fullmatch(name) is None:
            self._say(
                location,
                Sentence(
                    "“%(name)s” is no name of a value: use A to Z, 0 to 9 and _, and begin with a letter",
                    name=name,
                ),
            )
            return None
        known = self._types.get(name)
        if type is not None and known not in (None, type, _TEXT):
            self._say(
                location,
                Sentence(
                    "%(name)s is of the type %(known)s elsewhere, and %(type)s here",
                    name=name,
                    known=known,
                    type=type,
                ),
            )
        self._types[name] = type or known or _TEXT
        field, at, *path = location
        self._uses.append((str(field), int(at), _path(path), name))
        text = self._supply.text(name)
        if text is None:
            self._missing.setdefault(name, []).append(self._place(location))
        return text

    def _say(self, location: Location, sentence: Sentence) -> None:
        self._problems.append(
            Sentence("%(place)s: %(sentence)s", place=self._place(location), sentence=sentence)
        )


def with_names(
    data: dict[str, Any], uses: Mapping[tuple[str, Key], list[tuple[str, NamedValue]]]
) -> dict[str, Any]:
    """A document's JSON with the names in the places that have their values from them.

    `uses`: path and value, by list and key. A place that has another value by now keeps that.
    """
    if not uses:
        return data
    document = ConfigurationDocument.model_validate(data)
    named = dict(data)
    for collection in COLLECTIONS:
        keys = [collection.key(item) for item in getattr(document, collection.field)]
        if collection.field in data:
            named[collection.field] = [
                _renamed(item, (), uses.get((collection.field, key), []))
                for key, item in zip(keys, data[collection.field], strict=True)
            ]
    return named


def _renamed(content: Any, location: Location, values: list[tuple[str, NamedValue]]) -> Any:
    if not values:
        return content
    if isinstance(content, dict):
        return {key: _renamed(item, (*location, key), values) for key, item in content.items()}
    if isinstance(content, list):
        return [_renamed(item, (*location, at), values) for at, item in enumerate(content)]
    for path, named in values:
        if path != _path(location):
            continue
        if _same(content, named.value):
            return {"env": named.name, "type": named.type}
        if isinstance(content, str) and "<" in content:
            written = escape(named.text, {'"': "&quot;"})
            content = content.replace(f'"{written}"', f'"{{env:{named.name}}}"')
            content = content.replace(f">{written}<", f">{{env:{named.name}}}<")
    return content


def _same(one: Any, other: Any) -> bool:
    """As JSON has it: true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    numbers = (int, float, Decimal)
    if isinstance(one, numbers) and isinstance(other, numbers):
        return Decimal(str(one)) == Decimal(str(other))
    return type(one) is type(other) and bool(one == other)


def _path(location: Location) -> str:
    """Without the places in lists: what is moved there stays what it is."""
    return "/".join(str(part) for part in location if isinstance(part, str))


def _nameable() -> Iterator[str]:
    for name, known in TYPES.items():
        if known.in_query and not known.is_several and not known.needs_targets and not known.is_choice:
            yield name


_FIELDS = {collection.field: collection for collection in COLLECTIONS}
NAMED_TYPES: Final = tuple(_nameable())
