"""Queries and filters inside definitions: designed values in Python, FetchXML in JSON."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from crmclient.query.designed import DesignedFilter, DesignedQuery
from crmclient.query.fetchxml import parse, parse_filter, read, read_filter, write, write_filter
from crmclient.query.problems import Problem, QueryProblems
from designer.sentences import Sentence

N = TypeVar("N", DesignedQuery, DesignedFilter)


# How many texts are cached once they are read. When a configuration is read again, most are unchanged.
_MOST_CACHED = 4096


class UnreadableFetchXml(ValueError):
    """FetchXML that cannot be read. `rest` is what can be read of it; None for a text that is none."""

    def __init__(self, message: str, rest: DesignedQuery | DesignedFilter | None) -> None:
        self.rest = rest
        super().__init__(message)


def _reader(
    node: type[N], parse_text: Callable[[str], N], read_text: Callable[[str], tuple[N, list[Problem]]]
) -> Callable[[Any], N | None]:
    """Return a validator that takes a node, its FetchXML, or nothing (None or empty text).

    `parse_text` reads a text or raises; `read_text` reads as much of it as can be read.
    """
    parse_once = lru_cache(_MOST_CACHED)(parse_text)

    def rest_of(text: str) -> N | None:
        """Return what can be read of a text with problems."""
        try:
            return read_text(text)[0]
        except QueryProblems:
            return None

    def value(content: Any) -> N | None:
        """Return the node that `content` is or describes. Raises ValueError, which pydantic collects."""
        if content is None or isinstance(content, node):
            return content
        if not isinstance(content, str):
            raise ValueError(Sentence("write FetchXML, as text"))  # noqa: TRY004  pydantic collects ValueErrors
        if not content.strip():
            return None
        try:
            return parse_once(content)
        except QueryProblems as error:
            raise UnreadableFetchXml(str(error), rest_of(content)) from error

    return value


def _writer(write_node: Callable[[N], str]) -> Callable[[N | None], str]:
    """Return a serialiser that writes a node as FetchXML, and None as an empty text."""
    return lambda node: "" if node is None else write_node(node)


_TEXT = {"type": "string", "contentMediaType": "application/xml"}

# None stands for no query or filter. Its text is empty.
QueryValue: TypeAlias = Annotated[
    DesignedQuery | None,
    PlainValidator(_reader(DesignedQuery, parse, read)),
    PlainSerializer(_writer(write)),
    WithJsonSchema({**_TEXT, "description": "FetchXML: a fetch element."}),
]
FilterValue: TypeAlias = Annotated[
    DesignedFilter | None,
    PlainValidator(_reader(DesignedFilter, parse_filter, read_filter)),
    PlainSerializer(_writer(write_filter)),
    WithJsonSchema({**_TEXT, "description": "FetchXML: a filter element on the entity's own attributes."}),
]
