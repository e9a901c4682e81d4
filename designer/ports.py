"""The interface of the runtime that the studio needs. `project` provides it, so nothing imports upwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias

from crmclient import Guid
from designer.configuration import Configuration, Endpoint
from designer.definitions import IssuerDefinition, UserPropertyDefinition
from designer.names import USER_TYPE

Place: TypeAlias = Literal["body", "query", "header"]
# The claims of a caller without a token of an issuer.
NO_CLAIMS: Mapping[str, Any] = MappingProxyType({})
Verdict: TypeAlias = Literal["passed", "refused", "skipped"]
CallerSource: TypeAlias = Literal["account", "key"]


@dataclass(frozen=True, slots=True)
class CallField:
    """One value that a call takes: `type` is an input type's name, `schema` the JSON Schema of the value."""

    name: str
    place: Place
    schema: Mapping[str, Any]
    type: str = ""
    required: bool = False
    description: str = ""

    @property
    def is_file(self) -> bool:
        """Whether the value is the bytes of a file."""
        return self.schema.get("format") == "binary"


@dataclass(frozen=True, slots=True)
class Preview:
    """An endpoint as its callers would find it.

    `problem`: why it cannot be served; the rest is then empty. `body` and `answer` are JSON Schemas, `sample`
    and `answered` values that fit them: all as JSON text for people to read, empty where there is none.
    `curl` is a command line, with `$TOKEN` where a token is needed.
    """

    problem: str = ""
    fields: tuple[CallField, ...] = ()
    body: str = ""
    sample: str = ""
    status: int = 0
    answer: str = ""
    answered: str = ""
    takes_file: bool = False
    curl: str = ""


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A made-up file of `size` bytes, with the signature of its type, in place of somebody's own."""

    name: str
    content_type: str
    size: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """A call to be tried, as a caller of `caller_type` with `roles`, who stands for `caller_record`, a record
    of the type's entity, or for none. `claims` are what expressions read as `user.claims`.

    `record`, `file` and `related` are the ids in the path, `query` and `headers` as sent; `content` is the
    body; `sample` is sent instead of one. Where a key finds the record, `record` is the key's value. `method`
    is one of the endpoint's; empty: its first.
    `dry`: what the rules need is read; what would then be asked of the platform, a read too, is not sent.
    """

    roles: Collection[str] = ()
    caller_type: str = USER_TYPE
    caller_record: Guid | None = None
    claims: Mapping[str, Any] = field(default_factory=dict)
    anonymous: bool = False
    record: str = ""
    file: str = ""
    related: str = ""
    method: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    content_type: str = "application/json"
    sample: SampleFile | None = None
    dry: bool = True

    @property
    def stands_for(self) -> str:
        """The caller's record for the audit log, after the caller type unless that is `user`."""
        kind = "" if self.caller_type == USER_TYPE else self.caller_type
        return f"{kind} {self.caller_record or ''}".strip()


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that the call was checked by, in words, and the verdict."""

    title: str
    verdict: Verdict
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PlatformCall:
    """A call of the platform, made (`sent`) or left out by a dry run. `request` is readable text."""

    operation: str
    request: str
    sent: bool
    milliseconds: float = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a tried call.

    `status` is 0 where a dry run ended at a call of the platform, without an answer.
    """

    status: int
    headers: Mapping[str, str]
    body: str
    milliseconds: float
    steps: tuple[Step, ...]
    calls: tuple[PlatformCall, ...]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The answer that a call would get, found out without changing a record.

    `status` is 0 where the call ended at a write that was not sent. `answer` is the JSON of the body; None
    where there is none. `problem` is the answer's message for a status of 400 and above.
    """

    status: int
    answer: Any = None
    problem: str = ""
    milliseconds: float = 0


@dataclass(frozen=True, slots=True)
class UserExample:
    """A user property of one user: its `value` as JSON text, or the `problem` with it in words."""

    value: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ExplainedStep:
    """One check of a token, in words. `setting` is the field of the issuer that decides, in the definition's
    terms; empty where none does. `harmless`: the token is accepted although this step fails.
    """

    title: str
    verdict: Verdict
    expected: str = ""
    found: str = ""
    setting: str = ""
    harmless: bool = False


@dataclass(frozen=True, slots=True)
class KnownCaller:
    """A caller as the service recognises it. `name` says in words which one.

    `refused` says why all requests of the caller are refused now; empty where they are not. `note` says what
    else one has to know about the roles.
    """

    name: str
    type: str
    roles: tuple[str, ...] = ()
    record: str = ""
    refused: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What becomes of a token.

    `issuer` is the name of the issuer that the token is of, or seems to be meant for; empty where there is
    none. `of_environment`: that issuer comes from the setting ISSUERS. `caller`: whom the token stands for,
    also where it is refused; None where that cannot be told.
    """

    accepted: bool
    steps: tuple[ExplainedStep, ...]
    issuer: str = ""
    of_environment: bool = False
    caller: KnownCaller | None = None


