"""The values that records hold, one Python type for each attribute type.

| Attribute type | Python |
|---|---|
| String, Memo | str |
| Integer, BigInt, Picklist, State, Status | int |
| Decimal, Money | decimal.Decimal |
| Double | float |
| Boolean | bool |
| DateTime | datetime.datetime, aware, UTC; DateOnly behaviour: datetime.date |
| Uniqueidentifier | Guid: lower-case text with hyphens, without braces |
| MultiSelectPicklist | tuple[int, ...], ascending |
| Lookup, Customer, Owner | Reference |
| File, Image | FileInfo (read only; written by upload) |
| PartyList | tuple[Party, ...], in their order |

An empty attribute is None. Money and Decimal never pass through a float.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

from uuid_utils import uuid7

from crmclient.sentences import Sentence

Guid: TypeAlias = str

# Characters of a text that an error quotes.
_LONGEST_SHOWN: Final = 60
_CANONICAL: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch


def new_guid() -> Guid:
    """Return a GUID of version 7 for a new record. Such GUIDs that are made one after the other are close in
    an index.
    """
    return str(uuid7())


def parse_guid(text: str) -> Guid:
    """Return the canonical form of a GUID in any form that people paste: in upper case, in braces.

    Raises ValueError for anything else, compact and URN forms included.
    """
    if _CANONICAL(text):
        return text
    inner = text[1:-1] if len(text) == 38 and text[0] == "{" and text[-1] == "}" else text
    canonical = inner.lower()
    if not _CANONICAL(canonical):
        shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
        raise ValueError(Sentence("%(text)s is not a GUID", text=repr(shown)))
    return canonical


@dataclass(frozen=True, slots=True)
class Reference:
    """A lookup's value. `name` is the target's primary name, when the platform sent it."""

    entity: str
    id: Guid
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Party:
    """A participant in an activity: a record, a mail address, or a record that is reached by an address."""

    reference: Reference | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class FileInfo:
    """The description of the content of a file or image column. `size` is in bytes."""

    id: Guid
    file_name: str
    size: int
    content_type: str


Value: TypeAlias = (
    str
    | int
    | float
    | bool
    | Decimal
    | dt.datetime
    | dt.date
    | tuple[int, ...]
    | tuple[Party, ...]
    | Reference
    | FileInfo
    | None
)
Values: TypeAlias = Mapping[str, Value]


def references(value: object) -> Iterator[Reference]:
    """Yield the references in a value: that of a lookup, or those of a party list."""
    if isinstance(value, Reference):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            if isinstance(item, Party) and item.reference is not None:
                yield item.reference


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record that is handed to a process, which makes it."""

    entity: str
    values: Values


# What parameters of processes hold: inputs a record or several to be made, outputs several that there are.
ProcessValue: TypeAlias = Value | NewRecord | tuple[NewRecord, ...] | tuple[Reference, ...]
ProcessValues: TypeAlias = Mapping[str, ProcessValue]


@dataclass(frozen=True, slots=True)
class Record:
    """One record: the columns asked for, and its version (opaque text), None where it keeps none."""

    entity: str
    id: Guid
    version: str | None
    values: Values


@dataclass(frozen=True, slots=True)
class Stored:
    """The result of a write: the record's id and its new version, None for an entity without versions."""

    id: Guid
    version: str | None


@dataclass(frozen=True, slots=True)
class Upserted(Stored):
    """The result of an upsert. `created` tells whether the record is new."""

    created: bool


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows in the query's order, keyed by alias or attribute (`alias.attribute` for a link's columns).

    `next` asks for the following page, None when there is none; `total` is exact, and None unless asked for.
    """

    rows: list[dict[str, Value]]
    next: str | None
    total: int | None


@dataclass(frozen=True, slots=True)
class Download:
    """A file's description and its bytes, from `start` on. The chunks must be read or closed."""

    info: FileInfo
    start: int
    length: int
    chunks: Iterator[bytes]
