"""A token under examination, and the checks of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from crmclient.sentences import Sentence
from runtime.callers.caller import Claims
from runtime.callers.issuers.issuer import Issuer, Issuers
from runtime.callers.issuers.jwks import Key
from runtime.callers.own_tokens import LocalIssuer
from runtime.callers.refusals import RefusedCaller


@dataclass(slots=True)
class Examined:
    """A token under examination, with what the checks have found out so far."""

    token: str
    issuers: Issuers
    header: dict[str, Any] = field(default_factory=dict)
    claims: Claims = field(default_factory=dict)
    issuer: Issuer | None = None
    keys: list[Key] = field(default_factory=list)
    now: float = field(default_factory=time.time)

    @property
    def is_own(self) -> bool:
        """Whether the token's `iss` names this service. Nothing is verified here."""
        return self.claims.get("iss") == LocalIssuer.name

    @property
    def leeway(self) -> int:
        """The seconds that clocks may differ by. Tokens of this service have their own leeway."""
        return LocalIssuer.leeway if self.is_own else self.known_issuer.definition.leeway

    @property
    def known_issuer(self) -> Issuer:
        """The issuer of the token. Raises LookupError before the issuer has been found."""
        if self.issuer is None:
            raise LookupError("the issuer is not known")
        return self.issuer


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of a check: what was expected, and what was found.

    `refusal` is set if the check has failed. `setting` is the field of the issuer that decides.
    """

    expected: str
    found: str
    setting: str = ""
    refusal: RefusedCaller | None = None


Run: TypeAlias = Callable[[Examined], CheckOutcome]


@dataclass(frozen=True, slots=True)
class Check:
    """A check of a token. With `is_needed`, later checks mean nothing if it fails."""

    title: Sentence
    run: Run
    is_needed: bool = False
