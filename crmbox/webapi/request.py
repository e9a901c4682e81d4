"""One request, as handlers see it, and their answer. A request inside a `$batch` looks the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, BinaryIO
from urllib.parse import parse_qsl

from crmbox.platform import EmbeddedPlatform
from crmbox.webapi.body import parse_object
from crmbox.webapi.errors import WebApiError, bad_url
from crmbox.webapi.model import Model, current_model
from crmbox.webapi.paths import Segment
from crmbox.webapi.preferences import Preferences, parse_preferences
from crmclient import exact_json
from crmclient.platform import SERVICE_CALL, Call
from crmclient.values import Guid

LARGEST_BODY = 192 * 1024 * 1024
"""Bytes of a JSON body: a note's largest attachment in base64, and room around it."""

_SUPPRESS = "MSCRM.SuppressDuplicateDetection"
JSON_TYPE = "application/json; odata.metadata=minimal"


class Headers(Mapping[str, str]):
    """Headers by name, in upper or lower case."""

    def __init__(self, values: Iterable[tuple[str, str]] = ()) -> None:
        self._values = {name.lower(): value for name, value in values}

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@dataclass
class Request:
    """A request, or a part of a batch.

    `base` is `{scheme}://{host}{root}/api/data/v9.2/` as the caller wrote it: absolute URLs start with it.
    `path` is the rest of the path; `query` maps options and aliases (`$select`, `fetchXml`, `@p1`) to decoded
    text. `content_urls` has the URLs that `$n` refers to inside a change set: those of the records that part
    `n` created.
    """

    method: str
    base: str
    path: tuple[Segment, ...]
    query: Mapping[str, str]
    headers: Headers
    stream: BinaryIO
    raw_path: str = ""
    raw_query: str = ""
    call: Call = SERVICE_CALL
    platform: EmbeddedPlatform = field(default_factory=EmbeddedPlatform)
    content_urls: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take over from the headers whether duplicates are refused: each part of a batch has its own."""
        refuses_duplicates = self.headers.get(_SUPPRESS, "").lower() == "false"
        if refuses_duplicates is not self.call.refuses_duplicates:
            self.call = replace(self.call, refuses_duplicates=refuses_duplicates)

    @property
    def url(self) -> str:
        """Return the whole URL as the caller wrote it."""
        return self.base + self.raw_path + (f"?{self.raw_query}" if self.raw_query else "")

    @property
    def user(self) -> Guid:
        """Return the system user in whose name and with whose rights the request runs."""
        return self.call.caller or self.platform.who()

    @cached_property
    def model(self) -> Model:
        """Return the current metadata."""
        return current_model()

    @cached_property
    def prefer(self) -> Preferences:
        return parse_preferences(self.headers.get("Prefer", ""))

    @property
    def if_match(self) -> str | None:
        """Return the version that must be current: `*` for any version, None without the header."""
        return _entity_tag(self.headers.get("If-Match"))

    @property
    def if_none_match(self) -> str | None:
        """Return the version of the header, as `if_match` does.

        The word `null`, which clients send with every request, counts as no header.
        """
        value = self.headers.get("If-None-Match")
        return None if value == "null" else _entity_tag(value)

    def without_alias(self, literal: str) -> str:
        """Return a literal, or the one that an alias such as `@p1` stands for. Raises WebApiError."""
        if not literal.startswith("@"):
            return literal
        if literal not in self.query:
            raise bad_url(f"The parameter alias {literal} has no value in the query string.")
        return self.query[literal]

    def read(self) -> bytes:
        """Read the whole body. Raises WebApiError (413) if it is too large."""
        raw = self.stream.read(LARGEST_BODY + 1)
        if len(raw) > LARGEST_BODY:
            raise WebApiError(413, "0x80048d19", f"The body is larger than {LARGEST_BODY} bytes.")
        return raw

    def json(self) -> dict[str, Any]:
        """Parse the body as a JSON object, with fractions as Decimal. Raises WebApiError."""
        return parse_object(self.read())

    def json_or_empty(self) -> dict[str, Any]:
        """Parse the body as `json` does. Without a body the object is empty."""
        raw = self.read()
        return parse_object(raw) if raw.strip() else {}


@dataclass
class Response:
    """An answer. `body` is whole, or an iterator of pieces that are streamed."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | Iterator[bytes] = b""


def json_response(content: Any, status: int = 200, *, headers: Mapping[str, str] | None = None) -> Response:
    return Response(status, {"Content-Type": JSON_TYPE, **(headers or {})}, exact_json.render(content))


def no_content(headers: Mapping[str, str] | None = None) -> Response:
    return Response(204, dict(headers or {}))


def error_response(error: WebApiError) -> Response:
    return json_response(error.body, error.status, headers=error.headers)


def parse_query(text: str) -> dict[str, str]:
    """Return the options of a query string. Raises WebApiError if an option or alias comes twice."""
    options: dict[str, str] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name in options and name.startswith(("$", "@")):
            raise bad_url(
                f"Query option '{name}' was specified more than once, but it must be specified at most once."
            )
        options[name] = value
    return options


def _entity_tag(value: str | None) -> str | None:
    """Return the version in an entity tag such as `W/"123"`; `*` stays `*`."""
    if value is None or not value.strip():
        return None
    text = value.strip()
    return text if text == "*" else text.removeprefix("W/").strip('"')
