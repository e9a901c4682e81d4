"""An issuer, compiled once for a state of the configuration."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

from designer.definitions import IssuerDefinition
from designer.expressions import Expression, ExpressionError
from designer.token_issuers.public_keys import pem_keys
from runtime.callers.issuers.jwks import Key, KeySet, key_set
from runtime.callers.refusals import invalid_token

# Claims that are about the token and not about the person.
_VOLATILE = frozenset(
    {"exp", "iat", "nbf", "jti", "auth_time", "sid", "uti", "rh", "aio", "at_hash", "nonce"}
)


@dataclass(frozen=True)
class Issuer:
    """The issuer whose `iss` is `name`, with its configuration. A template in the configuration gives one of
    these for each tenant.

    `of_environment`: the setting ISSUERS has it. `allow_private`: its addresses may lead into the own
    network.
    """

    name: str
    definition: IssuerDefinition
    of_environment: bool = False
    allow_private: bool = False

    def candidates(self, kid: object) -> list[Key]:
        """Return the keys that may have signed a token whose header has `kid`.

        Raises RefusedCaller: 401 when there is no such key, 503 while the keys are unknown.
        """
        keys = self._key_set
        if keys is None:
            return list(self._pem_keys)
        if not isinstance(kid, str):
            raise invalid_token("The token does not say which key signed it (`kid`).", "no_kid")
        key = keys.key(kid)
        if key is None:
            raise invalid_token("The token's key (`kid`) is not one of its issuer's.", "unknown_kid")
        return [key]

    @property
    def key_source(self) -> str:
        """Return where the issuer's keys come from, for people: an address, or "PEM"."""
        return self._key_set.address if self._key_set else "PEM"

    @property
    def known_kids(self) -> list[str]:
        """The names of the published keys that are known now; empty for keys in PEM form."""
        return self._key_set.kids if self._key_set else []

    @cached_property
    def state(self) -> str:
        """A digest of the issuer's configuration. It changes with every edit, which ends what was cached of
        its callers.
        """
        return hashlib.sha256(repr(self.definition).encode()).hexdigest()

    @cached_property
    def roles_expression(self) -> Expression | None:
        """The compiled expression for roles; None when there is no expression, and when it does not compile.

        A readiness finding reports an expression that does not compile.
        """
        text = self.definition.roles_expression
        try:
            return Expression(text, names=("claims", "record")) if text.strip() else None
        except ExpressionError:
            return None

    @cached_property
    def record_columns(self) -> frozenset[str]:
        """The attributes of the caller's record that roles depend on."""
        expression = self.roles_expression
        return (expression.members("record") or frozenset()) if expression else frozenset()

    @cached_property
    def paths(self) -> frozenset[str] | None:
        """The claims that roles, record or expressions may read; None: all that differ between people."""
        definition = self.definition
        record, registration = definition.record, definition.record.registration
        claims = {rule.claim for rule in definition.role_rules} | set(definition.readable_claims)
        claims |= {record.claim, record.verified, registration.link_claim, registration.link_verified}
        claims |= {claim_input.claim for claim_input in registration.inputs}
        # By these a token says that groups were left out: see `has_left_out_groups`.
        claims |= {"_claim_names", "hasgroups"}
        if self.roles_expression is not None:
            claims_read = self.roles_expression.members("claims")
            if claims_read is None:
                return None
            claims |= claims_read
        return frozenset(claims - {""})

    @cached_property
    def _key_set(self) -> KeySet | None:
        """The published keys of the issuer; None when its configuration has the keys in PEM form."""
        keys = self.definition.keys
        if keys.source == "pem":
            return None
        is_discovered = keys.source == "discovery"
        address = keys.url or discovery_address(self.name)
        return key_set(address, self.name if is_discovered else "", self.allow_private)

    @cached_property
    def _pem_keys(self) -> list[PublicKeyTypes]:
        """The public keys in the issuer's configuration."""
        return pem_keys(self.definition.keys.pem)


def discovery_address(name: str) -> str:
    """Return the address of an issuer's OpenID configuration (OpenID Connect Discovery 1.0, section 4)."""
    return name.rstrip("/") + "/.well-known/openid-configuration"


def is_volatile(claim: str) -> bool:
    """Whether a claim differs from token to token of the same person."""
    return claim in _VOLATILE


class Issuers:
    """The issuers at one state of the configuration, by `iss`. Those of the environment come first."""

    def __init__(self, definitions: Iterable[IssuerDefinition], environment: Mapping[str, Issuer]) -> None:
        issuers: dict[str, Issuer] = {}
        for definition in definitions:
            if definition.enabled:
                # Of two definitions with the same name, the first one counts.
                for name in definition.names:
                    issuers.setdefault(name, Issuer(name, definition))
        self.by_name: Mapping[str, Issuer] = {**issuers, **environment}

    def get(self, name: object) -> Issuer | None:
        """Return the issuer with this `iss`; None for an unknown issuer, and for a `name` that is no text."""
        return self.by_name.get(name) if isinstance(name, str) else None