@dataclass(frozen=True, slots=True)
class DiscoveredIssuer:
    """An issuer's OpenID configuration and keys, or the `problem` that prevented reading them."""

    address: str
    issuer: str = ""
    keys_url: str = ""
    algorithms: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    problem: str = ""


class NotReady(Exception):
    """The answer is still being made. The text says when to ask again."""


class Runtime(Protocol):
    """The runtime, as the studio sees it."""

    def preview(self, endpoint: Endpoint, base: str) -> Preview:
        """Return the preview of `endpoint`, which need not be saved. `base` is the URL of the service."""
        ...

    def attempt(self, endpoint: Endpoint, configuration: Configuration, attempt: Attempt) -> Outcome:
        """Try a call of `endpoint`. Whatever goes wrong is part of the outcome."""
        ...

    def rehearse(self, endpoint: Endpoint, configuration: Configuration, attempt: Attempt) -> Rehearsal:
        """Make a call of `endpoint`, whatever `attempt.dry` says, and take back what it has written.

        A write that the platform cannot take back is not sent.
        """
        ...

    def user_example(
        self,
        properties: Sequence[UserPropertyDefinition],
        name: str,
        user: Guid,
        roles: Collection[str],
        caller_type: str = USER_TYPE,
        claims: Mapping[str, Any] = NO_CLAIMS,
    ) -> UserExample:
        """Return the value of the property `name` for one caller.

        `name` is one of `properties` of `caller_type`. The caller stands for the record `user` (empty: for
        none), has `roles`, and `claims` in the token.
        """
        ...

    def openapi(
        self,
        roles: Collection[str] | None,
        caller_type: str = USER_TYPE,
        configuration: Configuration | None = None,
    ) -> bytes:
        """Return the OpenAPI document, as JSON, that callers of a type with these roles get.

        `roles` is None for callers without a token. `configuration`: one that is not live, instead of the
        live one. Raises NotReady while the document is being made.
        """
        ...

    def schema(
        self,
        roles: Collection[str] | None,
        caller_type: str = USER_TYPE,
        configuration: Configuration | None = None,
    ) -> bytes:
        """Return the answer of `/api/schema`, with the arguments and errors of `openapi`."""
        ...

    def explain_token(self, token: str, configuration: Configuration) -> Explanation:
        """Check a token step by step, and explain each step. Registers, stores and logs nothing."""
        ...

    def caller_names(self, kind: CallerSource, most: int) -> Sequence[str]:
        """Return the first `most` names of API accounts or API keys."""
        ...

    def caller_named(self, kind: CallerSource, name: str, configuration: Configuration) -> KnownCaller | None:
        """Return the caller that an API account or API key stands for; None where there is no such account or
        key.
        """
        ...

    def callers_of_record(
        self, caller_type: str, record: Guid, configuration: Configuration
    ) -> Sequence[KnownCaller]:
        """Return everybody who calls as a record of a caller type.

        That is by API accounts and keys that have the record, and by tokens of each enabled issuer of the
        type. Raises PlatformError while the record cannot be read.
        """
        ...

    def discover(self, issuer: str, address: str) -> DiscoveredIssuer:
        """Read the OpenID configuration at `address`; empty: at the usual address of `issuer`."""
        ...

    def key_problem(self, issuer: IssuerDefinition) -> str:
        """Return why the keys of `issuer` cannot be read now; empty when they can."""
        ...

    def environment_issuers(self) -> Sequence[IssuerDefinition]:
        """Return the issuers that the setting ISSUERS describes."""
        ...

    def users(self) -> Mapping[Guid, str]:
        """Return the platform's users, by id. Raises PlatformError while the platform is away."""
        ...


_runtime: Runtime | None = None


def provide(runtime: Runtime) -> None:
    """Provide the runtime, once, at start."""
    global _runtime
    _runtime = runtime


def get_runtime() -> Runtime:
    """Return the runtime. Raises RuntimeError when none was provided."""
    if _runtime is None:
        raise RuntimeError("no runtime has been provided to the studio")
    return _runtime
