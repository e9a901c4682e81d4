"""What the studio needs of the runtime, which implements it; `project` wires it, so no import goes up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from crmclient import Guid
from designer.configuration import Configuration, Endpoint
from designer.definitions import UserPropertyDefinition

Place: TypeAlias = Literal["body", "query", "header"]
Verdict: TypeAlias = Literal["passed", "refused", "skipped"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One value that a call takes: `type` is an input type's name, `schema` the JSON Schema of the value."""

    name: str
    place: Place
    schema: Mapping[str, Any]
    type: str = ""
    required: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """An endpoint as its callers would find it. `problem`: why it cannot be served; the rest is then empty.

    `body` and `answer` are JSON Schemas, `sample` and `answered` values that fit them: all as JSON text for
    people to read, empty where there is none. `curl` is a command line, with `$TOKEN` where one is needed.
    """

    problem: str = ""
    asked: tuple[Asked, ...] = ()
    body: str = ""
    sample: str = ""
    status: int = 0
    answer: str = ""
    answered: str = ""
    takes_file: bool = False
    curl: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A call to be tried, as a caller with `roles` and the platform's `user`; anonymous without either.

    `record`, `file` and `related` are the ids in the path, `query` and `headers` as sent; `content` is the
    body. `method` is one of the endpoint's; empty: its first.
    `dry`: what the rules need is read; what would then be asked of the platform, a read too, is not sent.
    """

    roles: Collection[str] = ()
    user: Guid | None = None
    anonymous: bool = False
    record: str = ""
    file: str = ""
    related: str = ""
    method: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    content_type: str = "application/json"
    dry: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that the call came to, in words, with what became of it."""

    title: str
    verdict: Verdict
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PlatformCall:
    """What was asked of the platform, or would have been: `request` as readable text; `sent` says which."""

    operation: str
    request: str
    sent: bool
    milliseconds: float = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """`status` is 0 where a dry run ended before there was an answer: at what it would have asked."""

    status: int
    headers: Mapping[str, str]
    body: str
    milliseconds: float
    steps: tuple[Step, ...]
    calls: tuple[PlatformCall, ...]


@dataclass(frozen=True, slots=True)
class UserExample:
    """What a user property is for one user: `value` as JSON text or, in words, the `problem` with it."""

    value: str = ""
    problem: str = ""


class NotReady(Exception):
    """An answer that is still being made; the text says when to ask again."""


class Runtime(Protocol):
    """The runtime, as the studio sees it."""

    def preview(self, endpoint: Endpoint, base: str) -> Preview:
        """`endpoint`, which need not be saved, at the service's URL `base`."""
        ...

    def attempt(self, endpoint: Endpoint, configuration: Configuration, attempt: Attempt) -> Outcome:
        """Try a call of `endpoint`. Whatever goes wrong is part of the outcome."""
        ...

    def user_example(
        self,
        properties: Sequence[UserPropertyDefinition],
        name: str,
        user: Guid,
        roles: Collection[str],
    ) -> UserExample:
        """What `name`, one of `properties`, is for a platform's user who calls with `roles`."""
        ...

    def openapi(self, roles: Collection[str] | None) -> bytes:
        """The OpenAPI document, as JSON, that callers with these roles are given; None: without a token.

        Raises NotReady while it is being made.
        """
        ...

    def users(self) -> Mapping[Guid, str]:
        """The platform's users, by id. Raises PlatformError while it is away."""
        ...


_runtime: Runtime | None = None


def provide(runtime: Runtime) -> None:
    """Say who answers; once, at start."""
    global _runtime
    _runtime = runtime


def get_runtime() -> Runtime:
    if _runtime is None:
        raise RuntimeError("no runtime has been provided to the studio")
    return _runtime
