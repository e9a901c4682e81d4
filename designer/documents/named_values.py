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

# Characters of a name that FetchXML escapes: those of XML, and those that would end the name.
_QUOTED = {'"': "&quot;", "{": "&#123;", "}": "&#125;"}
UNQUOTED = {written: character for character, written in _QUOTED.items()}
_LITERAL = "literal"


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value that an environment supplies.

    `name` is the name of the value or, when the value is the id of a record, the text of `RecordKey.name`.
    `text` is the value as text of the input type `type`.
    """

    name: str
    type: str
    text: str

    @property
    def value(self) -> Any:
        """The value as JSON writes it."""
        return TYPES[self.type].from_text(self.text)

    @property
    def in_json(self) -> dict[str, Any]:
        """The JSON object that stands for the value in a document."""
        record = RecordKey.of_name(self.name)
        return {"env": self.name, "type": self.type} if record is None else record.to_json()

    @property
    def in_xml(self) -> str:
        """The text that stands for the value in FetchXML."""
        if RecordKey.of_name(self.name) is None:
            return f"{{env:{self.name}}}"
        return f"{{record:{escape(self.name, _QUOTED)}}}"


@dataclass(frozen=True, slots=True)
class Use:
    """The use of a named value in an item of the document.

    `path`: the names of the members that lead to it.
    """

    collection: str
    key: Key
    path: str
    name: str


def with_names(
    data: dict[str, Any], uses: Mapping[tuple[str, Key], list[tuple[str, NamedValue]]]
) -> dict[str, Any]:
    """Return the JSON of a document in which names stand for the values that came from names.

    `uses`: for the list and the key of an item, pairs of a path in the item and the value that came from a
    name. A value that has changed since stays as it is.
    """
    # No value came from a name: reading the document for the keys of its items would be in vain.
    if not uses:
        return {member: _with_names(content, (), []) for member, content in data.items()}
    document = ConfigurationDocument.model_validate(data)
    named = dict(data)
    for collection in COLLECTIONS:
        keys = [collection.key(item) for item in getattr(document, collection.field)]
        if collection.field in data:
            named[collection.field] = [
                _with_names(item, (), uses.get((collection.field, key), []))
                for key, item in zip(keys, data[collection.field], strict=True)
            ]
    return named


def _with_names(content: Any, location: Location, values: list[tuple[str, NamedValue]]) -> Any:
    """Return a part of an item, at `location` in it, with names for its values."""
    if isinstance(content, dict):
        if is_name(content):
            # A stored value that looks like a name, but is none.
            return {_LITERAL: content}
        return {key: _with_names(item, (*location, key), values) for key, item in content.items()}
    if isinstance(content, list):
        return [_with_names(item, (*location, index), values) for index, item in enumerate(content)]
    for path, named in values:
        if path != path_of(location):
            continue
        if _is_same(content, named.value):
            return named.in_json
        if isinstance(content, str) and "<" in content:
            # A value is the whole of an attribute or of an element. Part of one only looks like it.
            written = escape(named.text, {'"': "&quot;"})
            content = content.replace(f'"{written}"', f'"{named.in_xml}"')
            content = content.replace(f">{written}<", f">{named.in_xml}<")
    return content


def stands_in(item: Any, path: str, named: NamedValue) -> bool:
    """Whether the JSON of an item still has the value at `path`."""
    return bool(_with_names(item, (), [(path, named)]) != _with_names(item, (), []))


def is_name(content: dict[str, Any]) -> bool:
    """Whether the object stands for another value in a document: it is a name, or it is marked as a
    literal.
    """
    match content:
        case {"env": str(), **rest}:
            return rest.keys() <= {"type"}
        case {"entity": str(), "key": dict(), **rest}:
            return not rest
        case {"literal": dict(literal), **rest}:
            return not rest and is_name(literal)
    return False


def _is_same(first: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, where true is not 1."""
    if isinstance(first, bool) or isinstance(other, bool):
        return first is other
    numbers = (int, float, Decimal)
    if isinstance(first, numbers) and isinstance(other, numbers):
        return Decimal(str(first)) == Decimal(str(other))
    return type(first) is type(other) and bool(first == other)


def path_of(location: Location) -> str:
    """Return the path of a location, without positions in lists, so that moving an item there keeps its
    path.
    """
    return "/".join(str(part) for part in location if isinstance(part, str))
