"""Records that a document names by values that they have, since their ids differ between environments.

{"entity": "team", "key": {"name": "Portal"}}     where an id may stand
value="{record:team(name='Portal')}"              in FetchXML
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Protocol

import jiter

from designer.sentences import Sentence

LONGEST_NAME: Final = 400
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
# Numbers as JSON has them, and not longer than a name may be.
_NUMBER = r"-?(?:0|[1-9][0-9]{0,399})(?:\.[0-9]{1,399})?"
_VALUE = rf"'(?:[^']|'')*'|{_NUMBER}|true|false"
_PAIR = re.compile(rf"\s*({_IDENTIFIER})\s*=\s*({_VALUE})\s*")
# Groups: the entity, and the pairs.
_WHOLE = re.compile(rf"\s*({_IDENTIFIER})\s*\(((?:{_PAIR.pattern},)*{_PAIR.pattern})\)\s*")

KeyValue = str | bool | int | Decimal


@dataclass(frozen=True, slots=True)
class RecordKey:
    """The one record of `entity` with the values of `key`."""

    entity: str
    key: Mapping[str, KeyValue]

    @classmethod
    def of_name(cls, name: str) -> RecordKey | None:
        """Parse a text that the property `name` gave; None for any other text, or when an attribute
        comes twice.
        """
        match = _WHOLE.fullmatch(name)
        if match is None:
            return None
        pairs = [(pair[1], _value_of_literal(pair[2])) for pair in _PAIR.finditer(match[2])]
        key = dict(pairs)
        return cls(match[1], key) if len(key) == len(pairs) else None

    @property
    def name(self) -> str:
        """The key as the Web API of Dataverse writes keys, such as `team(name='Portal')`."""
        pairs = ",".join(f"{attribute}={_literal(value)}" for attribute, value in self.key.items())
        return f"{self.entity}({pairs})"

    def to_json(self) -> dict[str, Any]:
        """Return the object that stands for the id of the record in a document."""
        return {"entity": self.entity, "key": dict(self.key)}


class NoSuchRecord(Exception):
    """The key does not identify exactly one record. `sentence` says why, and what to do."""

    def __init__(self, sentence: Sentence) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Records(Protocol):
    """The platform's records, as far as documents name them."""

    def id_of(self, record: RecordKey) -> str:
        """Return the id of the record that has the key.

        Raises NoSuchRecord when no record or more than one has it, or when that cannot be found out.
        """
        ...


def _value_of_literal(text: str) -> KeyValue:
    """Return the value that `_literal` wrote: a text in single quotes, a number, true or false."""
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    number: KeyValue = jiter.from_json(text.encode(), float_mode="decimal")
    return number


def _literal(value: KeyValue) -> str:
    """Return the value as the name of a record writes it. A quote in a text is doubled."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
