"""String and Text: characters, with lengths and patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import re2

from crmclient.metadata import AttributeType
from designer.types.allowed import within
from designer.types.base import InvalidInput, Limits, Reader


@dataclass(frozen=True, slots=True)
class TextType:
    """A text. A required one holds more than blanks."""

    name: str
    label: str
    attribute_types: frozenset[AttributeType]
    constraints: frozenset[str] = frozenset({"min_length", "max_length", "pattern", "allowed"})

    def compile(self, limits: Limits) -> Reader:
        shortest, longest = limits.min_length or 0, limits.max_length
        matches = _matcher(limits.pattern)
        required = limits.required

        def read(raw: Any) -> str:
            if type(raw) is not str:
                raise InvalidInput("wrong_type", "Must be a string.")
            if required and not raw.strip():
                raise InvalidInput("required", "Must not be blank.")
            if longest is not None and len(raw) > longest:
                raise InvalidInput("too_long", f"At most {longest} characters.")
            if len(raw) < shortest:
                raise InvalidInput("too_short", f"At least {shortest} characters.")
            if matches is not None and not matches(raw):
                raise InvalidInput("pattern", f"Must match the pattern {limits.pattern}")
            return raw

        return within(limits, read)

    def schema(self, limits: Limits) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        if limits.max_length is not None:
            schema["maxLength"] = limits.max_length
        shortest = max(limits.min_length or 0, 1 if limits.required else 0)
        if shortest:
            schema["minLength"] = shortest
        if limits.pattern:
            schema["pattern"] = f"^(?:{limits.pattern})$"
        if limits.allowed:
            schema["enum"] = list(limits.allowed)
        return schema


def _matcher(pattern: str) -> Any:
    """A linear-time matcher of the whole text (RE2); None when there is no pattern."""
    if not pattern:
        return None
    try:
        return re2.compile(pattern).fullmatch
    except re2.error as error:
        raise ValueError(f"the pattern {pattern!r} is not one: {error}") from error


STRING = TextType("String", "Text, one line", frozenset({AttributeType.STRING, AttributeType.MEMO}))
TEXT = TextType("Text", "Text, several lines", frozenset({AttributeType.MEMO}))
