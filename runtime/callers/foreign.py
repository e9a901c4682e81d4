"""Issuers outside the service, as the setting `ISSUERS` describes them.

{"https://login.example.com/v2.0": {"audience": "api://portico",
                                    "jwks_url": "https://login.example.com/keys",
                                    "roles_claim": "roles",
                                    "role_map": {"Sales": ["sales-rep"]},
                                    "platform_user_claim": "crm_user",
                                    "leeway": 60}}
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from rest_framework_simplejwt.settings import api_settings

from runtime.callers.caller import Claims
from runtime.callers.claims import REQUIRED, check
from runtime.callers.jwks import KeySet
from runtime.callers.outbound import check_url
from runtime.callers.refusals import invalid_token

# Signatures that a public key verifies: with them a token can never be signed by what everybody may read.
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_Texts = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
]

# A longer one would keep tokens alive that their issuer has ended.
_LONGEST_LEEWAY = 600


class ForeignIssuer(BaseModel):
    """One issuer: where its keys are (`jwks_url`, or one `public_key` in PEM form), and what its claims mean.

    `audience` is what a token must be for: one name or several, any of which is enough. `role_map` maps the
    values of `roles_claim` to the application's roles; without it the issuer's callers have none.
    `platform_user_claim` names the claim with the GUID of the system user. Both name a claim, or by dots one
    that is nested. `leeway` is by how many seconds the issuer's clock may differ from this one; the setting
    `TOKEN_LEEWAY` unless given.
    `allow_private_addresses` lets `jwks_url` point into the own network.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    audience: _Texts = Field(min_length=1)
    jwks_url: str | None = None
    public_key: str | None = None
    algorithms: tuple[Algorithm, ...] = Field(default=("RS256",), min_length=1)
    roles_claim: str = "roles"
    role_map: Mapping[str, _Texts] = Field(default_factory=dict)
    platform_user_claim: str | None = None
    allow_private_addresses: bool = False
    leeway: int = Field(default_factory=lambda: settings.PORTICO["TOKEN_LEEWAY"], ge=0, le=_LONGEST_LEEWAY)
    name: str = Field(min_length=1)

    @field_validator("public_key")
    @classmethod
    def _readable(cls, pem: str | None) -> str | None:
        if pem is not None:
            try:
                load_pem_public_key(pem.encode())
            except (ValueError, UnsupportedAlgorithm) as error:
                raise ValueError("write a public key in PEM form") from error
        return pem

    @field_validator("jwks_url")
    @classmethod
    def _reachable(cls, url: str | None) -> str | None:
        if url is not None:
            check_url(url, insecure=settings.DEVELOPMENT)
        return url

    @model_validator(mode="after")
    def _one_source_of_keys(self) -> ForeignIssuer:
        if (self.jwks_url is None) == (self.public_key is None):
            raise ValueError("give either jwks_url or public_key")
        return self

    def verify(self, token: str) -> Claims:
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key(token),
                algorithms=list(self.algorithms),
                audience=self.audience,
                issuer=self.name,
                leeway=self.leeway,
                options={"require": list(REQUIRED)},
            )
        except jwt.ExpiredSignatureError as error:
            raise invalid_token("The token has expired.", "expired") from error
        except (jwt.PyJWTError, TypeError, ValueError, OverflowError) as error:
            # The last three: claims of a type that the library does not expect.
            raise invalid_token("The token is not valid here.", _reason(error)) from error
        check(claims, audiences=self.audience)
        return claims

    @cached_property
    def _keys(self) -> KeySet | None:
        if self.jwks_url is None:
            return None
        return KeySet(self.jwks_url, allow_private_addresses=self.allow_private_addresses)

    def _key(self, token: str) -> jwt.PyJWK | str:
        if self._keys is None:
            return self.public_key or ""
        kid = jwt.get_unverified_header(token).get("kid")
        if kid is None:
            raise invalid_token("The token does not say which key signed it (`kid`).", "no_kid")
        key = self._keys.key(kid)
        if key is None:
            raise invalid_token("The token's key (`kid`) is not one of its issuer's.", "unknown_kid")
        return key


def _reason(error: Exception) -> str:
    """Why the library refused a token, in a word for the log: its own texts may quote claims."""
    return next((word for kind, word in _REASONS.items() if isinstance(error, kind)), "malformed")


_REASONS: Mapping[type[Exception], str] = {
    jwt.InvalidSignatureError: "signature",
    jwt.InvalidAlgorithmError: "algorithm",
    jwt.InvalidAudienceError: "audience",
    jwt.ImmatureSignatureError: "not_yet_valid",
    jwt.InvalidIssuedAtError: "issued_at",
    jwt.InvalidIssuerError: "issuer",
    jwt.MissingRequiredClaimError: "missing_claim",
}


def read_issuers(described: Any) -> Mapping[str, ForeignIssuer]:
    """`ISSUERS` as issuers by name. Raises ImproperlyConfigured saying which entry is wrong, and how."""
    if not isinstance(described, dict):
        raise ImproperlyConfigured("ISSUERS: write a JSON object with one entry for each issuer.")
    if api_settings.ISSUER in described:
        raise ImproperlyConfigured(f"ISSUERS: {api_settings.ISSUER!r} is the service's own name.")
    return {name: _read(name, entry) for name, entry in described.items()}


def _read(name: str, entry: Any) -> ForeignIssuer:
    if not isinstance(entry, dict):
        raise ImproperlyConfigured(f"ISSUERS, {name}: write an object with audience and jwks_url.")
    try:
        return ForeignIssuer.model_validate({**entry, "name": name})
    except ValidationError as error:
        wrong = "; ".join(
            ".".join(str(part) for part in problem["loc"] or ("entry",)) + ": " + problem["msg"]
            for problem in error.errors(include_input=False)
        )
        raise ImproperlyConfigured(f"ISSUERS, {name}: {wrong}.") from error
