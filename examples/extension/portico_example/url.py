"""Url: an input type for addresses of the web."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

from crmclient.metadata import AttributeType
from designer.types.allowed import within
from designer.types.base import InputType, InvalidInput, Limits, Reader

LONGEST = 2000


@dataclass(frozen=True, slots=True)
class UrlType(InputType):
    """An absolute address, http or https. Its value is the text as it was sent."""

    name: str = "Url"
    label: str = "Web address"
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.STRING, AttributeType.MEMO})
    constraints: frozenset[str] = frozenset({"max_length", "allowed"})
    sample: ClassVar[Any] = "https://example.org/"
    is_textual: ClassVar[bool] = True

    @property
    def widget(self) -> str:
        return "url"

    def is_natural_for(self, attribute: Any) -> bool:
        # A text attribute holds any text: only who designs an input knows that it is an address.
        return False

    def compile(self, limits: Limits) -> Reader:
        longest = _longest(limits)

        def read(raw: Any) -> str:
            if type(raw) is not str or not _is_address(raw):
                raise InvalidInput("wrong_type", "Must be a web address: https://example.org/.")
            if len(raw) > longest:
                raise InvalidInput("too_long", f"At most {longest} characters.")
            return raw

        return within(limits, read)

    def schema(self, limits: Limits) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "format": "uri", "maxLength": _longest(limits)}
        return {**schema, "enum": list(limits.allowed)} if limits.allowed else schema


def _longest(limits: Limits) -> int:
    return LONGEST if limits.max_length is None else min(LONGEST, limits.max_length)


def _is_address(text: str) -> bool:
    if not text.isascii() or not text.isprintable() or " " in text:
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


URL = UrlType()
