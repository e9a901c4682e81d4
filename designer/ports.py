"""What the studio needs of the runtime, which implements it; `project` wires it, so no import goes up."""

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
# Of a caller without a token of an issuer.
NO_CLAIMS: Mapping[str, Any] = MappingProxyType({})
Verdict: TypeAlias = Literal["passed", "refused", "skipped"]
CallerSource: TypeAlias = Literal["account", "key"]


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
    """A call to be tried, as a caller of `caller_type` with `roles`, who stands for `caller_record`, a record
    of the type's entity, or for none. `claims` are what expressions read as `user.claims`.

    `record`, `file` and `related` are the ids in the path, `query` and `headers` as sent; `content` is the
    body. Where a key finds the record, `record` is the key's value. `method` is one of the endpoint's; empty:
    its first.
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
    dry: bool = True

    @property
    def stands_for(self) -> str:
        """The caller's record, for the audit log: of any type but users after its type."""
        kind = "" if self.caller_type == USER_TYPE else self.caller_type
        return f"{kind} {self.caller_record or ''}".strip()


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
class Rehearsal:
    """What a call would be answered, found out without changing a record.

    `status` is 0 where the call ended at a write that was not sent. `answer` is the JSON of the body; None
    where there is none. `problem` says, for a status of 400 and above, what the answer says.
    """

    status: int
    answer: Any = None
    problem: str = ""
    milliseconds: float = 0


@dataclass(frozen=True, slots=True)
class UserExample:
    """What a user property is for one user: `value` as JSON text or, in words, the `problem` with it."""

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

    `refused` says why its requests are refused now, whatever they ask for; empty where they are not. `note`
    says what else has to be known of its roles.
    """

    name: str
    type: str
    roles: tuple[str, ...] = ()
    record: str = ""
    refused: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What becomes of a token. `issuer` is the name of the issuer that has it, or that it seems to be meant
    for; empty where there is none.

    `of_environment`: the setting ISSUERS has that issuer. `caller`: whom the token stands for, also where it
    is refused; None where that cannot be told.
    """

    accepted: bool
    steps: tuple[ExplainedStep, ...]
    issuer: str = ""
    of_environment: bool = False
    caller: KnownCaller | None = None


@dataclass(frozen=True, slots=True)
class DiscoveredIssuer:
    """What an issuer's OpenID configuration says, and its key set. `problem`: why there is nothing."""

    address: str
    issuer: str = ""
    keys_url: str = ""
    algorithms: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
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

    def rehearse(self, endpoint: Endpoint, configuration: Configuration, attempt: Attempt) -> Rehearsal:
        """Make a call of `endpoint`, whatever `attempt.dry` says, and take back what it has written.

        Where the platform cannot take writes back, none is sent.
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
        """What `name`, one of `properties` of `caller_type`, is for the caller who stands for the record
        `user` of that type (empty: for none) and calls with `roles`, and with `claims` in the token.
        """
        ...

    def openapi(
        self,
        roles: Collection[str] | None,
        caller_type: str = USER_TYPE,
        configuration: Configuration | None = None,
    ) -> bytes:
        """The OpenAPI document, as JSON, that callers of that type with these roles are given; None: those
        without a token. Of a `configuration` that is not live, as if it were.

        Raises NotReady while it is being made.
        """
        ...

    def schema(
        self,
        roles: Collection[str] | None,
        caller_type: str = USER_TYPE,
        configuration: Configuration | None = None,
    ) -> bytes:
        """As `openapi`, what `/api/schema` answers to them."""
        ...

    def explain_token(self, token: str, configuration: Configuration) -> Explanation:
        """What becomes of a token, step by step. Nothing is registered, kept or logged."""
        ...

    def caller_names(self, kind: CallerSource, most: int) -> Sequence[str]:
        """The first `most` names of API accounts or API keys."""
        ...

    def caller_named(self, kind: CallerSource, name: str, configuration: Configuration) -> KnownCaller | None:
        """The caller that an API account or an API key of that name stands for; None where there is none."""
        ...

    def callers_of_record(
        self, caller_type: str, record: Guid, configuration: Configuration
    ) -> Sequence[KnownCaller]:
        """Everybody who calls as a record of that type: by API accounts and keys that have it, and by tokens
        of each enabled issuer of the type. Raises PlatformError while the record cannot be read.
        """
        ...

    def discover(self, issuer: str, address: str) -> DiscoveredIssuer:
        """Read the OpenID configuration at `address`; empty: where that of `issuer` is."""
        ...

    def reachable_keys(self, issuer: IssuerDefinition) -> str:
        """Why the keys of `issuer` cannot be read just now; empty where they can."""
        ...

    def environment_issuers(self) -> Sequence[IssuerDefinition]:
        """Those that the setting ISSUERS describes."""
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
