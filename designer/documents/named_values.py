"""Values that differ from one environment to the next: a document names them, each environment supplies them.

    {"env": "PORTAL_TEAM_ID", "type": "Guid"}         where a value may stand
    value="{env:PORTAL_TEAM_ID}"                      in FetchXML
    {"entity": "team", "key": {"name": "Portal"}}     where the id of a record may stand
    value="{record:team(name='Portal')}"              in FetchXML
    {"literal": {"env": "PORTAL_TEAM_ID"}}            for what would be taken for a name, and is none

What is stored is the value. Which places have it from a name is kept beside, so that an export says the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from xml.sax.saxutils import escape

from designer.definitions import ConfigurationDocument
from designer.documents.keys import COLLECTIONS, Key, Location
from designer.documents.record_keys import RecordKey
from designer.types import TYPES

# What FetchXML must not have of a name as it is: characters of XML, and those that end the name.
_QUOTED = {'"': "&quot;", "{": "&#123;", "}": "&#125;"}
UNQUOTED = {written: character for character, written in _QUOTED.items()}
_LITERAL = "literal"


@dataclass(frozen=True, slots=True)
class NamedValue:
    """What an environment supplies: `text` as it was given, which is a value of the input type `type`.

    `name` is that of the value or, of the id of a record, what `RecordKey.name` writes.
    """

    name: str
    type: str
    text: str

    @property
    def value(self) -> Any:
        """As JSON has it."""
        return TYPES[self.type].from_text(self.text)

    @property
    def in_json(self) -> dict[str, Any]:
        """What a document says instead of the value."""
        record = RecordKey.of_name(self.name)
        return {"env": self.name, "type": self.type} if record is None else record.to_json()

    @property
    def in_xml(self) -> str:
        """What FetchXML says instead of the value."""
        if RecordKey.of_name(self.name) is None:
            return f"{{env:{self.name}}}"
        return f"{{record:{escape(self.name, _QUOTED)}}}"


@dataclass(frozen=True, slots=True)
class Use:
    """That an item of the document has a value from a name. `path`: the members that lead to it."""

    collection: str
    key: Key
    path: str
    name: str


def with_names(
    data: dict[str, Any], uses: Mapping[tuple[str, Key], list[tuple[str, NamedValue]]]
) -> dict[str, Any]:
    """A document's JSON with the names in the places that have their values from them.

    `uses`: path and value, by list and key. A place that has another value by now keeps that.
    """
    if not uses:
        return {member: _renamed(content, (), []) for member, content in data.items()}
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
    if isinstance(content, dict):
        if is_name(content):
            return {_LITERAL: content}
        return {key: _renamed(item, (*location, key), values) for key, item in content.items()}
    if isinstance(content, list):
        return [_renamed(item, (*location, at), values) for at, item in enumerate(content)]
    for path, named in values:
        if path != path_of(location):
            continue
        if _same(content, named.value):
            return named.in_json
        if isinstance(content, str) and "<" in content:
            written = escape(named.text, {'"': "&quot;"})
            content = content.replace(f'"{written}"', f'"{named.in_xml}"')
            content = content.replace(f">{written}<", f">{named.in_xml}<")
    return content


def is_name(content: dict[str, Any]) -> bool:
    """Whether a document that has it means another value: a name, or what is marked as none."""
    match content:
        case {"env": str(), **rest}:
            return rest.keys() <= {"type"}
        case {"entity": str(), "key": dict(), **rest}:
            return not rest
        case {"literal": dict(literal), **rest}:
            return not rest and is_name(literal)
    return False


def _same(one: Any, other: Any) -> bool:
    """As JSON has it: true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    numbers = (int, float, Decimal)
    if isinstance(one, numbers) and isinstance(other, numbers):
        return Decimal(str(one)) == Decimal(str(other))
    return type(one) is type(other) and bool(one == other)


def path_of(location: Location) -> str:
    """Without the places in lists: what is moved there stays what it is."""
    return "/".join(str(part) for part in location if isinstance(part, str))
