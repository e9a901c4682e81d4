"""The base of every kind of operation: it answers requests, and describes itself."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from django.http.response import HttpResponseBase

from crmclient import Platform
from crmclient.metadata import OptionSet
from designer.configuration import Endpoint
from designer.definitions import EndpointSettings
from designer.sentences import Sentence
from runtime.http.bodies import read_body
from runtime.http.failures import Misconfigured
from runtime.request_context import Exchange
from runtime.values.fields import Field

S = TypeVar("S", bound=EndpointSettings)


@dataclass(frozen=True, slots=True)
class Description:
    """The description of an operation for the OpenAPI document: JSON Schemas, query parameters and problem
    codes.

    `success` is the status of a successful answer, the schema of its JSON body (None without a body), and a
    sentence about it. `others` has sentences about further statuses with the same body. `empty` is the
    sentence about 204, if the answer may have no body.

    `body` is the schema of the request's JSON body; with `body_optional` the request may have none. `bodies`
    has the schemas of other request bodies, by media type. `media` is the media type of the answer.
    `parameters` are OpenAPI parameters; `headers` has a sentence about each header of the answer. `problems`
    has problem codes by status. With `speaks_oauth`, a request that names a grant is refused in the words of
    OAuth 2.

    `fields` are the inputs that callers may send, `columns` the columns of each record in an answer.
    `option_set` is the option set that an answer lists. `related` is the entity of `{relatedId}` in the path.
    `components` are schemas that others refer to, by name.
    """

    success: tuple[int, dict[str, Any] | None, str]
    body: dict[str, Any] | None = None
    body_optional: bool = False
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    media: str = "application/json"
    others: dict[int, str] = field(default_factory=dict)
    empty: str = ""
    parameters: tuple[dict[str, Any], ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    problems: dict[int, tuple[str, ...]] = field(default_factory=dict)
    example: Any = None
    speaks_oauth: bool = False
    fields: tuple[Field, ...] = ()
    columns: tuple[Field, ...] = ()
    option_set: OptionSet | None = None
    related: str = ""
    components: Mapping[str, dict[str, Any]] = field(default_factory=dict)


_CACHE_HEADERS = {
    "ETag": "A digest of this answer.",
    "Age": "Seconds since this was read from the platform; absent where this very request has read it.",
    "Cache-Status": "What the cache has done (RFC 9211): `Portico; hit`, where the answer was kept.",
}


class Operation(ABC):
    """A served endpoint: its definition compiled for one revision of configuration and metadata.

    Compiling raises Misconfigured, or a MetadataError of the platform, when the definition
    cannot be served.
    """

    kind: ClassVar[str]
    # Whether answers are the same for every caller, and caches between caller and service may keep them for
    # revalidation.
    public_cache: ClassVar[bool] = False
    # False for operations that answer other types, and compare `Accept` themselves.
    answers_json: ClassVar[bool] = True

    # Whether an answer has an ETag, for `If-None-Match` to be compared with where requests come in.
    is_tagged: ClassVar[bool] = False

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        self.endpoint = endpoint
        self.platform = platform

    def require_entity(self) -> str:
        """Return the logical name of the exposed entity. Raises Misconfigured without one."""
        if self.endpoint.entity is None:
            raise Misconfigured(Sentence("a %(kind)s needs an entity", kind=self.kind))
        return self.endpoint.entity.entity

    def settings(self, declared: type[S]) -> S:
        """Return the endpoint's settings. Raises Misconfigured when they are not of the type `declared`."""
        settings = self.endpoint.definition.settings
        if not isinstance(settings, declared):
            raise Misconfigured(Sentence("the settings are not those of a %(kind)s", kind=self.kind))
        return settings

    def cache_headers(self) -> dict[str, str]:
        """Return the descriptions of the headers of cached answers; empty when answers are not cached."""
        return {} if self.endpoint.definition.settings.answer_cache is None else dict(_CACHE_HEADERS)

    @abstractmethod
    def run(self, exchange: Exchange) -> HttpResponseBase:
        """Answer a request of a caller who may call this endpoint."""

    def body_digest(self, exchange: Exchange) -> str:
        """Return the digest of the request's body, for its Idempotency-Key."""
        with exchange.transfer():
            body = read_body(exchange.request)
        return hashlib.sha256(body).hexdigest()

    def hold_back(self, silent: Platform, exchange: Exchange) -> None:
        """Send the operation's own requests to `silent`, which does not pass them on, from now on. A dry run
        makes an operation for itself and calls this.

        The requests of the steps are still sent. Override this where one of the operation's own requests goes
        through the steps or through another object.
        """
        self.platform = silent

    @abstractmethod
    def describe(self) -> Description:
        """Return the description of the endpoint for the OpenAPI document."""

    def describe_item(self) -> Description:
        """Return the description of the path of one item, for an endpoint that has such a path."""
        return self.describe()
