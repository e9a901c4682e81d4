"""Issuers of the environment, as the setting `ISSUERS` describes them.

{"https://login.example.com/v2.0": {"audience": "api://portico",
                                    "jwks_url": "https://login.example.com/keys",
                                    "roles_claim": "roles",
                                    "role_map": {"Sales": ["sales-rep"]},
                                    "platform_user_claim": "crm_user",
                                    "leeway": 60}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

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

from crmclient.outbound import check_url
from designer.definitions import (
    LONGEST_LEEWAY,
    Algorithm,
    GrantDefinition,
    IssuerDefinition,
    KeysDefinition,
    RecordDefinition,
    RoleRuleDefinition,
)
from designer.token_issuers.public_keys import pem_keys
from runtime.callers.issuers.issuer import Issuer

_Texts = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
]


class EnvironmentIssuer(BaseModel):
    """One issuer: where its keys are (`jwks_url`, or one `public_key` in PEM form), and what its claims mean.

    `audience` is what a token must be for: one name or several, any of which is enough. `role_map` maps the
    values of `roles_claim` to the application's roles; without it the issuer's callers have none.
    `platform_user_claim` names the claim with the GUID of the platform's user. Both name a claim, or by dots
    one that is nested. `leeway` is by how many seconds the issuer's clock may differ from this one; the
    setting `TOKEN_LEEWAY` unless given.
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
    leeway: int = Field(default_factory=lambda: settings.PORTICO["TOKEN_LEEWAY"], ge=0, le=LONGEST_LEEWAY)
    name: str = Field(min_length=1)

    @field_validator("public_key")
    @classmethod
    def _require_readable_key(cls, pem: str | None) -> str | None:
        if pem is not None:
            try:
                pem_keys(pem)
            except ValueError as error:
                raise ValueError("write a public key in PEM form") from error
        return pem

    @field_validator("jwks_url")
    @classmethod
    def _require_safe_address(cls, url: str | None) -> str | None:
        if url is not None:
            check_url(url, insecure=settings.DEVELOPMENT)
        return url

    @model_validator(mode="after")
    def _require_one_source_of_keys(self) -> EnvironmentIssuer:
        if (self.jwks_url is None) == (self.public_key is None):
            raise ValueError("give either jwks_url or public_key")
        return self

    @property
    def issuer(self) -> Issuer:
        return Issuer(
            self.name, self.definition, of_environment=True, allow_private=self.allow_private_addresses
        )

    @property
    def definition(self) -> IssuerDefinition:
        """Return this issuer as a definition of the configuration."""
        grants = tuple(
            GrantDefinition(value=value, role=role)
            for value, roles in self.role_map.items()
            for role in roles
        )
        source = "pem" if self.jwks_url is None else "jwks"
        return IssuerDefinition(
            name=self.name,
            issuer=self.name,
            keys=KeysDefinition(source=source, url=self.jwks_url or "", pem=self.public_key or ""),
            audiences=self.audience,
            algorithms=self.algorithms,
            leeway=self.leeway,
            role_rules=(RoleRuleDefinition(claim=self.roles_claim, grants=grants),),
            record=RecordDefinition(claim=self.platform_user_claim or "", missing="continue"),
        )


def read_issuers(described: Any) -> Mapping[str, Issuer]:
    """Return the issuers of the setting `ISSUERS` by name. Raises ImproperlyConfigured, which says which
    entry is wrong, and how.
    """
    if not isinstance(described, dict):
        raise ImproperlyConfigured("ISSUERS: write a JSON object with one entry for each issuer.")
    if api_settings.ISSUER in described:
        raise ImproperlyConfigured(f"ISSUERS: {api_settings.ISSUER!r} is the service's own name.")
    return {name: _issuer_of_entry(name, entry) for name, entry in described.items()}


def _issuer_of_entry(name: str, entry: Any) -> Issuer:
    """Return one issuer of the setting. Raises ImproperlyConfigured, which says what is wrong with the
    entry.
    """
    if not isinstance(entry, dict):
        raise ImproperlyConfigured(f"ISSUERS, {name}: write an object with audience and jwks_url.")
    try:
        return EnvironmentIssuer.model_validate({**entry, "name": name}).issuer
    except ValidationError as error:
        wrong = "; ".join(
            ".".join(str(part) for part in problem["loc"] or ("entry",)) + ": " + problem["msg"]
            for problem in error.errors(include_input=False)
        )
        raise ImproperlyConfigured(f"ISSUERS, {name}: {wrong}.") from error
